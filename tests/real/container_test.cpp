// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Jobs of the distribution's Open MPI in pid and mount namespaces of their own, as in a container. The ranks print
// their numbers in the container; the environment of the processes of this node says which of them is which rank.
#include <algorithm>
#include <filesystem>
#include <map>

#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "openmpi.hpp"
#include "running_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

constexpr int ranks_in_all = 3;

/// Why no container can be made here; empty if one can.
std::string why_no_container(int more_namespaces = 0) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::unshare(CLONE_NEWPID | CLONE_NEWNS | more_namespaces) == 0 ? 0 : 1);
  int status = 0;
  (void)::waitpid(child, &status, 0);
  return status == 0 ? "" : "this user cannot make pid and mount namespaces here";
}

std::vector<std::string> in_container(std::vector<std::string> options, const std::vector<std::string>& command) {
  std::vector<std::string> line = {"unshare", "--pid", "--mount", "--mount-proc", "--kill-child"};
  line.insert(line.end(), options.begin(), options.end());
  line.insert(line.end(), command.begin(), command.end());
  return line;
}

long parent_of(long pid) {
  constexpr std::string_view line = "\nPPid:\t";
  const std::string status = file_contents("/proc/" + std::to_string(pid) + "/status");
  const std::size_t at = status.find(line);
  return at == std::string::npos ? 0 : std::atol(status.c_str() + at + line.size());
}

bool descends_from(long pid, long ancestor) {
  while (pid > 1 && pid != ancestor) pid = parent_of(pid);
  return pid == ancestor;
}

/// The processes of this node that have a rank's number and descend from the job, by rank.
std::map<long, long> pids_here(const running_job& job) {
  constexpr std::string_view variable = "OMPI_COMM_WORLD_RANK=";
  std::map<long, long> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const long pid = std::atol(entry.path().filename().c_str());
    const std::string environment = pid > 0 ? file_contents(entry.path() / "environ") : "";
    const std::size_t at = ('\0' + environment).find(std::string{'\0'} + std::string(variable));
    if (at == std::string::npos || !descends_from(pid, job.pid())) continue;
    found[std::atol(environment.c_str() + at + variable.size())] = pid;
  }
  return found;
}

/// The starter in the container: the only child of `unshare`.
std::string starter_of(const running_job& job) {
  const std::string children = file_contents("/proc/" + job.pid_text() + "/task/" + job.pid_text() + "/children");
  return children.substr(0, children.find(' '));
}

/// The user that runs mpiacq: the user of this test, or one without rights, to whom the job belongs, too.
enum class looked_at_by { this_user, user_without_rights };

json reported(const std::vector<std::string>& words, looked_at_by who) {
  std::vector<std::string> line = {MPIACQ_COMMAND};
  line.insert(line.end(), words.begin(), words.end());
  auto how = openmpi_options();
  how.as_nobody = who == looked_at_by::user_without_rights;
  const auto run = run_command(line, how);
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  return json::parse(run.out);
}

void check_processes(const json& report, const running_job& job, const std::map<long, long>& here) {
  REQUIRE(report.at("processes").size() == here.size());
  for (const json& process : report.at("processes")) {
    const long rank = process.at("rank");
    CHECK(process.at("pid") == here.at(rank));
    CHECK(process.at("container_pid") == job.ranks().at(rank));
    CHECK(process.at("local") == true);
    CHECK(process.at("state") == "running");
  }
}

void check_job_in_container(running_job& job, looked_at_by who = looked_at_by::this_user) {
  REQUIRE(job.ranks().size() == ranks_in_all);
  const auto here = pids_here(job);
  REQUIRE(here.size() == ranks_in_all);
  // The container has numbers of its own.
  CHECK(
      std::any_of(here.begin(), here.end(), [&](const auto& one) { return job.ranks().at(one.first) != one.second; }));
  const std::string starter = starter_of(job);
  for (const std::string& named : {job.pid_text(), starter, std::to_string(here.at(1))}) {
    INFO("by process " << named);
    const json report = reported({"attach", "--json", named}, who);
    CHECK(report.at("starter").at("pid") == std::atol(starter.c_str()));
    check_processes(report, job, here);
    const json stacks = reported({"stacks", "--json", named}, who);
    REQUIRE(stacks.at("ranks").size() == here.size());
    for (const json& rank : stacks.at("ranks")) {
      CHECK(rank.at("pid") == here.at(rank.at("rank")));
      CHECK(rank.at("outcome") == "taken");
    }
  }
  for (const auto& [rank, pid] : here) CHECK(comes_true([pid = pid] { return disturbed_threads(pid).empty(); }));
  const job_end end = job.finish();
  INFO(end.out);
  CHECK(end.as_shell() == 3);
  CHECK(end.all_ranks_ended(ranks_in_all));
}

}  // namespace

