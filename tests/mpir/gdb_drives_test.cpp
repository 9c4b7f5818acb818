// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The state machine drives gdb through the C interface. Only gdb reads memory, finds symbols and types, and stops the
// starter. The starter's own record is the expected result.
#include <sstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "catch.hpp"
#include "gdb.hpp"
#include "live_process.hpp"
#include "run_command.hpp"

using namespace mpiacq::test;

namespace {

bool have_gdb() {
  const auto asked = run_command(gdb_command({"-ex", "python import ctypes; print('it has')"}));
  return asked.out.find("it has") != std::string::npos;
}
constexpr const char* no_gdb = "gdb with Python and its ctypes is not installed";

struct outcome {
  command_outcome ran;
  std::map<std::string, std::string> report;
  std::map<std::string, std::string> oracle;
};

class driven {
 public:
  outcome launch(const std::vector<std::string>& program, std::map<std::string, std::string> environment = {}) {
    std::vector<std::string> line = gdb_line("launch");
    line.insert(line.end(), {"--args"});
    line.insert(line.end(), program.begin(), program.end());
    how_.environment.merge(environment);
    how_.environment["MPIACQ_ORACLE"] = folder_.path("oracle");
    return {run_command(line, how_), read_oracle(folder_.path("report")), read_oracle(folder_.path("oracle"))};
  }
  outcome attach(mpiacq::process_id pid) {
    std::vector<std::string> line = gdb_line("attach");
    line.insert(line.end(), {"-p", std::to_string(pid.value())});
    return {run_command(line, how_), read_oracle(folder_.path("report")), {}};
  }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path(name); }

 private:
  std::vector<std::string> gdb_line(const std::string& mode) {
    how_.limit = std::chrono::seconds(120);
    how_.environment = {{"MPIACQ_SEAM", MPIACQ_SEAM}, {"MPIACQ_REPORT", folder_.path("report")}, {"MPIACQ_MODE", mode}};
    return gdb_command({"-x", MPIACQ_GDB_DRIVES});
  }

  scratch_folder folder_;
  command_options how_;
};

