// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Every kind of starter, from the command line to the table. The oracle is what the starter itself wrote down.
#include <array>
#include <csignal>

#include <fcntl.h>
#include <unistd.h>

#include "breakpoint_registers.hpp"
#include "catch.hpp"
#include "launched.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

struct starter_variant {
  std::string name;
  std::string layout_source;
};

void check_processes(const launched& run) {
  const json& processes = run.report.at("processes");
  REQUIRE(processes.size() == std::stoul(run.said("table_size")));
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const std::string rank = "rank." + std::to_string(i);
    CHECK(processes[i].at("rank") == i);
    CHECK(std::to_string(processes[i].at("pid").get<long>()) == run.said(rank + ".pid"));
    CHECK(processes[i].at("host") == run.said(rank + ".host"));
    CHECK(processes[i].at("executable") == run.said(rank + ".exe"));
    CHECK(processes[i].at("local") == true);
    CHECK(processes[i].at("state") == "running");
    CHECK(processes[i].at("problems").empty());
    CHECK(run.said(rank + ".released") == "1");
    CHECK(run.said(rank + ".wait_status") == "0x0");
  }
}

void check_symbols(const launched& run) {
  for (const auto& [name, symbol] : run.report.at("symbols").items()) {
    INFO(name);
    CHECK(std::stoull(symbol.at("address").get<std::string>(), nullptr, 16) ==
          std::stoull(run.said("symbol." + name), nullptr, 16));
  }
  for (const char* required : {"MPIR_Breakpoint", "MPIR_proctable", "MPIR_proctable_size", "MPIR_debug_state"}) {
    CHECK(run.report.at("symbols").contains(required));
  }
}

void check_layout(const launched& run) {
  const json& layout = run.report.at("layout");
  CHECK(std::to_string(layout.at("size").get<int>()) == run.said("procdesc.size"));
  CHECK(std::to_string(layout.at("host_name").get<int>()) == run.said("procdesc.host_name.offset"));
  CHECK(std::to_string(layout.at("executable_name").get<int>()) == run.said("procdesc.executable_name.offset"));
  CHECK(std::to_string(layout.at("pid").at("offset").get<int>()) == run.said("procdesc.pid.offset"));
  CHECK(std::to_string(layout.at("pid").at("size").get<int>()) == run.said("procdesc.pid.size"));
}

std::vector<starter_variant> every_variant() {
  std::vector<starter_variant> kinds = {{"starter_pie", "dwarf"},
                                        {"starter_no_pie", "dwarf"},
                                        {"starter_static", "dwarf"},
                                        {"starter_static_pie", "dwarf"},
                                        {"starter_stripped", "inferred"},
                                        {"starter_stripped_sysv_hash", "inferred"},
                                        {"starter_symbols_only", "inferred"},
                                        {"starter_build_id", "debug-file"},
                                        {"starter_build_id_exported", "debug-file"},
                                        {"starter_debuglink", "debug-file"},
                                        {"starter_compressed", "dwarf"},
                                        {"starter_dwarf4", "dwarf"},
                                        {"starter_dwarf5", "dwarf"},
                                        {"starter_o0", "dwarf"},
                                        {"starter_o2", "dwarf"},
                                        {"starter_library", "dwarf"},
                                        {"starter_copied", "dwarf"},
                                        {"starter_loads_later", "dwarf"},
                                        {"starter_extended_procdesc", "dwarf"},
                                        {"starter_threads", "dwarf"},
                                        {"starter_execs_itself", "dwarf"},
                                        {"starter_children_call", "dwarf"}};
#ifdef MPIACQ_HAVE_32_BIT_STARTERS
  const std::vector<starter_variant> of_32_bits = {{"starter_32", "dwarf"},
                                                   {"starter_32_no_pie", "dwarf"},
                                                   {"starter_32_static", "dwarf"},
                                                   {"starter_32_stripped", "inferred"},
                                                   {"starter_32_loads_later", "dwarf"},
                                                   {"starter_32_threads", "dwarf"}};
  kinds.insert(kinds.end(), of_32_bits.begin(), of_32_bits.end());
#endif
#ifdef MPIACQ_HAVE_MUSL_STARTERS
  for (const char* name : {"starter_musl", "starter_musl_static", "starter_musl_static_pie"}) {
    kinds.push_back({name, "dwarf"});
  }
#endif
  return kinds;
}

}  // namespace

