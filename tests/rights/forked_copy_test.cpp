// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A program that forks: the child's copies of objects that hold processes end, and the parent's objects stay usable.
#include <functional>
#include <memory>

#include <sys/wait.h>

#include "catch.hpp"
#include "mpiacq/check/check.hpp"
#include "mpiacq/job/job.hpp"
#include "mpiacq/ranks/rank_group.hpp"
#include "patience.hpp"
#include "running_starter.hpp"
#include "victim.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// Runs `what` in a forked child, and returns whether it returned true there.
bool in_a_child(const std::function<bool()>& what) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::alarm(20);
    ::_exit(what() ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool is_held(pid_t process) {
  return status_of(process, "State").starts_with('t') && status_of(process, "TracerPid") != "0";
}

}  // namespace

TEST_CASE("a forked child's copy of a job ends, and the job continues") {
  running_starter starter({"checked", "--hold", "--exit", "3", "--rank", "checked_rank_debugged"});
  starter.ready();
  auto subject = job::attach(starter.id()).value();
  const auto event = subject->next(clock::now() + patience).value();
  REQUIRE(event);
  REQUIRE(std::holds_alternative<job_attached>(*event));
  for (const rank_hold& rank : subject->hold_ranks()) REQUIRE(rank.state == hold_state::held);
  CHECK(in_a_child([&] {
    const bool refused = !subject->detach() && !subject->resume();
    subject.reset();
    return refused;
  }));
  CHECK(is_held(starter.pid()));
  for (const pid_t rank : starter.ranks()) {
    CHECK(is_held(rank));
  }
  for (std::size_t i = 0; i < starter.ranks().size(); ++i) {
    const std::string key = "rank." + std::to_string(i);
    CHECK(int_at(starter.ranks()[i], starter.said(key + ".gate")) == 0);
    CHECK(int_at(starter.ranks()[i], starter.said(key + ".being_debugged")) == 1);
  }
  REQUIRE(subject->detach());
  CHECK(runs_freely(starter.pid()));
  CHECK(WEXITSTATUS(starter.end()) == 3);
}

TEST_CASE("a forked child's copies of ranks and of a tracer end, and the ranks stay held") {
  const victim process;
  auto ranks = std::make_unique<rank_group>(rank_group::of_processes(std::vector{process_id{process.pid()}}).value());
  REQUIRE(ranks->hold()[0].state == hold_state::held);
  CHECK(in_a_child([&] {
    ranks.reset();
    return true;
  }));
  CHECK(is_held(process.pid()));
  CHECK(ranks->hold()[0].state == hold_state::held);
  for (const auto& threads : ranks->registers()) CHECK(threads);
  ranks.reset();
  CHECK(runs_freely(process.pid()));

  auto control = tracer::create().value();
  REQUIRE(control->attach(process_id{process.pid()}));
  CHECK(in_a_child([&] {
    const bool refused = !control->detach(process_id{process.pid()}) && !control->wait(clock::now());
    control.reset();
    return refused;
  }));
  CHECK(is_held(process.pid()));
  CHECK(control->detach(process_id{process.pid()}));
}

TEST_CASE("a forked child's copy of a job's ranks ends, and their agents' own process continues") {
  const victim process;
  running_starter starter({"lists_others", "--hold", process.number()});
  starter.ready();
  auto subject = job::attach(starter.id()).value();
  REQUIRE(subject->next(clock::now() + patience).value());
  auto ranks = std::make_unique<rank_group>(subject->description().ranks().value());
  REQUIRE(ranks->hold()[0].state == hold_state::held);
  CHECK(in_a_child([&] {
    ranks.reset();
    return true;
  }));
  CHECK(is_held(process.pid()));
  CHECK(ranks->release()[0]);
}

TEST_CASE("a forked child's copy of a conformance run ends, and the run continues") {
  running_starter starter({"checked", "--hold", "--exit", "3"});
  starter.ready();
  auto run = check::run::attach(starter.id(), {}).value();
  CHECK(in_a_child([&] {
    run.reset();
    return true;
  }));
  CHECK_FALSE(run->over());
  CHECK(status_of(starter.pid(), "TracerPid") != "0");
  CHECK(run->let_go());
  CHECK(runs_freely(starter.pid()));
}
