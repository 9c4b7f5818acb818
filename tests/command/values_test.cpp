// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the command says of the interface's variables and flags, and of a job that aborts.
#include <csignal>
#include <fstream>

#include "attached.hpp"
#include "catch.hpp"
#include "launched.hpp"

using namespace mpiacq::test;
using nlohmann::json;

TEST_CASE("inspect shows what the variables of a process contain") {
  running_starter starter({"starter_extensions", "--hold", "--ranks", "3"});
  starter.ready();
  const std::string pid = std::to_string(starter.pid());
  const auto run = run_command({MPIACQ_COMMAND, "inspect", "--json", pid});
  REQUIRE(run.exit_code == 0);
  const json symbols = json::parse(run.out).at("symbols");
  CHECK(symbols.at("MPIR_proctable_size").at("value") == 3);
  CHECK(symbols.at("MPIR_debug_state").at("value") == 1);
  CHECK(symbols.at("MPIR_being_debugged").at("value") == 0);
  CHECK(symbols.at("MPIR_proctable").at("value") == starter.said("table"));
  CHECK(symbols.at("totalview_jobid").at("value") == starter.said("job_id"));
  CHECK(symbols.at("MPIR_executable_path").at("value") == "");
  CHECK_FALSE(symbols.at("MPIR_Breakpoint").contains("value"));
  const auto text = run_command({MPIACQ_COMMAND, "inspect", pid});
  CHECK_THAT(text.out, ContainsSubstring("\"" + starter.said("job_id") + "\""));
  const json of_file =
      json::parse(run_command({MPIACQ_COMMAND, "inspect", "--json", fixture("starter_extensions")}).out);
  CHECK_FALSE(of_file.at("symbols").at("MPIR_debug_state").contains("value"));
}

TEST_CASE("launch and attach print the flags of a starter") {
  const auto run = run_command({MPIACQ_COMMAND, "launch", "--", fixture("starter_flags")});
  for (const char* flag :
       {"MPIR_partial_attach_ok", "MPIR_acquired_pre_main", "MPIR_force_to_main", "MPIR_ignore_queues"}) {
    CHECK_THAT(run.err, ContainsSubstring(flag));
  }
  CHECK_THAT(run.err, ContainsSubstring("  a tool should show the source code of main first (MPIR_force_to_main)\n"));
  CHECK_THAT(run.err, !ContainsSubstring("MPIR_executable_path"));
  CHECK_THAT(run.err, ContainsSubstring("the ranks have not entered main yet"));
  running_starter flags({"starter_flags", "--hold"});
  flags.ready();
  const auto attached = run_command({MPIACQ_COMMAND, "attach", std::to_string(flags.pid())});
  CHECK_THAT(attached.out, ContainsSubstring("MPIR_partial_attach_ok") && !ContainsSubstring("entered main"));
  running_starter rank_zero({"starter_rank_zero", "--hold"});
  rank_zero.ready();
  CHECK_THAT(run_command({MPIACQ_COMMAND, "attach", std::to_string(rank_zero.pid())}).out,
             ContainsSubstring("the starter is rank 0 itself"));
  running_starter daemons({"starter_extensions", "--hold"});
  daemons.ready();
  const std::string pid = std::to_string(daemons.pid());
  CHECK_THAT(run_command({MPIACQ_COMMAND, "attach", pid}).out, ContainsSubstring("can launch a tool's daemons"));
  CHECK(json::parse(run_command({MPIACQ_COMMAND, "attach", "--json", pid}).out)["facts"]["can_launch_daemons"] == true);
}

TEST_CASE("a file has the text reports of all events, or the last JSON document") {
  const scratch_folder folder;
  const std::string file = folder.path("report");
  (void)run_command({MPIACQ_COMMAND, "launch", "-o", file, "--", fixture("starter_three_states")});
  const std::string text = file_contents(file);
  CHECK_THAT(text, ContainsSubstring("has spawned 4 processes"));
  CHECK_THAT(text, ContainsSubstring("aborts the job: rank 2 called MPI_Abort with 17"));
  CHECK(text.find("has spawned") < text.find("aborts the job"));
  (void)run_command({MPIACQ_COMMAND, "launch", "--json", "-o", file, "--", fixture("starter_three_states")});
  CHECK(json::parse(file_contents(file))["event"] == "aborting");
}

TEST_CASE("attach does not wait for the table of a starter that aborts") {
  running_starter starter({"starter_aborts_silently", "--hold"});
  starter.ready();
  command_options how;
  how.limit = std::chrono::seconds(20);
  const auto run = attach(starter.pid(), {}, how);
  CHECK_FALSE(run.command.timed_out);
  CHECK(run.command.exit_code == 125);
  CHECK(run.report["event"] == "aborting");
  CHECK_THAT(run.command.err, ContainsSubstring("has no process table"));
  CHECK(runs_freely(starter.pid()));
  CHECK(WEXITSTATUS(starter.end()) == 0);
}

TEST_CASE("the command names the option that does what the library recommends") {
  const auto run = run_command({MPIACQ_COMMAND, "inspect", fixture("starter_stripped_bare")});
  CHECK_THAT(run.out, ContainsSubstring("name the folder of the debug file"));
  CHECK_THAT(run.out, ContainsSubstring("(--debug-dir DIR)"));
  const auto as_json = run_command({MPIACQ_COMMAND, "inspect", "--json", fixture("starter_stripped_bare")});
  CHECK_THAT(as_json.out, !ContainsSubstring("--debug-dir"));
}
