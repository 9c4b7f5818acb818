// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Hosts whose names, addresses and pids are their own; and what launch says of a job on them.
#include "private_hosts.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "openmpi.hpp"
#include "slurm.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

std::vector<std::string> mpirun_on_all(const std::vector<std::string>& application) {
  std::vector<std::string> line = {mpirun, "--host", "h1:2,h2:2,h3:2,h4:2",
                                   "-n",   "8",      rank_program("mpi_pids_openmpi")};
  line.insert(line.end(), application.begin(), application.end());
  return line;
}

/// Of tasks that are no MPI processes: over TCP between hosts, Open MPI 4.1 started by srun now and then calls a null
/// pointer in MPI_Init, and MPICH 4.0 hangs in its barrier.
std::vector<std::string> srun_on_all(const std::vector<std::string>& application) {
  std::vector<std::string> line = {"srun", "-N4", "-n8", rank_program("plain_pids")};
  line.insert(line.end(), application.begin(), application.end());
  return line;
}

/// Where ranks must be: two on each host, in order.
std::map<long, std::string> two_on_each() {
  std::map<long, std::string> hosts;
  for (long rank = 0; rank < 8; ++rank) hosts[rank] = private_hosts::names().at(static_cast<std::size_t>(rank / 2));
  return hosts;
}

std::string namespace_of(pid_t pid, const char* kind) {
  std::error_code none;
  return std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/ns/" + kind, none).string();
}

/// The processes of this machine that are in one of these namespaces.
std::set<std::string> processes_in(const std::set<std::string>& namespaces) {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    for (const char* kind : {"pid", "net", "mnt", "uts"}) {
      if (namespaces.count(namespace_of(std::stoi(name), kind)) != 0) found.insert(name);
    }
  }
  return found;
}

std::set<std::string> interfaces() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/class/net")) names.insert(entry.path().filename());
  return names;
}

/// What the report says of each rank, against what the rank said; the starter is on h1.
void check_table(const json& report, const std::string& printed) {
  REQUIRE(pids_printed(printed).size() == 8);
  CHECK(hosts_printed(printed) == two_on_each());
  CHECK(pids_reported(report) == pids_printed(printed));
  for (const json& process : report.at("processes")) {
    INFO(process.dump());
    const std::string host = hosts_printed(printed).at(process.at("rank").get<long>());
    CHECK(process.at("host") == host);
    CHECK(process.at("local") == (host == "h1"));
    CHECK((process.at("state") == "remote") == (host != "h1"));
  }
}

}  // namespace

TEST_CASE("Remote hosts: names, addresses and pids are each host's own") {
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  std::set<std::string> namespaces, first_processes;
  for (const std::string& host : private_hosts::names()) {
    INFO(host);
    CHECK(hosts.run(host, {"uname", "-n"}).out == host + "\n");
    const pid_t first = hosts.pid(host);
    REQUIRE(first > 1);
    first_processes.insert(std::to_string(first));
    for (const char* kind : {"pid", "net", "mnt", "uts", "ipc"}) namespaces.insert(namespace_of(first, kind));
    // As the kernel says, one number is four processes.
    const std::string status = file_contents("/proc/" + std::to_string(first) + "/status");
    CHECK_THAT(status,
               ContainsSubstring("NSpid:\t" + std::to_string(first) + "\t") && ContainsSubstring("\t1\nNSpgid"));
    CHECK_THAT(hosts.run(host, {"readlink", "/proc/1/ns/pid"}).out, ContainsSubstring(namespace_of(first, "pid")));
    const std::string address = "10.53.0." + host.substr(1);
    CHECK_THAT(hosts.run(host, {"ip", "-4", "-o", "addr"}).out, ContainsSubstring(" " + address + "/24 "));
    CHECK_THAT(hosts.run("h1", {"getent", "hosts", host}).out, ContainsSubstring(address + " "));
  }
  CHECK(first_processes.size() == 4);
  CHECK(namespaces.size() == 4 * 5);
  CHECK(hosts.run("h2", {"sh", "-c", "exit 5"}).exit_code == 5);
}

TEST_CASE("Remote hosts: srun has a job on all of them") {
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  const auto run = hosts.run("h1", srun_on_all({"--exit", "3"}), openmpi_options());
  INFO(run.err);
  CHECK(run.exit_code == 3);
  CHECK(hosts_printed(run.out) == two_on_each());
}

