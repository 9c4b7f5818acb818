// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The library's attach mode: what each call gives, and what is left of it in the starter, in its ranks and in us.
#include <algorithm>
#include <cerrno>
#include <csignal>

#include <sys/resource.h>
#include <sys/wait.h>

#include "breakpoint_registers.hpp"
#include "catch.hpp"
#include "mpiacq/job/job.hpp"
#include "mpiacq/ranks/rank_group.hpp"
#include "open_descriptors.hpp"
#include "patience.hpp"
#include "running_starter.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

std::unique_ptr<job> attached_to(process_id pid, job_options options = {}) {
  options.debug_files.debuginfod = false;
  auto attached = job::attach(pid, std::move(options));
  if (!attached) FAIL(attached.error().message);
  return std::move(*attached);
}

/// The next event, of the kind that is expected; notices before it fail the test.
template <class Event>
Event expect(job& subject) {
  auto event = subject.next(clock::now() + patience);
  if (!event) FAIL(event.error().message);
  REQUIRE(event->has_value());
  if (const auto* notice = std::get_if<job_notice>(&**event)) FAIL(notice->what.message);
  REQUIRE(std::holds_alternative<Event>(**event));
  return std::get<Event>(**event);
}

std::string key(std::size_t rank, const char* what) {
  return "rank." + std::to_string(rank) + "." + what;
}

int being_debugged(const running_starter& starter, std::size_t rank) {
  return int_at(starter.ranks()[rank], starter.said(key(rank, "being_debugged")));
}

bool is_held(pid_t process) {
  return status_of(process, "State").find('t') == 0 && status_of(process, "TracerPid") != "0";
}

void check_end(running_starter& starter) {
  CHECK(WEXITSTATUS(starter.end()) == 3);
  for (std::size_t i = 0; i < starter.ranks().size(); ++i) CHECK(starter.said(key(i, "wait_status")) == "0x0");
}

}  // namespace

TEST_CASE("attach reports a running job at once, and holds its starter where it was") {
  running_starter starter({"checked", "--hold", "--exit", "3"});
  starter.ready();
  const auto subject = attached_to(starter.id());
  CHECK(is_held(starter.pid()));
  expect<job_attached>(*subject);
  CHECK(starter.value_of("MPIR_being_debugged") == -1);  // `checked` does not tell where its variables are
  CHECK(subject->starter().pid == starter.id());
  CHECK_FALSE(subject->starter().launched);
  CHECK(subject->starter().executable == starter.said("executable"));
  CHECK(subject->starter().found_how.empty());
  CHECK(subject->facts().partial_attach_ok);
  CHECK_FALSE(subject->missing_symbols().has_value());
  REQUIRE(subject->processes() != nullptr);
  REQUIRE(subject->processes()->size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(subject->processes()->pid(entry_index{i}).value() == starter.ranks()[i]);
    CHECK(subject->is_local(entry_index{i}));
  }
  CHECK(subject->rank_states() == std::vector<rank_state>(4, rank_state::running));
  REQUIRE(subject->resume().has_value());
  CHECK(comes_true([&] { return status_of(starter.pid(), "State").find('S') == 0; }));
  CHECK(status_of(starter.pid(), "TracerPid") != "0");
  const auto nothing = subject->next(clock::now() + std::chrono::milliseconds(50));
  REQUIRE(nothing.has_value());
  CHECK_FALSE(nothing->has_value());
  REQUIRE(subject->detach().has_value());
  CHECK(runs_freely(starter.pid()));
  const auto after = subject->next(clock::now() + std::chrono::milliseconds(50));
  REQUIRE(after.has_value());
  CHECK_FALSE(after->has_value());
  check_end(starter);
}