TEST_CASE("every kind of starter gives its table and keeps its exit status") {
  const starter_variant kind = GENERATE(from_range(every_variant()));
  INFO(kind.name);
  // A debug file is found by build id, and programs with the same contents have the same: only where it is meant.
  std::vector<std::string> options;
  if (kind.name.find("build_id") != std::string::npos) options = {"--debug-dir", fixture("debug")};
  const launched run = launch({kind.name, "--exit", "3"}, options);
  INFO(run.command.err);
  CHECK_FALSE(run.command.timed_out);
  CHECK(run.command.exit_code == 3);
  CHECK(run.command.err.empty());
  CHECK(run.said("exit") == "3");
  CHECK(run.said("being_debugged_at_start") == "1");
  REQUIRE(run.report.is_object());
  CHECK(run.report.at("schema") == "mpiacq.job/1");
  CHECK(run.report.at("interface") == "mpir");
  CHECK(run.report.at("event") == "spawned");
  CHECK(std::to_string(run.report.at("starter").at("pid").get<long>()) == run.said("starter_pid"));
  CHECK(run.report.at("starter").at("executable") == run.said("executable"));
  CHECK(run.report.at("starter").at("mode") == "launch");
  CHECK(run.report.at("layout").at("source") == kind.layout_source);
  check_processes(run);
  check_symbols(run);
  check_layout(run);
}

TEST_CASE("an exec'ing wrapper is followed into the starter") {
  const auto how = GENERATE(values<std::string>({"exec", "thread"}));
  const launched run = launch({"wrapper", how, fixture("starter_pie"), "--exit", "4"});
  INFO(run.command.err);
  CHECK(run.command.exit_code == 4);
  REQUIRE(run.report.is_object());
  CHECK(run.report.at("starter").at("executable") == fixture("starter_pie"));
  check_processes(run);
}

TEST_CASE("state 0 is not reported, state 1 gives the table, and state 2 gives the reason of the abort") {
  const launched run = launch({"starter_three_states"});
  INFO(run.command.err);
  CHECK(run.command.exit_code == 0);
  REQUIRE(run.report.is_object());
  // The file holds the last event.
  CHECK(run.report.at("event") == "aborting");
  CHECK(run.report.at("abort_reason") == run.said("abort_string"));
  CHECK(run.said("breakpoint_calls") == "3");
  check_processes(run);
}

TEST_CASE("an abort without a spawn and without a reason is reported as such") {
  const launched run = launch({"starter_aborts_silently", "--exit", "6"});
  CHECK(run.command.exit_code == 6);
  REQUIRE(run.report.is_object());
  CHECK(run.report.at("event") == "aborting");
  CHECK(run.report.at("abort_reason").is_null());
  CHECK(run.report.at("processes").empty());
}

TEST_CASE("a table that grows is reported again") {
  const launched run = launch({"starter_grows", "--ranks", "6"});
  INFO(run.command.err);
  CHECK(run.command.exit_code == 0);
  REQUIRE(run.report.is_object());
  check_processes(run);
}

TEST_CASE("256 threads that call the breakpoint at once make one report") {
  const scratch_folder folder;
  const std::string report = folder.path("report");
  command_options how;
  how.environment["MPIACQ_ORACLE"] = folder.path("oracle");
  // A stream gets each report; a file would hold the last only.
  const auto run = run_command({MPIACQ_COMMAND, "launch", "--json", "-o", "-", "--", fixture("starter_threads")}, how);
  CHECK(run.exit_code == 0);
  std::size_t documents = 0;
  for (std::size_t at = 0; (at = run.out.find("\"schema\":\"mpiacq.job/1\"", at)) != std::string::npos; ++at)
    ++documents;
  CHECK(documents == 1);
  CHECK(read_oracle(folder.path("oracle")).at("breakpoint_calls") == "256");
}

TEST_CASE("a forked child that calls the breakpoint function runs on to its own end") {
  const launched run = launch({"starter_children_call"});
  CHECK(run.command.exit_code == 0);
  // Each calls it twice and exits with 17: three before the job is announced, three after.
  for (int child = 0; child < 6; ++child) {
    INFO("child " << child);
    CHECK(run.said("child." + std::to_string(child) + ".breakpoint_calls") == "2");
    CHECK(run.said("child." + std::to_string(child) + ".wait_status") == "0x1100");
  }
}

TEST_CASE("flags count by presence, whatever they are") {
  const launched run = launch({"starter_flags"});
  CHECK(run.command.exit_code == 0);
  REQUIRE(run.report.is_object());
  for (const char* flag :
       {"MPIR_partial_attach_ok", "MPIR_acquired_pre_main", "MPIR_force_to_main", "MPIR_ignore_queues"}) {
    INFO(flag);
    CHECK(run.report.at("symbols").contains(flag));
  }
}

TEST_CASE("a starter without MPIR_i_am_starter is rank 0 itself") {
  const launched run = launch({"starter_rank_zero"});
  CHECK(run.command.exit_code == 0);
  REQUIRE(run.report.is_object());
  CHECK(run.report.at("starter").at("is_rank") == true);
  CHECK(launch({"starter_pie"}).report.at("starter").at("is_rank") == false);
}

TEST_CASE("the resource manager's job and step ids are read") {
  const launched run = launch({"starter_extensions"});
  REQUIRE(run.report.is_object());
  CHECK(run.report.at("starter").at("job_id") == run.said("job_id"));
  CHECK(run.report.at("starter").at("step_id") == run.said("step_id"));
}

