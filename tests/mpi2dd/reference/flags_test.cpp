// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The reference implementation obeys the flags that the debugger writes, and does not change them.
#include "catch.hpp"
#include "reference_job.hpp"

using namespace mpiacq::test;

TEST_CASE("without a debugger no rank waits at a gate") {
  reference_job job{{"mpi2dd_starter", "--ranks", "2", "--world", "w0", "--hold"}};
  job.ready();
  CHECK(job.said("world.w0.gates") == "0");
  CHECK(job.said(job.rank("w0", 0), "left_init") == "1");
  CHECK(job.look(job.rank("w0", 0)).debugger_flags == 0);
}

TEST_CASE("each rank waits until its own gate is opened") {
  reference_job job{{"mpi2dd_starter", "--ranks", "3", "--world", "w0", "--step", "--hold"}};
  job.ready().go_on();
  job.ready();
  // The implementation keeps bits that the draft does not define.
  job.set_flags(job.pid(), being_debugged | 0x100);
  job.set_flags(job.rank("w0", 2), gate);  // opened before the rank has reached it
  job.go_on();
  const pid_t first = job.rank("w0", 0);
  const pid_t second = job.rank("w0", 1);
  REQUIRE(comes_true([&] { return job.said(job.rank("w0", 2), "left_init") == "1"; }));
  REQUIRE(comes_true([&] { return job.said(first, "gate_heeded") == "1"; }));
  CHECK(job.said(first, "left_init") == "(nothing)");
  job.set_flags(second, gate);
  REQUIRE(comes_true([&] { return job.said(second, "left_init") == "1"; }));
  CHECK(job.said(first, "left_init") == "(nothing)");
  job.set_flags(first, gate);
  job.ready();
  CHECK(job.said(first, "left_init") == "1");
  CHECK(job.look(first).debugger_flags == gate);
  CHECK(job.look(job.pid()).debugger_flags == (being_debugged | 0x100));
  CHECK(job.end() == 0);
}

TEST_CASE("with PARTIAL_ATTACH_OK it is enough that the starter goes on") {
  reference_job job{{"mpi2dd_starter", "--ranks", "2", "--world", "w0", "--partial-attach-ok", "--step", "--hold"}};
  job.ready().go_on();
  job.ready();
  CHECK(job.said(job.rank("w0", 0), "left_init") == "(nothing)");
  job.set_flags(job.pid(), being_debugged);
  job.go_on();
  job.ready();
  CHECK(job.said(job.rank("w0", 0), "gate_heeded") == "0");
}

TEST_CASE("children wait at gates if their parent is being debugged when it spawns them") {
  const bool told_to_parent = GENERATE(false, true);
  reference_job job{{"mpi2dd_starter", "--ranks", "1", "--world", "w0", "--step", "--hold", "step", "spawn=1"}};
  job.ready().go_on();
  job.ready();
  const pid_t parent = job.rank("w0", 0);
  if (!told_to_parent) {
    job.set_flags(job.pid(), being_debugged);
    job.set_flags(parent, gate);
  }
  job.go_on();
  job.ready();
  if (told_to_parent) job.set_flags(parent, being_debugged);
  job.go_on();
  const std::string world = job.spawned_world(parent, 1);
  REQUIRE(comes_true([&] { return job.said("world." + world + ".gates") != "(nothing)"; }));
  CHECK(job.said("world." + world + ".gates") == (told_to_parent ? "1" : "0"));
  if (told_to_parent) job.set_flags(job.rank(world, 0), gate);
  job.ready();
  CHECK(job.said(job.rank(world, 0), "gate_heeded") == (told_to_parent ? "1" : "0"));
  CHECK(job.end() == 0);
}

TEST_CASE("directory events are raised only in processes that request them") {
  const bool asked = GENERATE(false, true);
  reference_job job{{"mpi2dd_starter", "--ranks", "1", "--world", "w0", "--directories", "1", "--hold", "step",
                     "spawn=1", "spawn_apart=1"}};
  job.ready();
  const pid_t directory = job.said_pid("directory.0.pid");
  if (asked) job.set_flags(directory, request_directory_events);
  if (asked) job.set_flags(job.pid(), request_directory_events);
  job.go_on();
  job.ready();
  CHECK(job.said("event.DIRECTORY_CHANGED") == (asked ? std::to_string(directory) : "(nothing)"));
  CHECK(job.said("event.METADIRECTORY_CHANGED") == (asked ? std::to_string(job.pid()) : "(nothing)"));
  CHECK(job.look(directory).state == (asked ? directory_changed : 0));
  CHECK(job.look(job.pid()).state == (asked ? metadirectory_changed : started));
  // The event of the changed table precedes the event of the spawn that changed it.
  const std::string all = job.oracle();
  if (asked) CHECK(all.find("event.DIRECTORY_CHANGED") < all.find("event.SPAWN"));
  CHECK(job.end() == 0);
}

TEST_CASE("ranks can be acquired before main") {
  reference_job job{{"mpi2dd_starter", "--ranks", "1", "--world", "w0", "--pre-main", "--step", "--hold"}};
  job.ready().go_on();
  job.ready();
  const pid_t rank = job.rank("w0", 0);
  CHECK(job.said(rank, "main_entered") == "0");
  CHECK(job.look(rank).mpi_flags == pre_main);
  CHECK((job.look(job.pid()).mpi_flags & pre_main) != 0);
  job.go_on();
  job.ready();
  CHECK(job.end() == 0);
}

TEST_CASE("a killed starter ends the whole job") {
  pid_t rank = 0;
  pid_t child = 0;
  pid_t directory = 0;
  {
    reference_job job{
        {"mpi2dd_starter", "--ranks", "1", "--world", "w0", "--metadirectory", "--hold", "spawn_apart=1"}};
    rank = job.ready().rank("w0", 0);
    child = job.rank(job.spawned_world(rank, 1), 0);
    directory = job.said_pid("directory.0.pid");
  }
  for (const pid_t pid : {rank, child, directory}) {
    CHECK(pid > 0);
    CHECK(comes_true([&] { return process_state(pid) == ' ' || process_state(pid) == 'Z'; }));
  }
}