TEST_CASE("each selected rank is held with its own outcome, and its MPIR_being_debugged is set") {
  running_starter starter({"checked", "--rank", "checked_rank_debugged", "--ranks", "5", "--hold", "--exit", "3"});
  starter.ready();
  const auto ranks = starter.ranks();
  ::kill(ranks[2], SIGSTOP);
  REQUIRE(comes_true([&] { return is_left_stopped(ranks[2]); }));
  job_options options;
  options.ranks = *rank_selection::parse("0,2-3,77");
  const auto subject = attached_to(starter.id(), std::move(options));
  expect<job_attached>(*subject);
  CHECK(subject->rank_states()[2] == rank_state::stopped);

  const auto outcomes = subject->hold_ranks();
  REQUIRE(outcomes.size() == 3);
  const std::vector<std::uint32_t> chosen = {0, 2, 3};
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    CHECK(outcomes[i].entry == entry_index{chosen[i]});
    CHECK(outcomes[i].pid.value() == ranks[chosen[i]]);
    CHECK(outcomes[i].state == hold_state::held);
  }
  CHECK(subject->rank_states() == std::vector<rank_state>{rank_state::held, rank_state::running, rank_state::held,
                                                          rank_state::held, rank_state::running});
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    INFO(i);
    const bool is_chosen = std::find(chosen.begin(), chosen.end(), i) != chosen.end();
    CHECK((status_of(ranks[i], "TracerPid") != "0") == is_chosen);
    CHECK(being_debugged(starter, i) == (is_chosen ? 1 : 0));
  }
  // Again changes nothing.
  for (const rank_hold& outcome : subject->hold_ranks()) CHECK(outcome.state == hold_state::held);

  REQUIRE(subject->detach(leave::running).has_value());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    INFO(i);
    CHECK(being_debugged(starter, i) == 0);
    // Who was stopped before stays so.
    CHECK((i == 2 ? comes_to_be_left_stopped(ranks[i]) : runs_freely(ranks[i])));
  }
  ::kill(ranks[2], SIGCONT);
  check_end(starter);
}

TEST_CASE("job::ranks reads ranks that the job holds, and they stay held") {
  running_starter starter({"checked", "--rank", "checked_rank_debugged", "--ranks", "4", "--hold", "--exit", "3"});
  starter.ready();
  const auto ranks = starter.ranks();
  job_options options;
  options.ranks = *rank_selection::parse("0-1");
  const auto subject = attached_to(starter.id(), std::move(options));
  expect<job_attached>(*subject);
  for (const rank_hold& outcome : subject->hold_ranks()) REQUIRE(outcome.state == hold_state::held);
  auto inside = subject->ranks();
  REQUIRE(inside.has_value());
  // Ranks 0 and 1 are the job's, ranks 2 and 3 are held for this look.
  for (const rank_hold& hold : inside->hold()) {
    INFO(hold.entry.value() << ": " << (hold.why ? hold.why->message : std::string()));
    CHECK(hold.state == hold_state::held);
  }
  for (const auto& threads : inside->registers()) {
    REQUIRE(threads.has_value());
    CHECK(threads->size() == 1);
  }
  for (const auto& released : inside->release()) CHECK(released.has_value());
  for (std::size_t i = 0; i < ranks.size(); ++i) CHECK(is_held(ranks[i]) == (i < 2));

  const group_stacks stacks = inside->stacks();
  for (const refused_ranks& refused : stacks.refused)
    UNSCOPED_INFO(refused.ranks.text() << ": " << refused.why.message);
  CHECK(stacks.taken.text() == "0-3");
  rank_set in_init;
  for (call_tree::node_number i = 1; i < stacks.tree.size(); ++i) {
    const auto& frame = stacks.tree[i];
    if (frame.place && frame.place->function.find("MPI_Init") != std::string::npos) in_init.add(frame.ranks);
  }
  CHECK(in_init.text() == "0-3");
  for (std::size_t i = 0; i < ranks.size(); ++i) CHECK(is_held(ranks[i]) == (i < 2));
  inside = fail(error_code::invalid_argument, "ended");
  for (std::size_t i = 0; i < ranks.size(); ++i) CHECK(is_held(ranks[i]) == (i < 2));
  CHECK(being_debugged(starter, 0) == 1);
  REQUIRE(subject->detach(leave::running).has_value());
  for (const pid_t rank : ranks) CHECK(runs_freely(rank));
  check_end(starter);
}

