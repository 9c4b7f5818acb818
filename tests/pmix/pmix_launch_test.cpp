// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// job::launch of starters that are PMIx servers, with the libraries of fixtures/pmix.
#include <algorithm>
#include <csignal>

#include <poll.h>

#include "mpiacq/job/job.hpp"
#include "patience.hpp"
#include "pmix_fixture.hpp"
#include "proc/known_processes.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// The command line of a server with two ranks, whose variables say how many they are. It runs until a signal ends it:
/// its input has no end.
std::vector<std::string> server_line(const trusted_folder& folder, const std::string& library, const std::string& habit,
                                     const std::string& version = "5.0.7a1") {
  const std::string input = folder.path() + "/input";
  return {"sh",
          "-c",
          "mkfifo " + input + "; TMPDIR=" + folder.path() + " exec \"$@\" <>" + input + " >/dev/null",
          "sh",
          std::string(MPIACQ_PMIX) + "/prterun",
          library,
          habit,
          "2",
          version,
          "counted"};
}

/// How many children of this program have that name.
std::size_t children_called(const std::string& name) {
  known_processes all;
  std::size_t count = 0;
  for (const process_id pid : all.all()) {
    const auto process = all.find(pid);
    if (process && process->parent() == process_id{::getpid()} && process->stat().name == name) ++count;
  }
  return count;
}

struct first_report {
  std::unique_ptr<job> subject;
  std::vector<error> notices;  ///< those that came before it
  std::optional<job_lost> lost;
  bool has_table = false;
};

/// A launched job when its processes are reported, or when it is lost.
first_report launched(const std::vector<std::string>& command, job_options options = {}) {
  first_report seen;
  auto subject = job::launch(command, std::move(options));
  INFO((subject ? "" : subject.error().message));
  REQUIRE(subject);
  seen.subject = std::move(*subject);
  for (const deadline until = clock::now() + patience; !seen.has_table && !seen.lost;) {
    auto event = seen.subject->next(until);
    REQUIRE(event);
    REQUIRE(*event);
    if (auto* notice = std::get_if<job_notice>(&**event)) seen.notices.push_back(std::move(notice->what));
    if (auto* loss = std::get_if<job_lost>(&**event)) seen.lost = std::move(*loss);
    seen.has_table = std::holds_alternative<job_spawned>(**event);
  }
  return seen;
}

starter_ended end_of(job& subject) {
  for (const deadline until = clock::now() + patience;;) {
    auto event = subject.next(until);
    REQUIRE(event);
    REQUIRE(*event);
    if (const auto* end = std::get_if<starter_ended>(&**event)) return *end;
  }
}

}  // namespace

TEST_CASE("launch by PMIx holds the ranks before main, reports the server's table and keeps the exit status") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  job_options options;
  if (GENERATE(false, true)) options.interface = interface_kind::pmix;
  const auto seen = launched(server_line(folder, folder.copy_of("usual"), "honest"), options);
  REQUIRE(seen.has_table);
  CHECK(seen.notices.empty());
  job& subject = *seen.subject;
  CHECK(subject.interface() == interface_kind::pmix);
  CHECK(subject.description().source == interface_kind::pmix);
  CHECK(subject.starter().launched);
  CHECK(subject.starter().found_how.empty());
  REQUIRE(subject.processes());
  REQUIRE(subject.processes()->size() == 2);
  for (const rank_state state : subject.rank_states()) CHECK(state == rank_state::held);
  for (const rank_facts& facts : subject.facts_of_ranks()) CHECK(facts.acquired_pre_main);
  CHECK(comes_to(subject.starter().pid, "S 0"));
  CHECK(subject.resume());
  for (const entry_index rank : subject.processes()->entries()) {
    CHECK(comes_to(subject.processes()->pid(rank), "S 0"));
  }
  CHECK(subject.end());
  const starter_ended end = end_of(subject);
  CHECK(end.status_is_known);
  CHECK(end.status.as_shell() == 128 + SIGTERM);
}

TEST_CASE("launch by PMIx: the descriptor of the launch serves for the whole job, and for spawned worlds") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  auto subject = job::launch(server_line(folder, folder.copy_of("usual"), "grows"));
  REQUIRE(subject);
  const int descriptor = (*subject)->event_descriptor();
  std::size_t reports = 0;
  for (const deadline until = clock::now() + patience; reports < 2 && clock::now() < until;) {
    const auto event = (*subject)->next(clock::now());
    REQUIRE(event);
    if (*event) {
      if (!std::holds_alternative<job_spawned>(**event)) continue;
      CHECK((*subject)->processes()->size() == 2 + reports);
      ++reports;
      CHECK((*subject)->resume());
      continue;
    }
    const auto left = std::min((*subject)->wake_at(), until) - clock::now();
    pollfd ready{descriptor, POLLIN, 0};
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    (void)::poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(0, milliseconds)));
  }
  CHECK(reports == 2);
  CHECK((*subject)->event_descriptor() == descriptor);
  CHECK((*subject)->end());
  CHECK(end_of(**subject).status_is_known);
}

