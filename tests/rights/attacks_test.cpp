// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A starter of one user lists processes of another user, and root's tool reads its job.
#include <filesystem>

#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "victim.hpp"

using namespace mpiacq::test;

namespace {

std::string hostile() {
  return std::to_string(hostile_user);
}

/// The sentence of every report about a process of root's in that starter's table.
std::string whose(const victim& process) {
  return "process " + process.number() + " belongs to user 0, not to the starter's user (12345)";
}

command_outcome run_tool(std::vector<std::string> words) {
  words.insert(words.begin(), MPIACQ_COMMAND);
  command_options how;
  how.limit = std::chrono::seconds(120);
  return run_command(words, how);
}

/// The state of an entry in a report of `attach --json`.
std::string state_of_entry(const command_outcome& attached, std::size_t entry) {
  return nlohmann::json::parse(attached.out)["processes"][entry]["state"].get<std::string>();
}

/// Checks that the report names the process's user, and that the process was not stopped, read or written.
void check_left_alone(const command_outcome& run, const victim& process, const std::string& sleeps_before) {
  INFO(run.out << run.err);
  CHECK_FALSE(run.timed_out);
  CHECK_THAT(run.out + run.err, ContainsSubstring(whose(process)));
  CHECK(process.lives());
  CHECK(process.gate() == 0);
  CHECK(process.sleeps() == sleeps_before);
}

/// The state of a process that gives this node the name n17, in the report about a starter that lists it on n17.
std::string state_on_n17(const victim& process) {
  running_starter starter({"lists_others", "--hold", "--host", "n17", process.number()});
  starter.ready();
  return state_of_entry(run_tool({"attach", "--json", std::to_string(starter.pid())}), 0);
}

}  // namespace

TEST_CASE(
    "a process of another user that a starter lists is not stopped, read or written, and the report names its user") {
  MPIACQ_NEEDS_ANOTHER_USER();
  const victim process;
  const std::string before = process.sleeps();
  const scratch_folder folder;
  const std::string mark = folder.path("mark");
  const auto words = GENERATE_COPY(values<std::vector<std::string>>({{"attach"},
                                                                     {"attach", "--json"},
                                                                     {"attach", "--stacks"},
                                                                     {"attach", "--then", "kill"},
                                                                     {"stacks"},
                                                                     {"queues"},
                                                                     {"check"}}));
  running_starter starter({"lists_others", "--hold", "--user", hostile(), process.number()});
  starter.ready();
  REQUIRE(starter.said("user") == hostile());
  auto all = words;
  if (words.front() == "attach" && words.back() != "kill") all.insert(all.end(), {"--each", "touch " + mark});
  all.push_back(std::to_string(starter.pid()));
  check_left_alone(run_tool(all), process, before);
  CHECK_FALSE(std::filesystem::exists(mark));
}

TEST_CASE("a launched starter that becomes another user cannot list the launching user's processes") {
  MPIACQ_NEEDS_ANOTHER_USER();
  const victim process;
  const std::string before = process.sleeps();
  const auto words = GENERATE(
      values<std::vector<std::string>>({{"launch", "--stacks"}, {"launch", "--then", "kill"}, {"launch"}, {"check"}}));
  auto all = words;
  all.insert(all.end(), {"--", MPIACQ_STARTERS "/lists_others", "--user", hostile(), process.number()});
  check_left_alone(run_tool(all), process, before);
}

TEST_CASE("a process of the starter's own user is read") {
  const victim process;
  running_starter starter({"lists_others", "--hold", process.number()});
  starter.ready();
  const auto stacks = run_tool({"stacks", std::to_string(starter.pid())});
  INFO(stacks.out << stacks.err);
  CHECK(stacks.exit_code == 0);
  CHECK_THAT(stacks.out + stacks.err, !ContainsSubstring("belongs to user"));
  CHECK(run_tool({"attach", std::to_string(starter.pid())}).exit_code == 0);
  CHECK(process.gate() == 1);  // MPIR asks this of a tool if the starter does not release the ranks itself
}

TEST_CASE("a rank's starter is not searched for among the processes of another user") {
  const victim process;
  SECTION("the starter is another user's") {
    MPIACQ_NEEDS_ANOTHER_USER();
    const std::string before = process.sleeps();
    running_starter starter({"lists_others", "--hold", "--user", hostile(), process.number()});
    starter.ready();
    const std::string command = GENERATE(values<std::string>({"stacks", "attach", "queues"}));
    // The table alone counts here: by the variables of its launcher the process is a rank of its own user's job.
    const auto run = run_tool({command, "--source", "mpir", process.number()});
    INFO(run.out << run.err);
    CHECK(run.exit_code != 0);
    CHECK_THAT(run.out + run.err, !ContainsSubstring(std::to_string(starter.pid())));
    CHECK(process.gate() == 0);
    CHECK(process.sleeps() == before);
    const auto by_any_source = run_tool({command, process.number()});
    CHECK_THAT(by_any_source.out + by_any_source.err, !ContainsSubstring(std::to_string(starter.pid())));
    CHECK(process.gate() == 0);
  }
  SECTION("the starter is the rank's user's") {
    running_starter starter({"lists_others", "--hold", process.number()});
    starter.ready();
    const auto run = run_tool({"attach", process.number()});
    INFO(run.out << run.err);
    CHECK(run.exit_code == 0);
    CHECK_THAT(run.out + run.err, ContainsSubstring("whose table lists it as rank 0"));
  }
}

TEST_CASE("a name for this node from another user's process is not trusted") {
  SECTION("another user's") {
    MPIACQ_NEEDS_ANOTHER_USER();
    CHECK(state_on_n17(victim({"PMI_RANK=0", "SLURMD_NODENAME=n17"}, hostile_user)) == "remote");
  }
  SECTION("the starter's own user's") {
    CHECK(state_on_n17(victim({"PMI_RANK=0", "SLURMD_NODENAME=n17"})) == "running");
  }
}

TEST_CASE("200,000 entries with the pid of one process are read as one process") {
  const victim process;
  running_starter starter({"lists_others", "--hold", "--times", "200000", process.number()});
  starter.ready();
  const auto words = GENERATE(values<std::vector<std::string>>({{"stacks"},
                                                                {"queues"},
                                                                {"attach", "-o", "/dev/null"},
                                                                {"attach", "-o", "/dev/null", "--each", "echo {pid}"},
                                                                {"attach", "-o", "/dev/null", "--stacks"},
                                                                {"check"}}));
  auto all = words;
  all.push_back(std::to_string(starter.pid()));
  const auto run = run_tool(all);
  INFO(run.err.substr(0, 4000));
  CHECK_FALSE(run.timed_out);
  CHECK(run.signal == 0);
  if (words.back() == "echo {pid}") CHECK(run.out == "0: " + process.number() + "\n");
  if (words.front() == "stacks") CHECK_THAT(run.out, ContainsSubstring("more than once"));
}
