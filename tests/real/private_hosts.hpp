// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Hosts of the tests' own (private_hosts beside this file says what they are), for as long as a test needs them.
#pragma once

#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "running_job.hpp"

namespace mpiacq::test {

/// Four hosts, h1 to h4, that are up when they have been made and gone when this is, however the test program ends.
class private_hosts {
 public:
  private_hosts() {
    const std::string hold = shared_.path("hold");
    const std::string up = shared_.path("up");
    if (::mkfifo(hold.c_str(), 0600) != 0 || ::mkfifo(up.c_str(), 0600) != 0) return;
    hold_ = ::open(hold.c_str(), O_RDWR | O_CLOEXEC);
    const int heard = ::open(up.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    // Its standard input ends when we do.
    keeper_ =
        start_process({"sh", "-c", "exec \"$0\" keep \"$1\" <\"$2\" >\"$3\"", MPIACQ_PRIVATE_HOSTS, folder(), hold, up},
                      shared_.path("said"));
    pollfd event = {heard, POLLIN, 0};
    char byte = 0;
    is_up_ = ::poll(&event, 1, static_cast<int>(std::chrono::milliseconds{patience}.count())) == 1 &&
             ::read(heard, &byte, 1) == 1;
    ::close(heard);
    if (!is_up_) end();
  }
  ~private_hosts() { end(); }
  private_hosts(const private_hosts&) = delete;
  private_hosts& operator=(const private_hosts&) = delete;

  [[nodiscard]] bool are_up() const { return is_up_; }
  /// It says why this machine cannot have them, as against that they should have come up and did not.
  [[nodiscard]] bool cannot_be() const {
    constexpr int skipped = 77;
    return !is_up_ && WIFEXITED(status_) && WEXITSTATUS(status_) == skipped;
  }
  /// What it said.
  [[nodiscard]] std::string said() const { return file_contents(shared_.path("said")); }

  [[nodiscard]] static const std::vector<std::string>& names() {
    static const std::vector<std::string> all = {"h1", "h2", "h3", "h4"};
    return all;
  }
  /// A file that all hosts and the test see.
  [[nodiscard]] std::string path(const std::string& name) const { return shared_.path(name); }
  /// What is passed to private_hosts' own commands.
  [[nodiscard]] std::string folder() const { return shared_.path("hosts"); }

  /// The command line that runs a command there, and kills it when it is killed itself.
  [[nodiscard]] std::vector<std::string> on(const std::string& host, const std::vector<std::string>& command) const {
    std::vector<std::string> line = {MPIACQ_PRIVATE_HOSTS, "run", folder(), host};
    line.insert(line.end(), command.begin(), command.end());
    return line;
  }
  [[nodiscard]] command_outcome run(const std::string& host, const std::vector<std::string>& command,
                                    const command_options& options = {}) const {
    return run_command(on(host, command), options);
  }
  /// A host's first process, as this machine numbers it.
  [[nodiscard]] pid_t pid(const std::string& host) const {
    const auto said = run_command({MPIACQ_PRIVATE_HOSTS, "pid", folder(), host});
    return said.exit_code == 0 ? std::stoi(said.out) : -1;
  }
  /// Takes a host's cable out, and puts it in again.
  [[nodiscard]] bool cut(const std::string& host) const { return cable("cut", host); }
  [[nodiscard]] bool mend(const std::string& host) const { return cable("mend", host); }

  [[nodiscard]] pid_t keeper() const { return keeper_; }

  /// Ends them all, and waits for that.
  void end() {
    if (hold_ >= 0) ::close(hold_);
    hold_ = -1;
    if (keeper_ > 0 && !wait_for_process(keeper_, status_, patience)) {
      ::kill(keeper_, SIGTERM);
      ::waitpid(keeper_, &status_, 0);
    }
    keeper_ = -1;
  }

 private:
  [[nodiscard]] bool cable(const char* verb, const std::string& host) const {
    return run_command({MPIACQ_PRIVATE_HOSTS, verb, folder(), host}).exit_code == 0;
  }

  scratch_folder shared_;
  pid_t keeper_ = -1;
  int hold_ = -1;
  int status_ = 0;
  bool is_up_ = false;
};

/// Those that all tests of this program share.
inline const private_hosts& shared_hosts() {
  static const private_hosts hosts;
  return hosts;
}

/// Which host each rank said that it is on, in "rank R pid P host H".
inline std::map<long, std::string> hosts_printed(const std::string& output) {
  std::map<long, std::string> hosts;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string rank_word, pid_word, host_word, host;
    long rank = 0, pid = 0;
    if (words >> rank_word >> rank >> pid_word >> pid >> host_word >> host && rank_word == "rank") hosts[rank] = host;
  }
  return hosts;
}

}  // namespace mpiacq::test

/// Binds `name` to the shared hosts, or ends the test case here because they cannot be.
#define MPIACQ_PRIVATE_HOSTS_OR_SKIP(name)                                    \
  const ::mpiacq::test::private_hosts& name = ::mpiacq::test::shared_hosts(); \
  if (name.cannot_be()) MPIACQ_SKIP(name.said());                             \
  INFO(name.said());                                                          \
  REQUIRE(name.are_up())