TEST_CASE("a bad field is a problem of that field alone") {
  const launched run = launch({"starter_bad_strings", "--ranks", "10"});
  INFO(run.command.err);
  CHECK(run.command.exit_code == 0);
  REQUIRE(run.report.is_object());
  const json& processes = run.report.at("processes");
  REQUIRE(processes.size() == 10);
  std::size_t faults = 0;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const std::string rank = "rank." + std::to_string(i);
    const bool bad_host = run.oracle.count(rank + ".host_fault") != 0;
    const bool bad_executable = run.oracle.count(rank + ".exe_fault") != 0;
    const bool bad_pid = run.oracle.count(rank + ".pid_published") != 0;
    INFO(rank << ": " << processes[i].dump());
    CHECK(processes[i].at("host").is_null() == bad_host);
    CHECK(processes[i].at("executable").is_null() == bad_executable);
    if (!bad_host) CHECK(processes[i].at("host") == run.said(rank + ".host"));
    if (!bad_executable) CHECK(processes[i].at("executable") == run.said(rank + ".exe"));
    const auto expected = static_cast<std::size_t>(bad_host) + static_cast<std::size_t>(bad_executable) +
                          static_cast<std::size_t>(bad_pid);
    CHECK(processes[i].at("problems").size() == expected);
    faults += expected;
  }
  CHECK(faults == 8);
}

TEST_CASE("strings at the end of the last mapped page are read to their end, or are that field's problem") {
  const launched run = launch({"starter_page_end"});
  INFO(run.command.err);
  REQUIRE(run.report.is_object());
  const json& processes = run.report.at("processes");
  std::size_t unterminated = 0;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const std::string rank = "rank." + std::to_string(i);
    for (const auto& [field, key] : {std::pair{"host", ".host"}, std::pair{"executable", ".exe"}}) {
      INFO(rank << key);
      if (run.oracle.count(rank + key + "_fault") != 0) {
        CHECK(processes[i].at(field).is_null());
        ++unterminated;
      } else {
        CHECK(processes[i].at(field) == run.said(rank + key));
      }
    }
  }
  CHECK(unterminated > 0);
}

TEST_CASE("a starter in which MPIR_Breakpoint was inlined is caught at its write of MPIR_debug_state") {
  if (!has_breakpoint_registers()) MPIACQ_SKIP(breakpoint_registers_have_no_effect);
  const launched run = launch({"starter_inlined", "--exit", "4"});
  INFO(run.command.err);
  CHECK(run.command.exit_code == 4);
  REQUIRE(run.report.is_object());
  CHECK(run.report.at("event") == "spawned");
  REQUIRE(run.report.at("processes").size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(std::to_string(run.report.at("processes")[i].at("pid").get<long>()) ==
          run.said("rank." + std::to_string(i) + ".pid"));
  }
  CHECK(run.said("breakpoint_calls") == "0");
}

TEST_CASE("a starter that writes its state before its table, and calls no function, is examined again") {
  if (!has_breakpoint_registers()) MPIACQ_SKIP(breakpoint_registers_have_no_effect);
  const scratch_folder folder;
  std::array<int, 2> input{};
  REQUIRE(::pipe2(input.data(), O_CLOEXEC) == 0);
  command_options how;
  how.in_child = [&] { ::dup2(input[0], STDIN_FILENO); };
  const std::string report = folder.path("report");
  running_command tool({MPIACQ_COMMAND, "launch", "--json", "-o", report, "--", fixture("starter_inlined"), "late",
                        "--hold", "--exit", "6"},
                       how);
  const bool reported = comes_true([&] { return json::accept(file_contents(report)); });
  ::close(input[0]);
  ::close(input[1]);  // and it goes on
  const command_outcome ended = tool.wait();
  INFO(ended.err);
  REQUIRE(reported);
  CHECK(json::parse(file_contents(report)).at("processes").size() == 4);
  CHECK(ended.exit_code == 6);
}

TEST_CASE("a launched program ignores the signals that it would ignore without mpiacq (nohup)") {
  const std::vector<std::string> asks = {"grep", "^SigIgn:", "/proc/self/status"};
  std::vector<std::string> launches = {MPIACQ_COMMAND, "launch", "--"};
  launches.insert(launches.end(), asks.begin(), asks.end());
  command_options how;
  SECTION("none") {}
  SECTION("one that nohup ignores") {
    how.in_child = [] { ::signal(SIGHUP, SIG_IGN); };
  }
  SECTION("one that mpiacq is interested in itself") {
    how.in_child = [] {
      ::signal(SIGCHLD, SIG_IGN);
      ::signal(SIGPIPE, SIG_IGN);
    };
  }
  const command_outcome plain = run_command(asks, how);
  REQUIRE(plain.exit_code == 0);
  CHECK(run_command(launches, how).out == plain.out);
}