TEST_CASE("a tool that is silent for longer than hold_limit loses its job, and the job runs on") {
  running_starter starter({"checked", "--rank", "checked_rank_debugged", "--ranks", "3", "--hold", "--exit", "3"});
  starter.ready();
  job_options options;
  options.hold_limit = std::chrono::milliseconds(300);
  const auto subject = attached_to(starter.id(), std::move(options));
  expect<job_attached>(*subject);
  for (const rank_hold& outcome : subject->hold_ranks()) REQUIRE(outcome.state == hold_state::held);
  // This program says nothing more.
  for (const pid_t rank : starter.ranks()) CHECK(comes_true([&] { return runs_freely(rank); }));
  CHECK(comes_true([&] { return runs_freely(starter.pid()); }));
  for (std::size_t i = 0; i < 3; ++i) CHECK(being_debugged(starter, i) == 0);
  CHECK_THAT(expect<job_lost>(*subject).why.message, ContainsSubstring("hold_limit"));
  for (const rank_state state : subject->rank_states()) CHECK(state == rank_state::running);
  CHECK(subject->detach().has_value());
  check_end(starter);
}

TEST_CASE("a job without a hold_limit stays stopped while the tool is silent") {
  running_starter starter({"checked", "--ranks", "3", "--hold", "--exit", "3"}), measure({"checked", "--hold"});
  starter.ready();
  measure.ready();
  job_options none, some;
  none.hold_limit.reset();
  some.hold_limit = std::chrono::milliseconds(500);
  const auto subject = attached_to(starter.id(), std::move(none));
  const auto clock_of_test = attached_to(measure.id(), std::move(some));
  CHECK(comes_true([&] { return runs_freely(measure.pid()); }));
  CHECK(is_held(starter.pid()));
  REQUIRE(subject->detach().has_value());
  check_end(starter);
}

TEST_CASE("a look at a job distinguishes an unused pid from a process that has ended") {
  const auto nobody = job::find(process_id{999'999'999});
  REQUIRE_FALSE(nobody.has_value());
  CHECK(nobody.error().code == error_code::not_found);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) ::_exit(0);
  siginfo_t info{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0);
  const auto zombie = job::find(process_id{child});
  REQUIRE_FALSE(zombie.has_value());
  CHECK(zombie.error().code == error_code::process_gone);
  ::waitpid(child, nullptr, 0);
}

TEST_CASE("without a free descriptor the error names the descriptors, and not a missing process") {
  running_starter starter({"checked", "--hold", "--exit", "3"});
  starter.ready();
  // UBSan opens a pipe when it sees an object of a class with virtual functions for the first time.
  CHECK_FALSE(job::find(process_id{999'999'999}));
  CHECK(job::find(starter.id()));
  CHECK(tracer::create());
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{3, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  const auto looked = job::find(starter.id());
  const auto traced = tracer::create();
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  REQUIRE_FALSE(looked.has_value());
  CHECK(looked.error().code == error_code::limit);
  CHECK(looked.error().system_errno == EMFILE);
  REQUIRE_FALSE(traced.has_value());
  CHECK(traced.error().code == error_code::system);
  CHECK(traced.error().system_errno == EMFILE);
  check_end(starter);
}

TEST_CASE("resume releases the held ranks with the starter, and they can be held again") {
  running_starter starter({"checked_gated", "--rank", "checked_rank_debugged", "--hold", "--exit", "3"});
  starter.ready();
  const auto ranks = starter.ranks();
  const auto subject = attached_to(starter.id());
  expect<job_attached>(*subject);
  for (int round = 0; round < 3; ++round) {
    for (const rank_hold& outcome : subject->hold_ranks()) CHECK(outcome.state == hold_state::held);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      CHECK(is_held(ranks[i]));
      CHECK(being_debugged(starter, i) == 1);
      CHECK(int_at(ranks[i], starter.said(key(i, "gate"))) == (round == 0 ? 0 : 1));
    }
    REQUIRE(subject->resume().has_value());
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      CHECK(runs_freely(ranks[i]));
      CHECK(being_debugged(starter, i) == 0);
      CHECK(int_at(ranks[i], starter.said(key(i, "gate"))) == 1);
    }
  }
  REQUIRE(subject->detach().has_value());
  check_end(starter);
}

