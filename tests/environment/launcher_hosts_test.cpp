// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The other nodes of a job: lists of nodes, commands of ssh, and the job's name on another node.
#include "launcher_hosts.hpp"

#include "catch.hpp"
#include "made_up_node.hpp"
#include "node_list.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

using names = std::vector<std::string>;

std::string words(const names& all) {
  std::string text;
  for (const std::string& one : all) (text += one) += '\0';
  return text;
}

error_code refusal_of(std::string_view list) {
  const auto expanded = expand_node_list(list);
  REQUIRE_FALSE(expanded.has_value());
  return expanded.error().code;
}

}  // namespace

TEST_CASE("node list: names, ranges, zeros in front, and several ranges in a name") {
  CHECK(expand_node_list("n1").value() == names{"n1"});
  CHECK(expand_node_list("n1,m4.site").value() == names{"n1", "m4.site"});
  CHECK(expand_node_list("n[1-3,07],m4").value() == names{"n1", "n2", "n3", "n07", "m4"});
  CHECK(expand_node_list("n[098-101]-ib").value() == names{"n098-ib", "n099-ib", "n100-ib", "n101-ib"});
  CHECK(expand_node_list("r[1-2]c[8-9]").value() == names{"r1c8", "r1c9", "r2c8", "r2c9"});
  CHECK(expand_node_list("").value().empty());
}

TEST_CASE("node list: a short list that stands for more names than there is memory is refused at once") {
  CHECK(refusal_of("n[0-999999999]") == error_code::limit);
  CHECK(refusal_of("n[0-999999999999999999]") == error_code::limit);
  CHECK(refusal_of("n[1-1000]m[1-1000]") == error_code::limit);
  CHECK(refusal_of("a[0-99]b[0-99]c[0-99]d[0-99]e[0-99]f[0-99]g[0-99]h[0-99]i[0-99]") == error_code::limit);
  std::string many;
  for (int i = 0; i < 3; ++i) many += "n[1-65536],";
  CHECK(refusal_of(many) == error_code::limit);
  CHECK(expand_node_list("n[1-131072]").value().size() == most_listed_nodes);
}

TEST_CASE("node list: what is no list of host names is refused") {
  for (const char* list :
       {"n[1-3", "n[3-1]", "n[]", "n[1-]", "n[-1]", "n[a-b]", "n[1-2-3]", "n[99999999999999999999]",
        "-oProxyCommand=touch", "n1,-n2", "a b", "n;reboot", "n1,,n2", "n[1-2]\n", "n]", "[1-2]-[x]"}) {
    INFO(list);
    CHECK(refusal_of(list) == error_code::bad_format);
  }
}

TEST_CASE("ssh: the host is the first word that is no option and no value of one") {
  const auto host = [](const names& line) { return host_in_ssh_command(words(line)).value_or("(none)"); };
  CHECK(host({"/usr/bin/ssh", "-x", "h2", "/usr/bin/hydra_pmi_proxy", "--control-port", "h1:4000"}) == "h2");
  CHECK(host({"ssh", "-o", "BatchMode=yes", "-p", "22", "-tt", "h2", "orted"}) == "h2");
  CHECK(host({"ssh", "-oBatchMode=yes", "-p22", "alice@h2"}) == "h2");
  CHECK(host({"ssh", "-xo", "Port=4", "h2"}) == "h2");
  CHECK(host({"ssh", "--", "h2", "h3"}) == "h2");
  CHECK(host({"ssh", "-n", "--", "-oProxyCommand=x"}) == "(none)");
  CHECK(host({"ssh", "-x"}) == "(none)");
  CHECK(host({"ssh"}) == "(none)");
  CHECK(host({"srun", "h2"}) == "(none)");
  CHECK(host({"sshd", "h2"}) == "(none)");
  CHECK(host({"ssh", "h2;reboot"}) == "(none)");
  CHECK_FALSE(host_in_ssh_command("").has_value());
}

