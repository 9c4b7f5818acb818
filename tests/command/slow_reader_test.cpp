// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A reader of the output that never reads: the job must go on all the same.
#include <csignal>

#include <fcntl.h>

#include "launched.hpp"
#include "queue_job.hpp"

using namespace mpiacq::test;

namespace {

/// A pipe that has no room for a single byte, as a pager leaves it while nobody turns the page.
class full_pipe {
 public:
  full_pipe() {
    REQUIRE(::pipe2(ends_, O_CLOEXEC | O_NONBLOCK) == 0);
    const std::string page(4096, '-');
    while (::write(ends_[1], page.data(), page.size()) > 0) ++pages_;
    REQUIRE(pages_ > 0);
    ::fcntl(ends_[1], F_SETFL, 0);  // the command's own end blocks
  }
  ~full_pipe() {
    for (const int end : ends_) {
      if (end >= 0) ::close(end);
    }
  }
  full_pipe(const full_pipe&) = delete;
  full_pipe& operator=(const full_pipe&) = delete;
  [[nodiscard]] int write_end() const { return ends_[1]; }

 private:
  int ends_[2] = {-1, -1};
  int pages_ = 0;
};

/// A command whose two outputs are such a pipe.
class muted_command {
 public:
  explicit muted_command(const std::vector<std::string>& words, std::map<std::string, std::string> environment = {})
      : command_(words, options(pipe_, std::move(environment))) {}
  [[nodiscard]] pid_t pid() const { return command_.pid(); }
  /// Its end.
  [[nodiscard]] command_outcome wait() { return command_.wait(); }
  /// A thread of it waits in write(2) for the reader (x86-64: system call 1; aarch64: 64).
  [[nodiscard]] bool waits_for_reader() const {
    const auto threads = threads_of(pid());
    return std::any_of(threads.begin(), threads.end(), [&](pid_t thread) {
      const std::string call =
          file_contents("/proc/" + std::to_string(pid()) + "/task/" + std::to_string(thread) + "/syscall");
      return call.starts_with("1 0x") || call.starts_with("64 0x");
    });
  }

 private:
  static command_options options(const full_pipe& pipe, std::map<std::string, std::string> environment) {
    command_options how;
    how.environment = std::move(environment);
    const int end = pipe.write_end();
    how.in_child = [end] {
      ::dup2(end, STDOUT_FILENO);
      ::dup2(end, STDERR_FILENO);
    };
    return how;
  }
  full_pipe pipe_;
  running_command command_;
};

}  // namespace

TEST_CASE("slow reader: a running job runs on while no program reads the report about it") {
  queue_job job(2, words_of_a_deadlock());
  std::vector<std::string> words = GENERATE(values<std::vector<std::string>>({{"attach"},
                                                                              {"attach", "--json"},
                                                                              {"attach", "--stacks", "--queues"},
                                                                              {"attach", "--then", "continue"},
                                                                              {"stacks"},
                                                                              {"queues", "--trust-library"},
                                                                              {"check"},
                                                                              {"inspect"}}));
  INFO(words.front() << " " << words.back());
  words.insert(words.begin(), MPIACQ_COMMAND);
  words.push_back(std::to_string(job.pid()));
  // A tool that stays with the starter traces it, and must not have stopped it.
  const bool stays = words[words.size() - 2] == "continue";
  const muted_command command(words);
  REQUIRE(comes_true([&] { return command.waits_for_reader(); }));
  CHECK(comes_true([&] {
    const std::string state = status_of(job.pid(), "State");
    return stays ? state.find('S') == 0 : runs_freely(job.pid());
  }));
  for (const pid_t rank : job.ranks()) CHECK(comes_true([&] { return runs_freely(rank); }));
}

TEST_CASE("slow reader: Ctrl-C, pressed again if need be, ends a command whose output no program reads") {
  queue_job job(2, words_of_a_deadlock());
  std::vector<std::string> words = GENERATE(values<std::vector<std::string>>(
      {{"attach"}, {"stacks"}, {"queues", "--trust-library"}, {"inspect"}, {"graph"}}));
  INFO(words.front());
  words.insert(words.begin(), MPIACQ_COMMAND);
  words.push_back(std::to_string(job.pid()));
  muted_command command(words);
  REQUIRE(comes_true([&] { return command.waits_for_reader(); }));
  // A command that still works on the job takes the first Ctrl-C as the request to release it.
  REQUIRE(comes_true([&] {
    ::kill(command.pid(), SIGINT);
    return process_state(command.pid()) == 'Z';
  }));
  CHECK(command.wait().signal == SIGINT);
}

TEST_CASE("slow reader: a launched job ends while no program reads the reports of its events") {
  const scratch_folder folder;
  const std::string oracle = folder.path("oracle");
  // Its ranks write to the same standard output, so it has none of its own here.
  const muted_command command({MPIACQ_COMMAND, "launch", "--", "/bin/sh", "-c",
                               "exec '" + fixture("starter_three_states") + "' >/dev/null 2>&1"},
                              {{"MPIACQ_ORACLE", oracle}});
  CHECK(comes_true([&] { return read_oracle(oracle).contains("exit"); }));
  CHECK(command.waits_for_reader());
}
