// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Foreign strings in every place that a fixture can supply, and the bytes that come out of every command.
#include <fstream>

#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "attached.hpp"
#include "hostile_text.hpp"
#include "launched.hpp"
#include "live_process.hpp"
#include "queue_job.hpp"

using namespace mpiacq::test;

namespace {

/// The command on a process, by its name and options.
command_outcome run_on(pid_t pid, std::vector<std::string> words) {
  words.insert(words.begin(), MPIACQ_COMMAND);
  words.push_back(std::to_string(pid));
  return run_command(words);
}

/// A job whose program, library and communicator have hostile names, with the hosts that are given.
class hostile_job {
 public:
  explicit hostile_job(const std::vector<std::string>& options)
      : program_(hostile_copy(folder_, MPIACQ_STARTERS "/../queue_ranks/queue_job")),
        library_(hostile_copy(library_folder_, queue_library("perfect"))),
        process_(line(options)) {
    (void)process_.lines_until_ready();
    REQUIRE(runs_freely(pid()));
  }
  [[nodiscard]] pid_t pid() const { return static_cast<pid_t>(process_.pid().value()); }

 private:
  [[nodiscard]] std::vector<std::string> line(const std::vector<std::string>& options) const {
    std::vector<std::string> all = {program_, "--hold", "--ranks", "2"};
    all.insert(all.end(), options.begin(), options.end());
    std::string name = hostile;
    std::replace(name.begin(), name.end(), ':', ';');
    all.insert(all.end(), {"library:" + library_, "comm:" + name + ":0,1", "send:" + name + ":1:5:8"});
    return all;
  }
  scratch_folder folder_, library_folder_;
  std::string program_;
  std::string library_;
  live_process process_;
};

/// What a command with these words writes about a job with hostile strings.
void check_on_local_job(const std::vector<std::string>& words) {
  if (!is_installed("python3")) MPIACQ_SKIP("python3 is not installed");
  const hostile_job job({});
  INFO(words.front());
  check_output(run_on(job.pid(), words));
}

}  // namespace

TEST_CASE("hostile strings of a local job reach no terminal through attach and report") {
  check_on_local_job(GENERATE(values<std::vector<std::string>>({{"attach"},
                                                                {"attach", "--json"},
                                                                {"attach", "--queues", "--stacks", "--trust-library"},
                                                                {"attach", "-o", "/dev/null", "--each", "echo {rank}"},
                                                                {"report", "--trust-library"},
                                                                {"report", "--trust-library", "--json"},
                                                                {"report", "-o", "/dev/stdout", "--trust-library"}})));
}

TEST_CASE("hostile strings of a local job reach no terminal through stacks and queues") {
  check_on_local_job(
      GENERATE(values<std::vector<std::string>>({{"stacks"},
                                                 {"stacks", "--json"},
                                                 {"stacks", "--dot"},
                                                 {"stacks", "--folded"},
                                                 {"stacks", "--ranks", "comm:" + hostile, "--trust-library"},
                                                 {"queues", "--trust-library"},
                                                 {"queues", "--trust-library", "--verbose"},
                                                 {"queues", "--trust-library", "--json"},
                                                 {"queues"},
                                                 {"queues", "--library", "/" + hostile}})));
}

TEST_CASE("hostile strings of a local job reach no terminal through inspect, check and graph") {
  check_on_local_job(GENERATE(values<std::vector<std::string>>(
      {{"inspect"}, {"inspect", "--json"}, {"check"}, {"check", "--json"}, {"graph"}})));
}

TEST_CASE("hostile names of hosts reach no terminal") {
  if (!is_installed("python3")) MPIACQ_SKIP("python3 is not installed");
  const hostile_job job({"--host", hostile});
  const std::vector<std::string> words =
      GENERATE(values<std::vector<std::string>>({{"attach", "--agents", "none"},
                                                 {"attach", "--json", "--agents", "none"},
                                                 {"attach", "-o", "/dev/null", "--each", "echo {rank}"},
                                                 {"stacks", "--agents", "none"},
                                                 {"stacks", "--json", "--agents", "none"},
                                                 {"queues", "--agents", "none"},
                                                 {"queues", "--json", "--agents", "none"},
                                                 {"report", "--agents", "none"},
                                                 {"check"}}));
  INFO(words.front());
  check_output(run_on(job.pid(), words));
}

