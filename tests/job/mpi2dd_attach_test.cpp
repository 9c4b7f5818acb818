// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// An MPI2DD job that runs already: attached to from any of its processes, followed, and left as it was found.
#include <algorithm>
#include <set>

#include "catch.hpp"
#include "entries.hpp"
#include "mpiacq/job/job.hpp"
#include "patience.hpp"
#include "reference_job.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

std::unique_ptr<job> attach(pid_t pid, job_options options = {}) {
  auto attached = job::attach(process_id{pid}, std::move(options));
  INFO((attached ? "" : attached.error().message));
  REQUIRE(attached.has_value());
  return std::move(*attached);
}

job_event next_of(job& subject) {
  auto event = subject.next(clock::now() + patience);
  REQUIRE(event.has_value());
  REQUIRE(event->has_value());
  return std::move(**event);
}

void check_attached(job& subject) {
  REQUIRE(std::holds_alternative<job_attached>(next_of(subject)));
}

std::set<pid_t> pids_of(const process_table& table) {
  std::set<pid_t> all;
  for (std::size_t i = 0; i < table.size(); ++i) all.insert(static_cast<pid_t>(table.pid(entry_index{i}).value()));
  return all;
}

std::set<pid_t> ranks_of(const reference_job& job) {
  std::set<pid_t> all;
  for (const auto& [key, value] : job.all_said()) {
    if (key.starts_with("rank.")) all.insert(std::atoi(value.c_str()));
  }
  return all;
}

/// All processes that wrote something down.
std::set<pid_t> everybody(const reference_job& job) {
  std::set<pid_t> all;
  for (const auto& [key, value] : job.all_said()) {
    if (key.ends_with(".role")) all.insert(std::atoi(key.c_str()));
  }
  return all;
}

const std::vector<std::string> two_worlds = {"mpi2dd_starter",  "--ranks",       "2", "--world", "w0",
                                             "--metadirectory", "--directories", "2", "--hold",  "1/spawn_apart=2"};

}  // namespace

TEST_CASE("an attach to any process of an MPI2DD job finds all of the job") {
  reference_job job{two_worlds};
  job.ready();
  const pid_t child = job.rank(job.spawned_world(job.rank("w0", 1), 1), 1);
  const pid_t directory = job.said_pid("directory.1.pid");
  const std::string whose = GENERATE("starter", "child", "rank", "directory", "metadirectory");
  INFO(whose);
  const std::map<std::string, pid_t> all = {{"starter", job.pid()},
                                            {"child", child},
                                            {"rank", job.rank("w0", 0)},
                                            {"directory", directory},
                                            {"metadirectory", job.said_pid("metadirectory.0.pid")}};
  const pid_t named = all.at(whose);
  const auto subject = attach(named);
  check_attached(*subject);
  CHECK(subject->interface() == interface_kind::mpi2dd);
  CHECK(subject->starter().pid == process_id{job.pid()});
  CHECK(subject->starter().found_how.empty() == (named == job.pid()));
  REQUIRE(subject->processes() != nullptr);
  CHECK(pids_of(*subject->processes()) == ranks_of(job));
  REQUIRE(subject->processes()->worlds().size() == 2);
  CHECK(subject->processes()->worlds()[0].id == "w0");
  CHECK(subject->processes()->worlds()[1].spawned_by == job_world::origin{"w0", rank_number{1}, 0});
  CHECK(subject->processes()->names().of(entry_index{3}) == "1:1");
}

TEST_CASE("a starter that no table lists is not found, and its job is seen from the named process") {
  reference_job job{{"mpi2dd_starter", "--ranks", "2", "--world", "w0", "--metadirectory", "--directories", "1",
                     "--unlisted", "--hold"}};
  job.ready();
  const pid_t rank = job.rank("w0", 1);
  const auto subject = attach(rank);
  check_attached(*subject);
  CHECK(subject->starter().pid == process_id{rank});
  CHECK_THAT(subject->starter().found_how, ContainsSubstring("no table of its job on this node names the starter"));
  CHECK(pids_of(*subject->processes()) == ranks_of(job));
  CHECK(subject->detach().has_value());
  CHECK(job.look(rank).debugger_flags == gate);
}

TEST_CASE("an MPI2DD job is followed after an attach, and the detach restores all flags") {
  constexpr std::uint32_t somebodys = 0x100;
  reference_job job{{"mpi2dd_starter", "--ranks", "2", "--world", "w0", "--metadirectory", "--directories", "1",
                     "--hold", "step", "spawn=1"}};
  job.ready();
  const pid_t directory = job.said_pid("directory.0.pid");
  const pid_t rank = job.rank("w0", 0);
  for (const pid_t pid : {job.pid(), directory, rank}) job.set_flags(pid, somebodys);
  const auto subject = attach(job.pid());
  check_attached(*subject);
  CHECK(subject->rank_states() == std::vector<rank_state>(2, rank_state::running));
  REQUIRE(subject->resume().has_value());
  CHECK(job.look(job.pid()).debugger_flags == (being_debugged | request_directory_events | somebodys));
  CHECK(job.look(directory).debugger_flags == (being_debugged | request_directory_events | somebodys));
  CHECK(job.look(rank).debugger_flags == (gate | being_debugged | request_directory_events | somebodys));

  job.go_on();
  // The directory's change comes first, then the spawn that waited for it.
  const auto listed = next_of(*subject);
  REQUIRE(std::holds_alternative<job_changed>(listed));
  CHECK(std::get<job_changed>(listed).change.state == mpi2dd::debug_state::directory_changed);
  CHECK(std::get<job_changed>(listed).change.raised_by == process_id{directory});
  CHECK(std::get<job_changed>(listed).change.came == entries({2}));
  REQUIRE(subject->resume().has_value());
  const auto spawned = next_of(*subject);
  REQUIRE(std::holds_alternative<job_spawned>(spawned));
  REQUIRE(std::get<job_spawned>(spawned).change.has_value());
  CHECK(std::get<job_spawned>(spawned).change->raised_by == process_id{rank});
  CHECK(subject->rank_states()[0] == rank_state::held);
  REQUIRE(subject->resume().has_value());
  job.ready();
  const pid_t child = job.rank(job.spawned_world(rank, 1), 0);
  CHECK(job.look(child).debugger_flags == (gate | being_debugged | request_directory_events));

  REQUIRE(subject->detach().has_value());
  CHECK(job.look(job.pid()).debugger_flags == somebodys);
  CHECK(job.look(directory).debugger_flags == somebodys);
  CHECK(job.look(rank).debugger_flags == (gate | somebodys));
  CHECK(job.look(child).debugger_flags == gate);
  for (const pid_t pid : everybody(job)) CHECK(comes_true([&] { return process_state(pid) == 'S'; }));
  CHECK(job.end() == 0);
}

