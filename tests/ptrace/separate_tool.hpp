// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A tool in a process of its own, which may be stopped, and the processes behind it.
#pragma once

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include "bystander.hpp"
#include "run_command.hpp"

namespace mpiacq::test {

/// The children of a process that have this name and have not ended.
inline std::vector<pid_t> children_named(pid_t parent, const std::string& wanted) {
  const std::string self = std::to_string(parent);
  std::ifstream children("/proc/" + self + "/task/" + self + "/children");
  std::vector<pid_t> all;
  for (pid_t child = 0; children >> child;) {
    std::string name;
    std::getline(std::ifstream("/proc/" + std::to_string(child) + "/comm"), name);
    if (name == wanted && state_of(child) != 'Z') all.push_back(child);
  }
  return all;
}

/// The process that a tool with one tracer has started, and its child, which traces.
struct tracing_pair {
  pid_t guard = 0;
  pid_t tracing = 0;
};
inline tracing_pair tracing_pair_of(pid_t tool) {
  for (const pid_t guard : children_named(tool, "job-guard")) {
    for (const pid_t tracing : children_named(guard, "tracer")) return {guard, tracing};
  }
  FAIL("process " << tool << " has no tracing process");
  return {};
}
inline pid_t tracing_process_of(pid_t tool) {
  return tracing_pair_of(tool).tracing;
}

/// Runs `what` in a forked process, which says numbers. It ends with `what`, and is killed and waited for at the end.
class separate_tool {
 public:
  using say = std::function<void(long)>;
  explicit separate_tool(const std::function<void(const say&)>& what) {
    REQUIRE(::pipe2(said_, O_CLOEXEC) == 0);
    id_ = ::fork();
    REQUIRE(id_ >= 0);
    if (id_ == 0) {
      what([this](long number) {
        if (::write(said_[1], &number, sizeof number) != sizeof number) ::_exit(1);
      });
      ::_exit(0);
    }
    ::close(said_[1]);
  }
  ~separate_tool() {
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
    ::close(said_[0]);
  }
  separate_tool(const separate_tool&) = delete;
  separate_tool& operator=(const separate_tool&) = delete;

  long heard() const {
    long number = -1;
    REQUIRE(::read(said_[0], &number, sizeof number) == sizeof number);
    return number;
  }
  void send(int signal) const { ::kill(id_, signal); }
  [[nodiscard]] pid_t pid() const { return id_; }

 private:
  int said_[2] = {-1, -1};
  pid_t id_ = 0;
};

}  // namespace mpiacq::test