TEST_CASE("hostile names of functions reach no terminal") {
  if (!is_installed("python3")) MPIACQ_SKIP("python3 is not installed");
  const scratch_folder folder;
  const std::string program = folder.path("starter");
  const auto made = run_command(
      {"objcopy", "--strip-debug", "--redefine-sym", "main=" + hostile, fixture("starter_symbols_only"), program});
  INFO(made.err);
  REQUIRE(made.exit_code == 0);
  live_process starter({program, "--hold", "--ranks", "2"});
  (void)starter.lines_until_ready();
  const std::vector<std::string> words = GENERATE(values<std::vector<std::string>>(
      {{"stacks"}, {"stacks", "--json"}, {"stacks", "--dot"}, {"stacks", "--folded"}, {"attach", "--stacks"}}));
  INFO(words.front() << " " << words.back());
  const auto run = run_on(static_cast<pid_t>(starter.pid().value()), words);
  check_output(run);
  CHECK_THAT(run.out, ContainsSubstring("title"));
}

TEST_CASE("the hostile name of a program that traces a rank reaches no terminal") {
  if (!is_installed("python3")) MPIACQ_SKIP("python3 is not installed");
  running_starter starter({"checked", "--hold"});
  starter.ready();
  const pid_t rank = starter.ranks().at(1);
  ::prctl(PR_SET_NAME, "h\x1b[31m\x07\x9b\xff\n");
  REQUIRE(::ptrace(PTRACE_SEIZE, rank, nullptr, nullptr) == 0);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"stacks"}, std::vector<std::string>{"stacks", "--json"},
        std::vector<std::string>{"queues"}, std::vector<std::string>{"attach", "--stacks"}}) {
    INFO(words.front() << " " << words.back());
    const auto run = run_on(starter.pid(), words);
    check_output(run);
    CHECK_THAT(run.out + run.err, ContainsSubstring("[31m"));
  }
  ::ptrace(PTRACE_INTERRUPT, rank, nullptr, nullptr);
  REQUIRE(::waitpid(rank, nullptr, __WALL) == rank);
  ::ptrace(PTRACE_DETACH, rank, nullptr, nullptr);
}

TEST_CASE("JSON keeps a hostile string unchanged, except for bytes that are not UTF-8") {
  const hostile_job job({"--host", hostile});
  const auto run = run_on(job.pid(), {"attach", "--json"});
  REQUIRE(run.exit_code == 0);
  const auto report = nlohmann::json::parse(run.out);
  CHECK(report["processes"][0]["host"] == hostile_in_json);
  const std::string executable = report["processes"][1]["executable"];
  CHECK(executable.substr(executable.rfind('/') + 1) == hostile_in_json.substr(hostile_in_json.rfind('/') + 1));
}

TEST_CASE("hostile text that ssh writes to standard error reaches no terminal unchanged") {
  if (!is_installed("python3")) MPIACQ_SKIP("python3 is not installed");
  const scratch_folder folder;
  const std::string ssh = folder.path("ssh");
  std::ofstream(folder.path("banner"), std::ios::binary) << hostile;
  std::ofstream(ssh) << "#!/bin/sh\ncat '" + folder.path("banner") + "' >&2\nexit 255\n";
  std::filesystem::permissions(ssh, std::filesystem::perms::owner_all);
  const hostile_job job({"--host", "far.invalid"});
  command_options how;
  how.environment["PATH"] = folder.path("") + ":" + std::getenv("PATH");
  const auto run = run_command({MPIACQ_COMMAND, "stacks", "--agents", "ssh", std::to_string(job.pid())}, how);
  check_output(run);
  CHECK_THAT(run.err, ContainsSubstring("\\x1b]0;title"));
}

TEST_CASE("hostile arguments in an agent's messages reach no terminal unchanged") {
  if (!is_installed("python3")) MPIACQ_SKIP("python3 is not installed");
  const auto run = run_command({MPIACQ_AGENT, hostile});
  check_output(run);
  CHECK(run.exit_code == 125);
  CHECK_THAT(run.err, ContainsSubstring("\\x1b]0;title"));
}

TEST_CASE("hostile paths in errors, and a hostile reason of an abort, reach no terminal") {
  if (!is_installed("python3")) MPIACQ_SKIP("python3 is not installed");
  const std::string path = "/nowhere/" + hostile;
  const std::vector<std::string> words = GENERATE_COPY(
      values<std::vector<std::string>>({{"inspect", path},
                                        {"graph", path},
                                        {"attach", "--core", path},
                                        {"launch", "--", path},
                                        {"check", "--", path},
                                        {"inspect", "-o", path, "/bin/true"},
                                        {"inspect", "--json", MPIACQ_STARTERS "/no_interface", "--debug-dir", path},
                                        {"types", "openmpi", "--wrapper", path},
                                        {"stacks", path},
                                        {"launch", "--", MPIACQ_STARTERS "/starter_three_states", hostile},
                                        {"launch", "--json", "--", MPIACQ_STARTERS "/starter_three_states", hostile}}));
  INFO(words.front());
  std::vector<std::string> line = words;
  line.insert(line.begin(), MPIACQ_COMMAND);
  check_output(run_command(line));
}
