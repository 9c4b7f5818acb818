// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Names from a process table in the command lines of other programs: the commands of --each, ssh and srun.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <sys/stat.h>

#include "catch.hpp"
#include "mpiacq/base/host_names.hpp"
#include "start/starter_command.hpp"
#include "victim.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// While the object lives, a folder at the front of PATH has commands that record their runs and fail.
class failing_commands {
 public:
  failing_commands() : path_(::getenv("PATH")) {
    for (const char* name : {"ssh", "srun"}) {
      std::ofstream(folder_.path(name)) << "#!/bin/sh\necho " << name << " \"$@\" >> " << folder_.path("called")
                                        << "\nexit 255\n";
      ::chmod(folder_.path(name).c_str(), 0755);
    }
    ::setenv("PATH", (folder_.path("") + ":" + path_).c_str(), 1);
  }
  ~failing_commands() { ::setenv("PATH", path_.c_str(), 1); }
  failing_commands(const failing_commands&) = delete;
  failing_commands& operator=(const failing_commands&) = delete;
  [[nodiscard]] std::string called() const { return file_contents(folder_.path("called")); }

 private:
  std::string path_;
  scratch_folder folder_;
};

command_outcome each(const running_starter& starter, const std::string& command) {
  return run_command({MPIACQ_COMMAND, "attach", "-o", "/dev/null", "--each", command, std::to_string(starter.pid())});
}

}  // namespace

TEST_CASE("a host is a name, an address or a number") {
  for (const char* host : {"n17", "N17.cluster.example", "node_3", "42", "10.0.0.1", "::1", "fe80::1%eth0",
                           "fe80::1%br-lan", "_gateway", "a-b"}) {
    INFO(host);
    CHECK(is_host_name(host));
  }
  const std::string long_name(256, 'a');
  for (const std::string& host :
       {std::string(), std::string("-oProxyCommand=id"), std::string("n1 n2"), std::string("n1,n2"),
        std::string("n[1-9]"), std::string("user@n1"), std::string("n1;id"), std::string("$(id)"), std::string("n1\n"),
        std::string("n\xc3\xb6"), std::string("n1\0", 3), std::string("../n1"), std::string(".n1"), std::string("::1%"),
        std::string("::1%$(id)"), std::string("\x1b[31m"), long_name}) {
    INFO(host);
    CHECK_FALSE(is_host_name(host));
  }
}

TEST_CASE("an executable that begins with '-' does not become an option of a command") {
  const victim process;
  running_starter starter({"lists_others", "--hold", "--exe", "-ex", process.number()});
  starter.ready();
  const auto run = each(starter, "printf '%s|' {exe} end");
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.out, ContainsSubstring("0: ./-ex|end|"));
}

TEST_CASE("a host that begins with '-' is no host, even if its rank gives its node that name") {
  const std::string host = GENERATE(values<std::string>({"-oProxyCommand=id", "n17 n18", "n17;id"}));
  const victim process({"PMI_RANK=0", "SLURMD_NODENAME=" + host});
  running_starter starter({"lists_others", "--hold", "--host", host, process.number()});
  starter.ready();
  const auto run = each(starter, "echo {host}");
  INFO(run.err);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, ContainsSubstring("not run for rank 0, on other nodes"));
  const failing_commands commands;
  const auto stacks = run_command({MPIACQ_COMMAND, "stacks", "--agents", "ssh", std::to_string(starter.pid())});
  CHECK_THAT(stacks.err, ContainsSubstring("is no name of a host"));
  CHECK(commands.called().empty());
}

TEST_CASE("root runs ssh to hosts from another user's table only on request") {
  MPIACQ_NEEDS_ANOTHER_USER();
  const victim process;
  const failing_commands commands;
  SECTION("another user's table") {
    running_starter starter({"lists_others", "--hold", "--user", std::to_string(hostile_user), "--host",
                             "n17.elsewhere", process.number()});
    starter.ready();
    const auto unasked = run_command({MPIACQ_COMMAND, "stacks", std::to_string(starter.pid())});
    INFO(unasked.err);
    CHECK(commands.called().empty());
    CHECK_THAT(unasked.err, ContainsSubstring("no agent was started on n17.elsewhere"));
    CHECK_THAT(unasked.err, ContainsSubstring("user 12345"));
    CHECK_THAT(unasked.err, ContainsSubstring("--agents ssh"));
    const auto asked = run_command({MPIACQ_COMMAND, "stacks", "--agents", "ssh", std::to_string(starter.pid())});
    CHECK_THAT(commands.called(), ContainsSubstring("n17.elsewhere"));
  }
  SECTION("root's own table") {
    running_starter starter({"lists_others", "--hold", "--host", "n17.elsewhere", process.number()});
    starter.ready();
    const auto run = run_command({MPIACQ_COMMAND, "stacks", std::to_string(starter.pid())});
    CHECK_THAT(commands.called(), ContainsSubstring("n17.elsewhere"));
  }
}

TEST_CASE("only a possible Slurm job id goes into srun's command line") {
  for (const char* id : {"1", "4294967294", "17_3", "17+1"}) CHECK(agents::is_slurm_job_id(id));
  for (const std::string& id :
       {std::string(), std::string("-1"), std::string("1 --uid=0"), std::string("1\n2"), std::string("1,2"),
        std::string("job"), std::string("_1"), std::string("1_"), std::string("1\0", 2), std::string(33, '1')}) {
    INFO(id);
    CHECK_FALSE(agents::is_slurm_job_id(id));
  }
}