TEST_CASE("launcher's hosts: ssh commands of the starter, of its user alone") {
  const made_up_node node;
  node.put({.pid = 10, .parent = 1, .executable = "/usr/bin/mpiexec.hydra"});
  node.put({.pid = 11,
            .parent = 10,
            .executable = "/usr/bin/hydra_pmi_proxy",
            .arguments = {"hydra_pmi_proxy", "--control-port", "h1:4000", "--pgid", "0"}});
  node.put({.pid = 12, .parent = 11, .environment = hydra(0, 4)});
  node.put({.pid = 20, .parent = 10, .executable = "/usr/bin/ssh", .arguments = {"ssh", "-x", "h2", "x"}});
  node.put({.pid = 21, .parent = 10, .executable = "/usr/bin/ssh", .arguments = {"ssh", "-x", "h3", "x"}});
  node.put({.pid = 22, .parent = 10, .executable = "/usr/bin/ssh", .arguments = {"ssh", "h9"}, .user = 1001});
  node.put({.pid = 23, .parent = 1, .executable = "/usr/bin/ssh", .arguments = {"ssh", "h8"}});
  environment_jobs jobs(node.root());
  REQUIRE(jobs.all().size() == 1);
  std::vector<error> problems;
  CHECK(launcher_hosts_of(jobs, jobs.all().front(), problems) == names{"h2", "h3"});
  CHECK(problems.empty());
}

TEST_CASE("launcher's hosts: the list of nodes of Slurm, and a bad list as a problem") {
  const made_up_node node;
  node.put({.pid = 12, .environment = slurm(0, 4) + names{"SLURM_JOB_NODELIST=n[1-2]", "SLURM_STEP_NODELIST=n[2-3]"}});
  node.put({.pid = 13, .environment = slurm(0, 4, "43") + names{"SLURM_JOB_NODELIST=n[0-999999999]"}});
  environment_jobs jobs(node.root());
  REQUIRE(jobs.all().size() == 2);
  std::vector<error> problems;
  CHECK(launcher_hosts_of(jobs, jobs.all().front(), problems) == names{"n2", "n3"});
  CHECK(problems.empty());
  CHECK(launcher_hosts_of(jobs, jobs.all().back(), problems).empty());
  REQUIRE(problems.size() == 1);
  CHECK_THAT(problems.front().message, ContainsSubstring("SLURM_JOB_NODELIST of the job's ranks"));
}

TEST_CASE("key of a world: the same on each node, and another for another user or job") {
  const auto put_proxy = [](const made_up_node& node, int pid, int rank, const std::string& port, int user = 1000) {
    node.put(
        {.pid = pid,
         .executable = "/usr/bin/hydra_pmi_proxy",
         .arguments = {"hydra_pmi_proxy", "--control-port", port, "--pgid", "0", "--proxy-id", std::to_string(pid)},
         .user = user});
    node.put({.pid = pid + 1, .parent = pid, .environment = hydra(rank, 4), .user = user});
  };
  const made_up_node first, second;
  put_proxy(first, 10, 0, "h1:4000");
  put_proxy(second, 50, 1, "h1:4000");
  put_proxy(second, 60, 1, "h1:4001");
  put_proxy(second, 70, 1, "h1:4000", 1001);
  const environment_jobs jobs(first.root());
  REQUIRE(jobs.all().size() == 1);
  const std::string key = jobs.all().front().worlds.front().key;
  REQUIRE_FALSE(key.empty());
  const std::vector<std::string> keys = {"no such key", key};
  const auto there = worlds_with_keys(keys, second.root());
  REQUIRE(there.size() == 2);
  CHECK(there[0].ranks.empty());
  REQUIRE(there[1].ranks.size() == 1);
  CHECK(there[1].ranks.front().pid == process_id{51});
  CHECK(there[1].ranks.front().rank == 1);
}

TEST_CASE("key of a world: ranks that only their starter tells apart have none") {
  const made_up_node node;
  node.put({.pid = 10, .environment = hydra(0, 2)});
  const environment_jobs jobs(node.root());
  REQUIRE(jobs.all().size() == 1);
  CHECK(jobs.all().front().worlds.front().key.empty());
}
