// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The tool daemon launch extension (MPIR 1.1, 7.1 and 7.2) on the distribution's mpirun. Its two nodes are host names
// of UTS namespaces on this machine, which mpirun reaches through a remote shell that is a script of ours.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include <sys/stat.h>

#include "openmpi.hpp"
#include "running_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

/// mpirun calls it with options, a host, and a command for that host's shell.
constexpr auto remote_shell = R"(#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
exec unshare --uts sh -c 'hostname "$0" && exec sh -c "$*"' "$host" "$@"
)";

bool can_have_nodes() {
  return run_command({"unshare", "--uts", "hostname", "n1"}).exit_code == 0;
}
constexpr const char* no_nodes = "this user may not make UTS namespaces, which stand for the nodes";

/// Four ranks on the nodes n1 and n2.
std::vector<std::string> two_node_line(const scratch_folder& folder) {
  const std::string shell = folder.path("remote_shell");
  std::ofstream(shell) << remote_shell;
  REQUIRE(::chmod(shell.c_str(), 0755) == 0);
  return {mpirun,
          "--oversubscribe",
          "--mca",
          "plm_rsh_agent",
          shell,
          "--mca",
          "oob_tcp_if_include",
          "lo",
          "--mca",
          "btl",
          "tcp,self",
          "--mca",
          "btl_tcp_if_include",
          "lo",
          "-H",
          "n1:2,n2:2",
          "-n",
          "4",
          rank_program("mpi_pids_openmpi"),
          "--exit",
          "3"};
}

const std::vector<std::string> odd_arguments = {"two words", "a\ttab and  blanks ", "--like=an-option", "'\"\\$HOME"};

std::vector<std::string> daemon_options(const std::string& file) {
  std::vector<std::string> options = {"--daemon", rank_program("tool_daemon"), "--daemon-arg", file};
  for (const std::string& argument : odd_arguments) options.push_back("--daemon-arg=" + argument);
  return options;
}

/// What every daemon that was told to write `file` wrote.
std::vector<std::map<std::string, std::string>> daemons_that_wrote(const std::string& file) {
  std::vector<std::map<std::string, std::string>> all;
  const std::filesystem::path path(file);
  for (const auto& entry : std::filesystem::directory_iterator(path.parent_path())) {
    const std::string name = entry.path().filename();
    if (name.starts_with(path.filename().string() + ".") && !name.ends_with(".new")) {
      all.push_back(read_oracle(entry.path()));
    }
  }
  return all;
}

/// One on each of these nodes, each a rank of one namespace of its own, each with exactly our arguments. Gives that
/// namespace.
std::string check_daemons(const std::string& file, const std::set<std::string>& nodes) {
  CHECK(comes_true([&] { return daemons_that_wrote(file).size() >= nodes.size(); }));
  std::set<std::string> hosts, ranks, namespaces;
  const auto daemons = daemons_that_wrote(file);
  CHECK(daemons.size() == nodes.size());
  for (const auto& daemon : daemons) {
    hosts.insert(daemon.at("host"));
    ranks.insert(daemon.at("rank"));
    namespaces.insert(daemon.at("namespace"));
    CHECK(daemon.at("program") == rank_program("tool_daemon"));
    CHECK(daemon.at("arguments") == std::to_string(odd_arguments.size() + 1));
    CHECK(daemon.at("argument1") == file);
    for (std::size_t i = 0; i < odd_arguments.size(); ++i) {
      CHECK(daemon.at("argument" + std::to_string(i + 2)) == odd_arguments[i]);
    }
  }
  CHECK(hosts == nodes);
  CHECK(ranks.size() == nodes.size());
  REQUIRE(namespaces.size() == 1);
  CHECK_FALSE(namespaces.begin()->empty());
  return *namespaces.begin();
}

}  // namespace

TEST_CASE("Open MPI: launch starts the tool's daemon once on each node, with its arguments") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  if (!can_have_nodes()) MPIACQ_SKIP(no_nodes);
  const scratch_folder folder;
  const std::string file = folder.path("daemon");
  std::vector<std::string> line = {MPIACQ_COMMAND, "launch", "--json", "-o", folder.path("report")};
  for (const std::string& option : daemon_options(file)) line.push_back(option);
  line.emplace_back("--");
  for (const std::string& word : two_node_line(folder)) line.push_back(word);
  const auto run = run_command(line, openmpi_options());
  INFO(run.err);
  INFO(run.out);
  CHECK(run.exit_code == 3);
  CHECK_THAT(run.err, ContainsSubstring("the starter has launched the daemons"));
  const json report = json::parse(file_contents(folder.path("report")));
  CHECK(pids_reported(report) == pids_printed(run.out));
  CHECK(report.at("facts").at("daemons") == "done");
  CHECK(report.at("problems").empty());
  for (const json& process : report.at("processes")) {
    CHECK(process.at("state") == "remote");
    CHECK(process.at("host") == (process.at("rank") < 2 ? "n1" : "n2"));
  }
  check_daemons(file, {"n1", "n2"});
}

TEST_CASE("Open MPI: attach has the daemon started on each node of a running job") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  if (!can_have_nodes()) MPIACQ_SKIP(no_nodes);
  const scratch_folder folder;
  running_job job(two_node_line(folder), 4);
  REQUIRE(job.ranks().size() == 4);
  const std::string before = daemon_variables(job);
  std::vector<std::string> line = {MPIACQ_COMMAND, "attach"};
  for (const std::string& option : daemon_options(folder.path("daemon"))) line.push_back(option);
  line.push_back(job.pid_text());
  const auto run = run_command(line, openmpi_options());
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.err, ContainsSubstring("the starter has launched the daemons"));
  check_daemons(folder.path("daemon"), {"n1", "n2"});
  CHECK(daemon_variables(job) == before);
  CHECK(job.disturbed() == "");
  const job_end end = job.finish();
  INFO(end.out);
  CHECK(end.as_shell() == 3);
  CHECK(end.all_ranks_ended(4));
}

TEST_CASE("Open MPI: a second tool that attaches has its own daemon started, and not the first one's again") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  const scratch_folder folder;
  running_job job(mpirun_line(2, {"--exit", "3"}), 2);
  REQUIRE(job.ranks().size() == 2);
  const std::string before = daemon_variables(job);
  const std::string here = run_command({"hostname"}).out;
  const std::set<std::string> node = {here.substr(0, here.find('\n'))};
  std::set<std::string> namespaces;
  for (const char* const name : {"first", "second", "third"}) {
    INFO(name);
    std::vector<std::string> line = {MPIACQ_COMMAND, "attach"};
    for (const std::string& option : daemon_options(folder.path(name))) line.push_back(option);
    line.push_back(job.pid_text());
    const auto run = run_command(line, openmpi_options());
    INFO(run.err);
    CHECK(run.exit_code == 0);
    CHECK_THAT(run.err, ContainsSubstring("the starter has launched the daemons"));
    namespaces.insert(check_daemons(folder.path(name), node));
    CHECK(daemon_variables(job) == before);
  }
  CHECK(namespaces.size() == 3);
  // One that wants none has none started.
  CHECK(run_command({MPIACQ_COMMAND, "attach", job.pid_text()}).exit_code == 0);
  const job_end end = job.finish();
  INFO(end.out);
  CHECK(end.as_shell() == 3);
  CHECK(end.all_ranks_ended(2));
  for (const char* const name : {"first", "second", "third"}) check_daemons(folder.path(name), node);
}