TEST_CASE("a starter that is rank 0 is held once, as the starter") {
  running_starter starter({"checked_unmarked", "--rank-zero", "--hold", "--exit", "3"});
  starter.ready();
  const auto subject = attached_to(starter.id());
  expect<job_attached>(*subject);
  CHECK(subject->starter().is_rank);
  const auto outcomes = subject->hold_ranks();
  REQUIRE(outcomes.size() == 4);
  for (const rank_hold& outcome : outcomes) CHECK(outcome.state == hold_state::held);
  CHECK(subject->rank_states() == std::vector<rank_state>(4, rank_state::held));
  REQUIRE(subject->detach(leave::stopped).has_value());
  // The stop signal is delivered when each process is scheduled next.
  CHECK(comes_true([&] { return is_left_stopped(starter.pid()); }));
  for (const pid_t rank : starter.ranks()) {
    CHECK(comes_true([&] { return is_left_stopped(rank); }));
    ::kill(rank, SIGCONT);
  }
  CHECK(WEXITSTATUS(starter.end()) == 3);
}

TEST_CASE("remote ranks, dead ranks and ranks of another tool each have their own outcome") {
  running_starter elsewhere({"starter_pie", "--host", "no-host-of-ours", "--hold"});
  elsewhere.ready();
  const auto remote = attached_to(elsewhere.id());
  expect<job_attached>(*remote);
  CHECK(remote->rank_states() == std::vector<rank_state>(4, rank_state::remote));
  for (const rank_hold& outcome : remote->hold_ranks()) {
    REQUIRE(outcome.state != hold_state::held);
    CHECK(outcome.why->code == error_code::unsupported);
    CHECK_THAT(outcome.why->message, ContainsSubstring("no-host-of-ours"));
  }
  // Their numbers are numbers of this node too, and those processes are left alone.
  for (const pid_t rank : elsewhere.ranks()) CHECK(runs_freely(rank));

  running_starter starter({"checked", "--hold"});
  starter.ready();
  ::kill(starter.ranks()[1], SIGKILL);
  REQUIRE(comes_true([&] { return process_state(starter.ranks()[1]) == 'Z'; }));
  const auto first = attached_to(starter.id());
  expect<job_attached>(*first);
  const auto outcomes = first->hold_ranks();
  CHECK(outcomes[0].state == hold_state::held);
  REQUIRE(outcomes[1].state != hold_state::held);
  CHECK(outcomes[1].why->code == error_code::process_gone);
  CHECK(first->rank_states()[1] == rank_state::gone);
  const auto second = job::attach(starter.id());
  REQUIRE_FALSE(second.has_value());
  CHECK(second.error().code == error_code::busy);
}

TEST_CASE("an error of attach has the code that fits it") {
  const auto nobody = job::attach(process_id{4194304});
  REQUIRE_FALSE(nobody.has_value());
  CHECK(nobody.error().code == error_code::not_found);
  const auto ourselves = job::attach(process_id{::getpid()});
  REQUIRE_FALSE(ourselves.has_value());
  CHECK_FALSE(ourselves.error().message.empty());
  const auto negative = job::attach(process_id{-1});
  REQUIRE_FALSE(negative.has_value());
  CHECK(negative.error().code == error_code::not_found);
}

