// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The state that each process raises, and the tables at that moment, as gdb sees them at MPI2DD_breakpoint.
#include "catch.hpp"
#include "reference_job.hpp"

using namespace mpiacq::test;

namespace {
const std::string state = "print/d MPI2DD_info.debug_state";
const std::string first_rank = "((struct MPI2DD_PROCDESC*)MPI2DD_info.proctable)[0]";

/// The processes that raised the state, in the order of their records.
std::vector<pid_t> who_raised(const reference_job& job, const std::string& name) {
  std::vector<pid_t> all;
  std::istringstream lines(job.oracle());
  for (std::string key, rest; lines >> key && std::getline(lines, rest);) {
    if (key == "event." + name) all.push_back(std::atoi(rest.c_str()));
  }
  return all;
}
}  // namespace

TEST_CASE("START is raised in the starter, when its ranks are listed") {
  if (const auto reason = gdb_cannot_attach(); !reason.empty()) MPIACQ_SKIP(reason);
  reference_job job{{"mpi2dd_starter", "--ranks", "2", "--world", "w0", "--step"}};
  job.ready();
  gdb_at gdb{job.pid(),
             {"continue", state, "print MPI2DD_info.proctable_size", "print " + first_rank + ".pid",
              "print (char*)" + first_rank + ".comm_world_id", "print sizeof(struct MPI2DD_DIRECTORYENTRY)"}};
  job.go_on();
  job.ready().go_on();
  const auto values = gdb.values();
  REQUIRE(values.size() == 5);
  CHECK(values[0] == "1");
  CHECK(values[1] == "2");
  CHECK(values[2] == std::to_string(job.rank("w0", 0)));
  CHECK(values[3].ends_with("\"w0\""));
  CHECK(values[4] == "20");
  CHECK(job.end() == 0);
  CHECK(who_raised(job, "START") == std::vector<pid_t>{job.pid()});
}

TEST_CASE("SPAWN is raised in the rank at its root, when the children are listed") {
  if (const auto reason = gdb_cannot_attach(); !reason.empty()) MPIACQ_SKIP(reason);
  reference_job job{{"mpi2dd_starter", "--ranks", "2", "--world", "w0", "--rank-directory", "step", "spawn=1"}};
  job.ready();
  const pid_t root = job.rank("w0", 0);
  const std::string child = "((struct MPI2DD_PROCDESC*)MPI2DD_info.proctable)[2]";
  const std::string spawn = "((struct MPI2DD_SPAWNDESC*)" + child + ".spawn_desc)";
  gdb_at gdb{root,
             {"continue", state, "print MPI2DD_info.proctable_size", "print " + child + ".rank",
              "print (char*)" + spawn + "->parent_comm_world_id", "print " + spawn + "->parent_rank",
              "print " + spawn + "->sequence"}};
  job.go_on();
  const auto values = gdb.values();
  REQUIRE(values.size() == 6);
  CHECK(values[0] == "2");
  CHECK(values[1] == "3");
  CHECK(values[2] == "0");
  CHECK(values[3].ends_with("\"w0\""));
  CHECK(values[4] == "0");
  CHECK(values[5] == "0");
  CHECK(job.end() == 0);
  CHECK(who_raised(job, "SPAWN") == std::vector<pid_t>{root});
}

TEST_CASE("CONNECT, ACCEPT and JOIN are raised in the processes that call them") {
  const std::string port = "events." + std::to_string(::getpid());
  reference_job job{{"mpi2dd_starter", "--ranks", "3", "--world", "w0", "--hold", "1/connect=" + port,
                     "2/accept=" + port, "0/join=" + port + ".join", "1/join=" + port + ".join"}};
  job.ready();
  CHECK(who_raised(job, "CONNECT") == std::vector<pid_t>{job.rank("w0", 1)});
  CHECK(who_raised(job, "ACCEPT") == std::vector<pid_t>{job.rank("w0", 2)});
  CHECK(who_raised(job, "JOIN").size() == 2);
  CHECK(job.look(job.rank("w0", 0)).state == joined);
  CHECK(job.look(job.rank("w0", 1)).state == joined);
  CHECK(job.look(job.rank("w0", 2)).state == accepted);
  // The only metadirectory has all entries itself, so its metadirectory table is empty.
  CHECK_FALSE(job.look(job.pid()).has_metadirectories);
}

TEST_CASE("gdb finds CONNECT in the rank that connects, and both metadirectories listed by then") {
  if (const auto reason = gdb_cannot_attach(); !reason.empty()) MPIACQ_SKIP(reason);
  const std::string port = "gdb." + std::to_string(::getpid());
  reference_job one{{"mpi2dd_starter", "--ranks", "1", "--world", "A", "accept=" + port, "step"}};
  reference_job two{{"mpi2dd_starter", "--ranks", "1", "--world", "B", "step", "connect=" + port, "step"}};
  two.ready();
  gdb_at gdb{two.rank("B", 0), {"continue", state}};
  two.go_on();
  one.ready();
  CHECK(gdb.values() == std::vector<std::string>{"3"});
  CHECK(one.look(one.pid()).metadirectories.at(0).pid == two.pid());
  CHECK(two.look(two.pid()).metadirectories.at(0).pid == one.pid());
}

TEST_CASE("ABORT has its string in the rank, and again in the starter") {
  if (const auto reason = gdb_cannot_attach(); !reason.empty()) MPIACQ_SKIP(reason);
  const bool below = GENERATE(false, true);
  std::vector<std::string> words = {"mpi2dd_starter", "--ranks", "2", "--world", "w0"};
  if (below) {
    words.push_back("1/spawn=1{step,abort=no memory left}");
  } else {
    words.insert(words.end(), {"1/step", "1/abort=no memory left"});
  }
  reference_job job{words};
  job.ready();
  const pid_t rank = below ? job.rank(job.spawned_world(job.rank("w0", 1), 1), 0) : job.rank("w0", 1);
  const std::vector<std::string> look = {"continue", state, "print (char*)MPI2DD_info.abort_string"};
  gdb_at starter{job.pid(), look};
  gdb_at aborting{rank, look};
  job.go_on();
  for (gdb_at* gdb : {&aborting, &starter}) {
    const auto values = gdb->values();
    REQUIRE(values.size() == 2);
    CHECK(values[0] == "8");
    CHECK(values[1].ends_with("\"no memory left\""));
  }
  CHECK(WEXITSTATUS(job.end()) == 134);
  const auto raised = who_raised(job, "ABORT");
  REQUIRE(raised.size() >= 2);
  CHECK(raised.front() == rank);
  CHECK(raised.back() == job.pid());
}