TEST_CASE("launch: where a PMIx server gives no table, the environment does, and a problem says why") {
  struct sample {
    std::string library, habit, sentence;
  };
  const auto one =
      GENERATE(sample{"newer", "honest", "has version 7.0.0"}, sample{"usual", "refuses", "PMIX_ERR_UNREACH"},
               sample{"usual", "crashes", "SIGABRT"}, sample{"usual", "silent", "did not answer in time"},
               sample{"usual", "dies_in_table", "has crashed"}, sample{"usual", "none", "runs no job"});
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  INFO(one.library + " " + one.habit);
  const auto seen = launched(server_line(folder, folder.copy_of(one.library), one.habit));
  REQUIRE(seen.has_table);
  CHECK(seen.subject->interface() == interface_kind::environment);
  CHECK(seen.subject->processes()->size() == 2);
  for (const rank_state state : seen.subject->rank_states()) CHECK(state == rank_state::held);
  REQUIRE(seen.notices.size() == 1);
  INFO(seen.notices[0].message);
  CHECK(seen.notices[0].message.find(one.sentence) != std::string::npos);
  CHECK(seen.subject->end());
  CHECK(end_of(*seen.subject).status_is_known);
}

TEST_CASE("launch by PMIx asks a server of a release that can harm its job only if PMIx is chosen") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  job_options options;
  const bool is_chosen = GENERATE(false, true);
  if (is_chosen) options.interface = interface_kind::pmix;
  const auto seen = launched(server_line(folder, folder.copy_of("candidate"), "honest", "7.0.0rc1"), options);
  REQUIRE(seen.has_table);
  CHECK(seen.subject->interface() == (is_chosen ? interface_kind::pmix : interface_kind::environment));
  CHECK(seen.notices.size() == (is_chosen ? 0 : 1));
  for (const error& why : seen.notices) {
    CHECK(why.message.find("has version 7.0.0rc1: its job can hang at its end") != std::string::npos);
  }
  CHECK(seen.subject->end());
  CHECK(end_of(*seen.subject).status_is_known);
}

TEST_CASE("launch by PMIx alone lets the job run where the server gives no table, and says why") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  job_options options;
  options.interface = interface_kind::pmix;
  const auto seen = launched(server_line(folder, folder.copy_of("newer"), "honest"), options);
  REQUIRE(seen.lost);
  CHECK(seen.lost->why.message.find("has version 7.0.0") != std::string::npos);
  CHECK_FALSE(seen.subject->processes());
  CHECK(seen.subject->end());
  CHECK(end_of(*seen.subject).status.as_shell() == 128 + SIGTERM);

  const auto other = launched({"sh", "-c",
                               "MASTER_ADDR=n1 MASTER_PORT=$$ WORLD_SIZE=1 LOCAL_WORLD_SIZE=1 RANK=0 sh -c "
                               "'sleep 0.1; exit 3'; exit $?"},
                              options);
  REQUIRE(other.lost);
  CHECK(other.lost->why.message.find("is no PMIx server") != std::string::npos);
  CHECK(end_of(*other.subject).status.as_shell() == 3);
}

TEST_CASE("launch by PMIx: ranks are left stopped for another tool, and the server runs") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  const auto seen = launched(server_line(folder, folder.copy_of("usual"), "honest"));
  REQUIRE(seen.has_table);
  job& subject = *seen.subject;
  for (const rank_hold& one : subject.hold_ranks()) CHECK(one.state == hold_state::held);
  CHECK(subject.detach(leave::stopped));
  for (const entry_index rank : subject.processes()->entries()) {
    const process_id pid = subject.processes()->pid(rank);
    CHECK(comes_to(pid, "T 0"));
    ::kill(static_cast<pid_t>(pid.value()), SIGCONT);
  }
  CHECK(comes_to(subject.starter().pid, "S 0"));
  CHECK(subject.end());
  CHECK(end_of(subject).status.as_shell() == 128 + SIGTERM);
}

TEST_CASE("launch by PMIx: the helper goes when the job has ended, so that the server can end") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  job_options options;
  options.interface = interface_kind::pmix;
  const auto seen = launched(server_line(folder, folder.copy_of("candidate"), "ends", "7.0.0rc1"), options);
  REQUIRE(seen.has_table);
  CHECK(seen.subject->interface() == interface_kind::pmix);
  CHECK(seen.subject->resume());
  CHECK(comes_true([&] {
    (void)seen.subject->next(clock::now());
    return children_called("pmix-host") == 0;
  }));
  CHECK(seen.subject->end());
  CHECK(end_of(*seen.subject).status_is_known);
}

TEST_CASE("launch by PMIx does not ask a server to report the end of a job that is on this node alone") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  // This server reports the end of its job, together with its first answer, to each tool that asks for that event.
  const auto seen = launched(server_line(folder, folder.copy_of("usual"), "ends"));
  REQUIRE(seen.has_table);
  CHECK(seen.notices.empty());
  CHECK(seen.subject->resume());
  for (int look = 0; look < 100; ++look) {
    const auto event = seen.subject->next(clock::now() + std::chrono::milliseconds(10));
    REQUIRE(event);
    CAPTURE(*event ? (*event)->index() : 99);
    CHECK_FALSE(*event);
  }
  CHECK(seen.subject->end());
  CHECK(end_of(*seen.subject).status_is_known);
}