TEST_CASE("container: a job in a pid namespace of its own is found by its starter, its wrapper, and a rank") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  if (const auto why = why_no_container(); !why.empty()) MPIACQ_SKIP(why);
  running_job job(in_container({}, mpirun_line(ranks_in_all, {"--exit", "3"})), ranks_in_all);
  check_job_in_container(job);
}

TEST_CASE("container: a job in a user namespace is found, and a host name of its own names this node") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  if (const auto why = why_no_container(CLONE_NEWUSER | CLONE_NEWUTS); !why.empty()) MPIACQ_SKIP(why);
  auto command = mpirun_line(ranks_in_all, {"--exit", "3"});
  command.insert(command.begin(), {"sh", "-c", "hostname inside && exec \"$@\"", "sh"});
  running_job job(in_container({"--user", "--map-root-user", "--uts"}, command), ranks_in_all);
  check_job_in_container(job);
}

TEST_CASE("container: a job in namespaces of a user without rights is found by that user") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  if (::geteuid() != 0) MPIACQ_SKIP("this user is not root: the tests of user namespaces are such a user's already");
  const std::vector<std::string> as_nobody = {"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"};
  auto tried = as_nobody;
  for (const std::string& word : in_container({"--user", "--map-root-user"}, {rank_program("plain_pids"), "--help"})) {
    tried.push_back(word);
  }
  if (const auto run = run_command(tried); run.exit_code != 0) {
    MPIACQ_SKIP("a user without rights cannot run a rank in a user namespace here: " + run.err);
  }
  // In the namespace the user is called root, like the owner of a folder of sessions that may be in /tmp already.
  const scratch_folder own;
  REQUIRE(::chmod(own.path("").c_str(), 01777) == 0);
  auto line = as_nobody;
  const std::vector<std::string> plain = {"env", "HOME=/tmp", "TMPDIR=" + own.path("")};
  for (const auto& part :
       {plain, in_container({"--user", "--map-root-user"}, mpirun_line(ranks_in_all, {"--exit", "3"}))}) {
    line.insert(line.end(), part.begin(), part.end());
  }
  running_job job(line, ranks_in_all);
  INFO(job.out());
  check_job_in_container(job, looked_at_by::user_without_rights);
}

TEST_CASE("container: launch reports the ranks of a starter that it follows into a pid namespace") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  if (const auto why = why_no_container(); !why.empty()) MPIACQ_SKIP(why);
  const scratch_folder folder;
  std::vector<std::string> line = {MPIACQ_COMMAND, "launch", "--json", "-o", folder.path("report"), "--"};
  const auto job = in_container({}, mpirun_line(ranks_in_all, {"--exit", "3"}));
  line.insert(line.end(), job.begin(), job.end());
  const auto run = run_command(line, openmpi_options());
  INFO(run.err);
  CHECK(run.exit_code == 3);
  const json report = json::parse(file_contents(folder.path("report")));
  std::map<long, long> inside;
  for (const json& process : report.at("processes")) {
    inside[process.at("rank")] = process.at("container_pid");
    CHECK(process.at("pid") != process.at("container_pid"));
    CHECK(process.at("state") == "running");
  }
  CHECK(inside == pids_printed(run.out));
}

TEST_CASE("container: a number that is no process here is explained, if the command is in a container itself") {
  if (const auto why = why_no_container(); !why.empty()) MPIACQ_SKIP(why);
  const auto run = run_command(in_container({}, {MPIACQ_COMMAND, "stacks", std::to_string(::getpid())}));
  CHECK(run.exit_code == 125);
  CHECK_THAT(run.err, ContainsSubstring("container"));
}