TEST_CASE("Remote hosts: mpirun has a job on all of them, through ssh") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  const auto run = hosts.run("h1", mpirun_on_all({"--exit", "3"}), openmpi_options());
  INFO(run.err);
  CHECK(run.exit_code == 3);
  CHECK(hosts_printed(run.out) == two_on_each());
}

TEST_CASE("Remote hosts: a host that is cut off does not answer until it is reconnected") {
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  const std::vector<std::string> call = {"ssh", "-o", "ConnectTimeout=1", "h3", "uname", "-n"};
  CHECK(hosts.run("h1", call).out == "h3\n");
  REQUIRE(hosts.cut("h3"));
  const auto unanswered = hosts.run("h1", call);
  CHECK(unanswered.exit_code == 255);
  CHECK(unanswered.out.empty());
  // It lives on meanwhile, as do the others.
  CHECK(hosts.run("h3", {"uname", "-n"}).out == "h3\n");
  CHECK(hosts.run("h1", {"ssh", "h2", "uname", "-n"}).out == "h2\n");
  REQUIRE(hosts.mend("h3"));
  CHECK(hosts.run("h1", {"ssh", "-o", "ConnectTimeout=10", "h3", "uname", "-n"}).out == "h3\n");
}

TEST_CASE("Remote hosts: nothing of the hosts is left, however their keeper ends") {
  const bool killed = GENERATE(false, true);
  INFO("killed: " << killed);
  const std::set<std::string> before = interfaces();
  private_hosts hosts;
  if (hosts.cannot_be()) MPIACQ_SKIP(hosts.said());
  INFO(hosts.said());
  REQUIRE(hosts.are_up());
  std::set<std::string> namespaces;
  for (const std::string& host : private_hosts::names()) {
    for (const char* kind : {"pid", "net", "mnt", "uts"}) namespaces.insert(namespace_of(hosts.pid(host), kind));
  }
  // A task of Slurm's, and a child that has left its session.
  running_command task(hosts.on("h1", {"srun", "-w", "h2", "sleep", "400"}));
  REQUIRE(hosts.run("h2", {"sh", "-c", "setsid -f sleep 400 >/dev/null 2>&1"}).exit_code == 0);
  CHECK(processes_in(namespaces).size() > 4);
  CHECK(interfaces() == before);
  if (killed) {
    REQUIRE(::kill(hosts.keeper(), SIGKILL) == 0);
    CHECK(comes_true([&] { return processes_in(namespaces).empty(); }));
    CHECK(run_command({MPIACQ_PRIVATE_HOSTS, "down", hosts.folder()}).exit_code == 0);
  }
  hosts.end();
  CHECK(processes_in(namespaces).empty());
  CHECK(interfaces() == before);
  CHECK(file_contents("/proc/self/mountinfo").find(hosts.folder()) == std::string::npos);
  CHECK_FALSE(std::filesystem::exists(hosts.folder()));
}

TEST_CASE("Remote hosts: launch of srun knows which ranks are here and where the others are") {
  if (is_installed("srun") && srun_has_inlined_its_breakpoint()) MPIACQ_SKIP(srun_without_breakpoint);
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  std::vector<std::string> line = {MPIACQ_COMMAND, "launch", "--json", "-o", hosts.path("report"), "--"};
  for (const std::string& word : srun_on_all({"--exit", "3"})) line.push_back(word);
  const auto run = hosts.run("h1", line, openmpi_options());
  INFO(run.err);
  CHECK(run.exit_code == 3);
  const json report = json::parse(file_contents(hosts.path("report")));
  check_table(report, run.out);
  for (const json& process : report.at("processes")) {
    if (process.at("host") == "h1") CHECK(process.at("state") == "stopped");
  }
}

TEST_CASE("Remote hosts: launch of mpirun knows which ranks are here and where the others are") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  std::vector<std::string> line = {MPIACQ_COMMAND, "launch", "--json", "-o", hosts.path("report"), "--"};
  for (const std::string& word : mpirun_on_all({"--exit", "3"})) line.push_back(word);
  const auto run = hosts.run("h1", line, openmpi_options());
  INFO(run.err);
  CHECK(run.exit_code == 3);
  check_table(json::parse(file_contents(hosts.path("report"))), run.out);
}
