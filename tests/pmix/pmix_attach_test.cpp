// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// job::attach on starters that are PMIx servers: nothing is stopped but the ranks that are to be held.
#include <algorithm>
#include <csignal>

#include "mpiacq/job/job.hpp"
#include "patience.hpp"
#include "pmix_fixture.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

template <class Event>
std::optional<Event> next_of(job& subject, deadline until = clock::now() + patience) {
  while (auto event = subject.next(until)) {
    if (!*event) return std::nullopt;
    if (auto* wanted = std::get_if<Event>(&**event)) return std::move(*wanted);
  }
  return std::nullopt;
}

std::unique_ptr<job> attached(process_id named, job_options options = {}) {
  auto subject = job::attach(named, std::move(options));
  INFO((subject ? "" : subject.error().message));
  REQUIRE(subject);
  return std::move(*subject);
}

// A server of the habit "answers_once" crashes with its second question. A server of the habit "ends" reports the end,
// answers the question that comes with the wish for events, and crashes with the next one.

/// No question for three seconds: questions come every second.
bool is_quiet(job& subject) {
  return !next_of<job_notice>(subject, clock::now() + std::chrono::seconds(3));
}

bool is_asked(job& subject) {
  const auto crashed = next_of<job_notice>(subject);
  return crashed && crashed->what.message.find("PMIx tells no more of this job") != std::string::npos;
}

}  // namespace

TEST_CASE("attach by PMIx gives the table, and the starter is never traced or stopped") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  const running_server server(folder, folder.copy_of("usual"), "honest", 2);
  const auto subject = attached(server.pid());
  CHECK(subject->interface() == interface_kind::pmix);
  CHECK(subject->starter().pid == server.pid());
  CHECK_FALSE(subject->starter().launched);
  CHECK(comes_to(server.pid(), "S 0"));
  REQUIRE(next_of<job_attached>(*subject));
  REQUIRE(subject->processes());
  CHECK(subject->processes()->size() == 2);
  CHECK(subject->description().source == interface_kind::pmix);
  CHECK(subject->gates_elsewhere().empty());
  for (const rank_state state : subject->rank_states()) CHECK(state == rank_state::running);

  const auto holds = subject->hold_ranks();
  REQUIRE(holds.size() == 2);
  for (const rank_hold& one : holds) CHECK(one.state == hold_state::held);
  CHECK(state_of_process(holds[0].pid).front() == 't');
  CHECK(comes_to(server.pid(), "S 0"));
  CHECK(subject->resume());
  CHECK(comes_to(holds[0].pid, "S 0"));
  CHECK(subject->detach());
  CHECK(comes_to(server.pid(), "S 0"));
  const auto after = subject->next(clock::now());
  REQUIRE(after);
  CHECK_FALSE(*after);
}

TEST_CASE("ranks of a PMIx job are left stopped for another tool") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  const running_server server(folder, folder.copy_of("usual"), "honest", 2);
  const auto subject = attached(server.pid());
  REQUIRE(next_of<job_attached>(*subject));
  const auto holds = subject->hold_ranks();
  CHECK(subject->detach(leave::stopped));
  for (const rank_hold& one : holds) CHECK(comes_to(one.pid, "T 0"));
  CHECK(comes_to(server.pid(), "S 0"));
  for (const rank_hold& one : holds) ::kill(static_cast<pid_t>(one.pid.value()), SIGCONT);
}

TEST_CASE("a PMIx job that spawns, loses a rank and ends is followed") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  {
    const running_server server(folder, folder.copy_of("usual"), "grows", 2);
    const auto subject = attached(server.pid());
    REQUIRE(next_of<job_attached>(*subject));
    CHECK(subject->processes()->size() == 2);
    REQUIRE(next_of<job_spawned>(*subject));
    CHECK(subject->processes()->size() == 3);
    CHECK(subject->processes()->worlds().size() == 2);
  }
  {
    const running_server server(folder, folder.copy_of("usual"), "loses", 2);
    const auto subject = attached(server.pid());
    const auto notice = next_of<job_notice>(*subject);
    REQUIRE(notice);
    CHECK(notice->what.message.find("rank 1 of job@1") != std::string::npos);
    // The server has forgotten the pid of that rank. The table has not changed.
    CHECK(subject->processes()->pid(entry_index{1}).value() > 0);
    CHECK_FALSE(next_of<job_spawned>(*subject, clock::now() + std::chrono::milliseconds(1500)));
  }
  const running_server server(folder, folder.copy_of("usual"), "ends", 2);
  const auto subject = attached(server.pid());
  const auto notice = next_of<job_notice>(*subject);
  REQUIRE(notice);
  CHECK(notice->what.message.find("the ranks of job@1 have ended; rank 1 caused it") != std::string::npos);
  ::kill(static_cast<pid_t>(server.pid().value()), SIGTERM);
  const auto end = next_of<starter_ended>(*subject);
  REQUIRE(end);
  CHECK_FALSE(end->status_is_known);
}

// A server that ends while it takes a question can hang.
TEST_CASE("a PMIx server is asked nothing for a while after the end of a rank or of the job") {
  const bool is_told = GENERATE(false, true);
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  const running_server server(folder, folder.copy_of("usual"), is_told ? "ends" : "answers_once", 2);
  const auto subject = attached(server.pid());
  REQUIRE(next_of<job_attached>(*subject));
  if (is_told) {
    const auto told = next_of<job_notice>(*subject);
    REQUIRE(told);
    CHECK(told->what.message.find("have ended") != std::string::npos);
  } else {
    ::kill(static_cast<pid_t>(subject->processes()->pid(entry_index{1}).value()), SIGKILL);
  }
  CHECK(is_quiet(*subject));
  CHECK(is_asked(*subject));
}

TEST_CASE("a PMIx server is asked nothing while a tracer holds a rank, which may be about to end") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  const running_server server(folder, folder.copy_of("usual"), "answers_once", 2);
  const auto subject = attached(server.pid());
  REQUIRE(next_of<job_attached>(*subject));
  for (const rank_hold& one : subject->hold_ranks()) CHECK(one.state == hold_state::held);
  CHECK(is_quiet(*subject));
  CHECK(subject->resume());
  CHECK(is_asked(*subject));
}

TEST_CASE("the end of a PMIx job is asked for and comes") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  const running_server server(folder, folder.copy_of("usual"), "honest", 2);
  const auto subject = attached(server.pid());
  REQUIRE(next_of<job_attached>(*subject));
  CHECK(subject->end());
  CHECK(next_of<starter_ended>(*subject));
}

TEST_CASE("attach by PMIx alone says why it is not possible") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  job_options options;
  options.interface = interface_kind::pmix;
  const auto nothing = job::attach(process_id{::getpid()}, options);
  REQUIRE_FALSE(nothing);
  CHECK(nothing.error().code == error_code::not_found);
  const running_server silent(folder, folder.copy_of("newer"), "honest", 2);
  const auto refused = job::attach(silent.pid(), options);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == error_code::unsupported);
}
