// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Tool daemons that the server of a PMIx job starts. The library of fixtures/pmix accepts a request only if it is one
// for daemons on each node of the job, with the shell that runs the daemon.
#include "start/pmix_daemons.hpp"

#include "mpiacq/job/job.hpp"
#include "patience.hpp"
#include "pmix_fixture.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

job_options with_daemon(const std::string& path, bool forward_output = false) {
  job_options options;
  options.daemons.emplace();
  options.daemons->path = path;
  options.daemons->arguments = {"word"};
  options.daemons->forward_output = forward_output;
  return options;
}

/// What an attached job has said until it was attached.
struct attached_job {
  std::unique_ptr<job> subject;
  std::size_t launches = 0;  ///< of daemons
  std::vector<error> notices;
};

attached_job seen_until_attached(process_id named, job_options options) {
  attached_job seen;
  auto subject = job::attach(named, std::move(options));
  INFO((subject ? "" : subject.error().message));
  REQUIRE(subject);
  seen.subject = std::move(*subject);
  for (const deadline until = clock::now() + patience;;) {
    auto event = seen.subject->next(until);
    REQUIRE(event);
    REQUIRE(*event);
    if (std::holds_alternative<daemons_launched>(**event)) ++seen.launches;
    if (auto* notice = std::get_if<job_notice>(&**event)) seen.notices.push_back(std::move(notice->what));
    if (std::holds_alternative<job_attached>(**event)) return seen;
  }
}

/// The next report of spawned processes; false: a notice or anything else comes first.
bool spawns_next(job& subject) {
  const auto event = subject.next(clock::now() + patience);
  REQUIRE(event);
  return *event && std::holds_alternative<job_spawned>(**event);
}

}  // namespace

TEST_CASE("attach by PMIx: the server starts the tool's daemon in a shell on each node, once") {
  const bool forwards = GENERATE(false, true);
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  const running_server server(folder, folder.copy_of("usual"), forwards ? "forwards" : "honest", 2);
  const auto seen = seen_until_attached(server.pid(), with_daemon("/daemon", forwards));
  CHECK(seen.subject->interface() == interface_kind::pmix);
  CHECK(seen.notices.empty());
  CHECK(seen.launches == 1);
  CHECK(seen.subject->facts().daemons == mpir::daemon_launch::done);
  CHECK(seen.subject->detach());
}

TEST_CASE("attach by PMIx: the end of the tool's daemons is not told as the end of ranks") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  const running_server server(folder, folder.copy_of("usual"), "daemons_end", 2);
  const auto seen = seen_until_attached(server.pid(), with_daemon("/daemon"));
  CHECK(seen.launches == 1);
  CHECK(seen.notices.empty());
  // The daemons end before the next question, which shows what the job has spawned.
  CHECK(spawns_next(*seen.subject));
  CHECK(seen.subject->detach());
}

TEST_CASE("attach by PMIx: a server that refuses daemons is one notice, and the job stays followed") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  // The library knows no daemon of this name.
  const running_server server(folder, folder.copy_of("usual"), "grows", 2);
  const auto seen = seen_until_attached(server.pid(), with_daemon("/another"));
  CHECK(seen.launches == 0);
  REQUIRE(seen.notices.size() == 1);
  CHECK_THAT(seen.notices[0].message, ContainsSubstring("cannot start daemons"));
  CHECK_THAT(seen.notices[0].message, ContainsSubstring("PMIX_ERR_UNREACH"));
  CHECK(seen.subject->facts().daemons == mpir::daemon_launch::refused);
  CHECK(seen.subject->processes()->size() == 2);
  CHECK(spawns_next(*seen.subject));
  CHECK(seen.subject->processes()->size() == 3);
  CHECK(seen.subject->detach());
}

TEST_CASE(
    "attach by PMIx: a server without room for daemons leads to one notice, and attach reports the end of the job") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  const running_server server(folder, folder.copy_of("usual"), "full", 2);
  const auto seen = seen_until_attached(server.pid(), with_daemon("/daemon"));
  CHECK(seen.launches == 0);
  CHECK(seen.notices.size() == 1);
  CHECK(seen.subject->facts().daemons == mpir::daemon_launch::refused);
  CHECK(seen.subject->end());
  const auto event = seen.subject->next(clock::now() + patience);
  REQUIRE(event);
  REQUIRE(*event);
  CHECK(std::holds_alternative<starter_ended>(**event));
}

// They are agents. The group of the ranks starts those by PMIx itself, in sessions of their own.
TEST_CASE("attach by PMIx: daemons that other ways can replace are not started, without a notice") {
  const std::string habit = GENERATE("honest", "two_hosts");
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  const running_server server(folder, folder.copy_of("usual"), habit, 2);
  auto options = with_daemon("/daemon");
  options.daemons->only_if_possible = true;
  const auto seen = seen_until_attached(server.pid(), options);
  CHECK(seen.launches == 0);
  CHECK(seen.notices.empty());
  CHECK(seen.subject->facts().daemons == mpir::daemon_launch::refused);
  CHECK(seen.subject->detach());
}

// Each daemon is a shell that starts an agent and ends, so that no agent comes if all have ended some time ago.
TEST_CASE("agents by PMIx: the end of the daemons that start agents is known") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  const running_server server(folder, folder.copy_of("usual"), "daemons_end", 2);
  const deadline before = clock::now();
  auto daemons = agents::pmix_daemons::start(server.pid(), "/no/agent", {}, -1);
  INFO((daemons ? "" : daemons.error().message));
  REQUIRE(daemons);
  REQUIRE(comes_true([&] { return daemons->ended_since().has_value(); }));
  CHECK(*daemons->ended_since() >= before);
}

TEST_CASE("agents by PMIx: a refusal of the server is known at once") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  const running_server server(folder, folder.copy_of("usual"), "full", 2);
  const auto daemons = agents::pmix_daemons::start(server.pid(), "/no/agent", {}, -1);
  REQUIRE_FALSE(daemons);
  CHECK_THAT(daemons.error().message, ContainsSubstring("cannot start daemons"));
}