TEST_CASE("held ranks of an MPI2DD job are left stopped or running, as detach asks") {
  reference_job job{two_worlds};
  job.ready();
  job_options options;
  options.ranks = *rank_selection::parse("1:all");
  const auto subject = attach(job.pid(), std::move(options));
  check_attached(*subject);
  const bool followed_before = GENERATE(false, true);
  if (followed_before) REQUIRE(subject->resume().has_value());
  const auto outcomes = subject->hold_ranks();
  REQUIRE(outcomes.size() == 2);
  for (const rank_hold& outcome : outcomes) {
    CHECK(outcome.state == hold_state::held);
    CHECK(process_state(outcome.pid.value()) == 't');
  }
  CHECK(subject->rank_states()[2] == rank_state::held);
  CHECK(subject->rank_states()[0] == rank_state::running);
  const auto how = GENERATE(leave::running, leave::stopped);
  REQUIRE(subject->detach(how).has_value());
  for (const rank_hold& outcome : outcomes) {
    const char state = how == leave::stopped ? 'T' : 'S';
    CHECK(comes_true([&] { return process_state(outcome.pid.value()) == state; }));
    ::kill(static_cast<pid_t>(outcome.pid.value()), SIGCONT);
  }
  ::kill(job.pid(), SIGCONT);
  CHECK(job.end() == 0);
}

TEST_CASE("two MPI2DD jobs that connect become one, and each of their processes is followed") {
  const std::string port = "attach_test." + std::to_string(::getpid());
  reference_job one{{"mpi2dd_starter", "--ranks", "1", "--world", "A", "--hold", "accept=" + port}};
  reference_job two{{"mpi2dd_starter", "--ranks", "1", "--world", "B", "--hold", "step", "connect=" + port}};
  two.ready();
  REQUIRE(comes_true([&] { return one.said_pid("rank.A.0.pid") > 0 && one.said("event.START") != "(nothing)"; }));
  const auto subject = attach(one.pid());
  check_attached(*subject);
  REQUIRE(subject->resume().has_value());
  two.go_on();
  bool accepted = false;
  while (!accepted) {
    const auto event = next_of(*subject);
    const auto* changed = std::get_if<job_changed>(&event);
    accepted = changed != nullptr && changed->change.state == mpi2dd::debug_state::accept;
    if (changed != nullptr) REQUIRE(subject->resume().has_value());
  }
  CHECK(pids_of(*subject->processes()) == std::set<pid_t>{one.rank("A", 0), two.rank("B", 0)});
  CHECK((two.look(two.rank("B", 0)).debugger_flags & being_debugged) != 0);
  REQUIRE(subject->detach().has_value());
  one.ready();
  two.ready();
  for (const auto* job : {&one, &two}) {
    for (const pid_t pid : everybody(*job)) CHECK((job->look(pid).debugger_flags & ~gate) == 0);
  }
  CHECK(one.end() == 0);
  CHECK(two.end() == 0);
}

TEST_CASE("a look at an MPI2DD job stops no process and writes nothing") {
  reference_job job{two_worlds};
  job.ready();
  const bool from_rank = GENERATE(false, true);
  const pid_t named = from_rank ? job.rank("w0", 0) : job.pid();
  const auto view = job::find(process_id{named});
  INFO((view ? "" : view.error().message));
  REQUIRE(view.has_value());
  CHECK(view->starter.pid == process_id{job.pid()});
  CHECK(pids_of(*view->processes) == ranks_of(job));
  for (std::size_t i = 0; i < 4; ++i) CHECK(view->is_local(entry_index{i}));
  CHECK(job.look(job.pid()).debugger_flags == 0);
  CHECK(job.look(job.rank("w0", 0)).debugger_flags == 0);
  CHECK(job.end() == 0);
}

TEST_CASE("an attach with an interface that the program lacks fails with a remedy") {
  reference_job bad{{"mpi2dd_starter_version_2", "--ranks", "1", "--hold"}};
  bad.ready();
  job_options options;
  options.interface = interface_kind::mpi2dd;
  const auto refused = job::attach(process_id{bad.pid()}, options);
  REQUIRE_FALSE(refused.has_value());
  CHECK_THAT(refused.error().message, ContainsSubstring("version"));
  options.interface = interface_kind::mpir;
  const auto no_mpir = job::attach(process_id{bad.pid()}, options);
  REQUIRE_FALSE(no_mpir.has_value());
  CHECK_THAT(no_mpir.error().message, ContainsSubstring("MPIR_"));
}
