// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What is known of a job, whether it is observed or under control.
#include "catch.hpp"
#include "entries.hpp"
#include "mpiacq/mpiacq.hpp"
#include "patience.hpp"
#include "running_starter.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

TEST_CASE("a job that is found and one that is attached to have the same description") {
  running_starter starter({"checked", "--hold", "--exit", "3"});
  starter.ready();
  const auto observed = job::find(starter.id(), {}, in(patience)).value();
  CHECK(observed.starter.pid == starter.id());
  CHECK(observed.source == interface_kind::mpir);
  CHECK(observed.launcher == launcher_kind::unknown);
  CHECK_FALSE(observed.is_controlled);
  CHECK(observed.selected(*rank_selection::parse("1,3")) == entries({1, 3}));
  for (std::size_t i = 0; i < 4; ++i) CHECK(observed.is_local(entry_index{i}));
  CHECK_FALSE(observed.is_local(entry_index{4}));

  const auto subject = job::attach(starter.id()).value();
  REQUIRE(subject->next(clock::now() + patience).value());
  const job_description now = subject->description();
  CHECK(now.is_controlled);
  CHECK(now.starter.pid == observed.starter.pid);
  CHECK(now.source == observed.source);
  REQUIRE(now.processes);
  CHECK(now.processes->same_processes(*observed.processes));
  for (std::size_t i = 0; i < 4; ++i) CHECK(now.is_local(entry_index{i}));
  REQUIRE(subject->detach());
  CHECK(WEXITSTATUS(starter.end()) == 3);
}

TEST_CASE("a description gives its ranks, and a selection that is none is an error") {
  running_starter starter({"checked", "--hold", "--exit", "3"});
  starter.ready();
  const auto job = job::find(starter.id(), {}, in(patience)).value();
  const auto wrong = job.ranks({.select = "0-x"});
  REQUIRE_FALSE(wrong.has_value());
  CHECK(wrong.error().code == error_code::invalid_argument);
  auto ranks = job.ranks({.select = "1,3", .until = in(patience)});
  REQUIRE(ranks.has_value());
  REQUIRE(ranks->ranks().size() == 2);
  CHECK(ranks->ranks()[1].pid.value() == starter.ranks()[3]);
  const group_stacks tree = ranks->stacks({.threads = which_threads::all});
  CHECK(tree.taken.text() == "1,3");
  CHECK(tree.refused.empty());
  for (const pid_t rank : starter.ranks()) CHECK(runs_freely(rank));
  CHECK(WEXITSTATUS(starter.end()) == 3);
}

TEST_CASE("the launcher is known by the starter's executable") {
  CHECK(launcher_of("/usr/bin/orterun") == launcher_kind::open_mpi);
  CHECK(launcher_of("/opt/prrte/bin/prterun") == launcher_kind::prrte);
  CHECK(launcher_of("mpiexec.hydra") == launcher_kind::hydra);
  CHECK(launcher_of("/usr/bin/srun") == launcher_kind::slurm);
  CHECK(launcher_of("/usr/bin/my_starter") == launcher_kind::unknown);
  CHECK(launcher_of("/opt/venv/bin/torchrun") == launcher_kind::torchrun);
  // A daemon is no starter.
  CHECK(launcher_of("/usr/bin/orted") == launcher_kind::unknown);
  CHECK(name(launcher_kind::open_mpi) == "open-mpi");
  CHECK(name(launcher_kind::pals) == "pals");
  CHECK(name(interface_kind::environment) == "environment");
}