TEST_CASE("a starter that calls MPIR_Breakpoint all the time without news can be attached to and left") {
  const auto kind = GENERATE(from_range(kinds_here()));
  running_starter starter({"starter_calls_null", "--hold", "--exit", "3"});
  starter.ready();
  for (int round = 0; round < 20; ++round) {
    job_options options;
    options.breakpoints = kind;
    const auto subject = attached_to(starter.id(), std::move(options));
    // The state is 0 by then, but its table is complete.
    expect<job_attached>(*subject);
    REQUIRE(subject->resume().has_value());
    CHECK(starter.value_of("MPIR_being_debugged") == 1);
    if (round % 3 == 0) (void)subject->next(clock::now() + std::chrono::milliseconds(5));
    REQUIRE(subject->detach().has_value());
    CHECK(starter.value_of("MPIR_being_debugged") == 0);
    CHECK(runs_freely(starter.pid()));
  }
  CHECK(WEXITSTATUS(starter.end()) == 3);
}

TEST_CASE("a table that is filled between two breakpoints is found by the repeated looks") {
  const auto kind = GENERATE(from_range(kinds_here()));
  running_starter starter({"starter_calls_null", "--step", "--hold", "--exit", "3"});
  starter.ready();
  job_options options;
  options.breakpoints = kind;
  const auto subject = attached_to(starter.id(), std::move(options));
  // Looked at every tenth of a second.
  const auto nothing = subject->next(clock::now() + std::chrono::milliseconds(450));
  REQUIRE(nothing.has_value());
  CHECK_FALSE(nothing->has_value());
  for (int step = 0; step < 3; ++step) starter.go_on();  // out of its calls, spawn, announce
  expect<job_attached>(*subject);
  CHECK(subject->processes()->size() == 4);
  REQUIRE(subject->detach().has_value());
  starter.ready();
  check_end(starter);
}

TEST_CASE("end ends an attached job, and the end is reported") {
  running_starter starter({"checked", "--hold"});
  starter.ready();
  const auto subject = attached_to(starter.id());
  expect<job_attached>(*subject);
  REQUIRE(subject->end().has_value());
  const auto ended = expect<starter_ended>(*subject);
  CHECK(ended.status == exit_status{true, SIGTERM, false});
  CHECK(WTERMSIG(starter.end()) == SIGTERM);
  for (const pid_t rank : starter.ranks()) {
    CHECK(comes_true([&] { return process_state(rank) == ' ' || process_state(rank) == 'Z'; }));
  }
}

TEST_CASE("the destructor of a job releases the starter and the held ranks") {
  running_starter starter({"checked", "--rank", "checked_rank_debugged", "--hold", "--exit", "3"});
  starter.ready();
  {
    const auto subject = attached_to(starter.id());
    for (const rank_hold& outcome : subject->hold_ranks()) CHECK(outcome.state == hold_state::held);
  }
  CHECK(runs_freely(starter.pid()));
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(runs_freely(starter.ranks()[i]));
    CHECK(being_debugged(starter, i) == 0);
  }
  check_end(starter);
}

TEST_CASE("100 attaches to one job leave no descriptor open, and leave the job as it was") {
  running_starter starter({"checked", "--hold", "--exit", "3"});
  starter.ready();
  (void)attached_to(starter.id());  // what is set up once is set up
  const std::size_t before = open_descriptors();
  for (int round = 0; round < 100; ++round) {
    INFO("round " << round);
    const auto subject = attached_to(starter.id());
    expect<job_attached>(*subject);
    if (round % 4 == 0) REQUIRE(subject->hold_ranks().size() == 4);
    REQUIRE(subject->detach().has_value());
  }
  CHECK(open_descriptors() == before);
  CHECK(runs_freely(starter.pid()));
  for (const pid_t rank : starter.ranks()) CHECK(runs_freely(rank));
  check_end(starter);
}