const std::string openmpi_ranks = MPIACQ_RANKS "/mpi_pids_openmpi";
const std::map<std::string, std::string> as_root{
    {"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}, {"OMPI_MPIR_DO_NOT_WARN", "1"}};
constexpr const char* no_openmpi = "Open MPI (openmpi-bin, libopenmpi-dev) is not installed";

bool have_openmpi() {
  return is_installed("mpirun.openmpi") && ::access(openmpi_ranks.c_str(), X_OK) == 0;
}

/// Checks that the report has every entry that the starter recorded.
void check_table(const outcome& seen, int ranks) {
  INFO(seen.ran.out << seen.ran.err);
  REQUIRE(seen.report.contains("end"));
  CHECK_FALSE(seen.report.contains("error"));
  CHECK(seen.report.at("table_size") == seen.oracle.at("table_size"));
  for (int r = 0; r < ranks; ++r) {
    for (const char* field : {".pid", ".host", ".exe"}) {
      const std::string key = "rank." + std::to_string(r) + field;
      INFO(key);
      CHECK(seen.report.at(key) == seen.oracle.at(key));
    }
  }
}

}  // namespace

TEST_CASE("gdb drives: launches, by debug information and without, linked, loaded later, in another layout") {
  if (!have_gdb()) MPIACQ_SKIP(no_gdb);
  const std::map<std::string, std::string> layouts{
      {"starter_pie", "dwarf"},        {"starter_no_pie", "dwarf"},      {"starter_extended_procdesc", "dwarf"},
      {"starter_library", "dwarf"},    {"starter_loads_later", "dwarf"}, {"starter_symbols_only", "inferred"},
      {"starter_stripped", "inferred"}};
  for (const auto& [name, layout] : layouts) {
    INFO(name);
    driven gdb;
    const outcome seen = gdb.launch({std::string(MPIACQ_STARTERS) + "/" + name, "--ranks", "5"});
    check_table(seen, 5);
    CHECK(seen.report.at("layout") == layout);
    CHECK(seen.oracle.at("announcement.1.being_debugged_after") == "1");
    CHECK(seen.oracle.at("breakpoint_calls") == "1");
    for (int r = 0; r < 5; ++r) CHECK(seen.oracle.at("rank." + std::to_string(r) + ".wait_status") == "0x0");
  }
}

TEST_CASE("gdb drives: faults of single fields, an event of each kind") {
  if (!have_gdb()) MPIACQ_SKIP(no_gdb);
  driven gdb;
  const outcome bad = gdb.launch({MPIACQ_STARTERS "/starter_bad_strings", "--ranks", "10"});
  INFO(bad.ran.out << bad.ran.err);
  REQUIRE(bad.report.contains("end"));
  int faults = 0;
  for (const auto& [key, value] : bad.oracle) {
    const auto at = key.find(".host_fault");
    if (at == std::string::npos) continue;
    ++faults;
    INFO(key);
    CHECK(bad.report.at(key.substr(0, at) + ".host") == "-");
    CHECK(bad.report.contains(key.substr(0, at) + ".problem"));
  }
  CHECK(faults > 0);
  CHECK(bad.report.at("rank.0.host") == bad.oracle.at("rank.0.host"));

  driven again;
  const outcome states = again.launch({MPIACQ_STARTERS "/starter_three_states"});
  check_table(states, 4);
  CHECK(states.report.at("abort") == states.oracle.at("abort_string"));
}

TEST_CASE("gdb drives: an attach to a starter that runs, and no trace of it afterwards") {
  if (!have_gdb()) MPIACQ_SKIP(no_gdb);
  driven gdb;
  const std::string oracle = gdb.path("held");
  REQUIRE(::setenv("MPIACQ_ORACLE", oracle.c_str(), 1) == 0);
  live_process starter({MPIACQ_STARTERS "/starter_pie", "--hold"});
  ::unsetenv("MPIACQ_ORACLE");
  (void)starter.lines_until_ready();
  outcome seen = gdb.attach(starter.pid());
  const int status = starter.end();
  seen.oracle = read_oracle(oracle);
  check_table(seen, 4);
  CHECK(seen.report.at("being_debugged") == "0");
  CHECK(status == 0);
  CHECK(seen.oracle.at("being_debugged_at_end") == "0");
  CHECK(seen.oracle.at("breakpoint_calls") == "1");
}

TEST_CASE("gdb drives: Open MPI's mpirun, whose symbols have neither types nor sizes for gdb") {
  if (!have_gdb()) MPIACQ_SKIP(no_gdb);
  if (!have_openmpi()) MPIACQ_SKIP(no_openmpi);
  const auto where = run_command({"sh", "-c", "command -v mpirun.openmpi"});
  driven gdb;
  const outcome seen =
      gdb.launch({where.out.substr(0, where.out.find('\n')), "--oversubscribe", "-n", "4", openmpi_ranks}, as_root);
  INFO(seen.ran.out << seen.ran.err);
  REQUIRE(seen.report.contains("end"));
  CHECK(seen.report.at("table_size") == "4");
  CHECK(seen.report.at("layout") == "inferred");
  std::istringstream said(seen.ran.out);
  int ranks = 0;
  for (std::string line; std::getline(said, line);) {
    std::istringstream words(line);
    std::string rank_word, rank, pid_word, pid;
    if (!(words >> rank_word >> rank >> pid_word >> pid) || rank_word != "rank") continue;
    ++ranks;
    CHECK(seen.report.at("rank." + rank + ".pid") == pid);
    CHECK(seen.report.at("rank." + rank + ".exe") == openmpi_ranks);
  }
  CHECK(ranks == 4);
}

TEST_CASE("gdb drives: an attach to a running mpirun, and to one of its ranks, which is recognised as a rank") {
  if (!have_gdb()) MPIACQ_SKIP(no_gdb);
  if (!have_openmpi()) MPIACQ_SKIP(no_openmpi);
  for (const auto& [name, value] : as_root) ::setenv(name.c_str(), value.c_str(), 1);
  const scratch_folder gates;
  for (const char* gate : {"rank.0", "rank.1"}) REQUIRE(::mkfifo(gates.path(gate).c_str(), 0600) == 0);
  live_process mpirun({"mpirun.openmpi", "--oversubscribe", "-n", "2", openmpi_ranks, "--after-init", gates.path("")});

  // A rank opens its FIFO after MPI_Init and waits in open(2) for a reader. The test reads rank 0's FIFO, so rank 0
  // goes on and waits for rank 1 in the barrier.
  const int first = ::open(gates.path("rank.0").c_str(), O_RDONLY | O_CLOEXEC);
  std::istringstream said(mpirun.next_line().value_or(""));
  std::string word;
  long rank = -1, pid = 0;
  REQUIRE(said >> word >> rank >> word >> pid);
  REQUIRE(rank == 0);

  driven at_starter;
  const outcome starter = at_starter.attach(mpirun.pid());
  INFO(starter.ran.out << starter.ran.err);
  CHECK(starter.report.at("table_size") == "2");
  CHECK(starter.report.at("rank.0.pid") == std::to_string(pid));
  CHECK(starter.report.at("rank.1.exe") == openmpi_ranks);
  CHECK_FALSE(starter.report.contains("awaits"));
  CHECK(starter.report.at("being_debugged") == "0");
  CHECK(file_contents(at_starter.path("report")).find("being_debugged 1\n") != std::string::npos);

  driven at_rank;
  const outcome held = at_rank.attach(mpiacq::process_id{pid});
  INFO(held.ran.out << held.ran.err);
  CHECK(held.report.at("awaits") == "0 of 0, rank 1");
  CHECK(file_contents(at_rank.path("report")).find("being_debugged 1\n") == std::string::npos);

  const int second = ::open(gates.path("rank.1").c_str(), O_RDONLY | O_CLOEXEC);
  while (mpirun.next_line()) continue;
  CHECK(mpirun.end() == 0);
  ::close(first);
  ::close(second);
}
