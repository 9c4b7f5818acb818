// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Agents as the tool daemons of the distribution's mpirun (MPIR 1.1, 7.1 and 7.2), on this machine as its one node.
#include <cstdlib>
#include <fstream>

#include <sys/stat.h>

#include "agents_running.hpp"
#include "mpiacq/job/job.hpp"
#include "mpiacq/ranks/rank_group.hpp"
#include "openmpi.hpp"
#include "patience.hpp"
#include "running_job.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using nlohmann::json;

namespace {

command_outcome stacks(const std::vector<std::string>& options, const running_job& job) {
  std::vector<std::string> line = {MPIACQ_COMMAND, "stacks", "--json"};
  line.insert(line.end(), options.begin(), options.end());
  line.push_back(job.pid_text());
  return run_command(line, openmpi_options());
}

/// Nothing of ours is in it, and it ends as if nothing had been.
void check_left_alone(running_job& job, const std::string& said_before) {
  CHECK(comes_true([] { return agents_running() == 0; }));
  CHECK(comes_true([&] { return job.disturbed().empty(); }));
  const job_end end = job.finish();
  INFO(end.out);
  CHECK_FALSE(end.timed_out);
  CHECK(end.as_shell() == 3);
  CHECK(end.all_ranks_ended(job.ranks().size()));
  // What the agents print, and how they end, is not for the job's user. mpirun says that ranks ended with a status.
  CHECK(end.out.starts_with(said_before));
  CHECK(end.out.find("mpiacq") == std::string::npos);
}

}  // namespace

TEST_CASE("Open MPI: mpirun launches the agents for who looks at its running job, as often as one does") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  running_job job(mpirun_line(2, {"--exit", "3"}), 2);
  REQUIRE(job.ranks().size() == 2);
  const std::string said = job.out();
  const std::string before = daemon_variables(job);
  for (const int look : {1, 2}) {
    INFO("look " << look);
    // Who asks for agents gets one for every node, also for this one.
    const auto run = stacks({"--agents", "mpir"}, job);
    INFO(run.err);
    REQUIRE(run.exit_code == 0);
    CHECK(run.err == "");
    const json report = json::parse(run.out);
    CHECK(pids_reported({{"processes", report.at("ranks")}}) == job.ranks());
    CHECK(report.at("tree").at(0).at("ranks") == "0-1");
    CHECK(daemon_variables(job) == before);
  }
  check_left_alone(job, said);
}

TEST_CASE("Open MPI: launch shows stacks through mpirun's daemons, or has them go where all ranks are here") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  const auto* by = GENERATE("mpir", "automatic");
  INFO(by);
  const scratch_folder folder;
  std::vector<std::string> line = {MPIACQ_COMMAND,        "launch", "--stacks", "--agents", by, "--json", "-o",
                                   folder.path("report"), "--"};
  for (const std::string& word : mpirun_line(2, {"--exit", "3"})) line.push_back(word);
  const auto run = run_command(line, openmpi_options());
  INFO(run.err << run.out);
  CHECK(run.exit_code == 3);
  CHECK(run.err.find("mpiacq") == std::string::npos);
  const json report = json::parse(file_contents(folder.path("report")));
  CHECK(pids_reported(report) == pids_printed(run.out));
  CHECK(report.at("facts").at("daemons") == "done");
  CHECK(ranks_of_tree(report.at("stacks").at("tree")) == "0-1");
  CHECK(comes_true([] { return agents_running() == 0; }));
}

TEST_CASE("Open MPI: agents that cannot be run, or end at once, do the job no harm") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  const std::string contents = GENERATE("#!/nowhere/sh\n", "#!/bin/sh\necho mpiacq; exit 7\n");
  INFO(contents);
  const scratch_folder folder;
  std::ofstream(folder.path("agent")) << contents;
  REQUIRE(::chmod(folder.path("agent").c_str(), 0755) == 0);
  running_job job(mpirun_line(2, {"--exit", "3"}), 2);
  REQUIRE(job.ranks().size() == 2);
  const std::string said = job.out();
  const auto view = job::find(process_id{job.pid()}, {}, clock::now() + patience);
  REQUIRE(view.has_value());
  CHECK(view->facts.can_launch_daemons);
  rank_options options;
  options.agents->start = agent_start::mpir;
  options.agents->starter = process_id{job.pid()};
  options.agents->everywhere = true;
  options.agents->program = folder.path("agent");
  options.agents->start_limit = std::chrono::milliseconds(500);
  const auto ranks = view->ranks(options);
  REQUIRE(ranks.has_value());
  REQUIRE(ranks->nodes().size() == 1);
  REQUIRE(ranks->nodes()[0].why.has_value());
  CHECK_THAT(ranks->nodes()[0].why->message, ContainsSubstring("no agent has come from"));
  check_left_alone(job, said);
}
