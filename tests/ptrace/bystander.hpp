// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A program that runs already, started by a process of its own as by a shell: what a tracer is to attach to.
#pragma once

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <sys/wait.h>

#include "inferior.hpp"
#include "open_descriptors.hpp"
#include "patience.hpp"

namespace mpiacq::test {

/// The entries of a /proc folder that are numbers.
inline std::vector<pid_t> numbers_in(const std::string& folder) {
  std::vector<pid_t> all;
  std::error_code gone;
  for (auto it = std::filesystem::directory_iterator(folder, gone); !gone && it != decltype(it)(); it.increment(gone)) {
    const int number = std::atoi(it->path().filename().c_str());
    if (number > 0) all.push_back(number);
  }
  return all;
}

inline std::vector<pid_t> threads_in_proc(pid_t process) {
  return numbers_in("/proc/" + std::to_string(process) + "/task");
}

class bystander {
 public:
  /// `in_child` runs in the new process before the program does.
  explicit bystander(const std::string& name, std::vector<std::string> arguments = {},
                     const std::function<void()>& in_child = {})
      : pipes_(name, std::move(arguments)) {
    std::vector<char*> argv;
    std::vector<char*> envp;
    pipes_.request.environment->push_back("SENDER=" + std::to_string(::getpid()));
    for (auto& s : pipes_.request.arguments) argv.push_back(s.data());
    for (auto& s : *pipes_.request.environment) envp.push_back(s.data());
    argv.push_back(nullptr);
    envp.push_back(nullptr);
    int told[2];
    REQUIRE(::pipe2(told, O_CLOEXEC) == 0);
    keeper_ = ::fork();
    REQUIRE(keeper_ >= 0);
    if (keeper_ == 0) keep(argv.data(), envp.data(), in_child, told[1]);
    ::close(told[1]);
    told_ = told[0];
    REQUIRE(::read(told_, &pid_, sizeof pid_) == sizeof pid_);
    pipes_.started();
  }
  ~bystander() {
    if (!ended_) ::kill(pid_, SIGKILL);
    ::waitpid(keeper_, nullptr, 0);
    ::close(told_);
  }
  bystander(const bystander&) = delete;
  bystander& operator=(const bystander&) = delete;

  bystander& ready() {
    REQUIRE(pipes_.line() == "ready");
    return *this;
  }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] process_id id() const { return process_id{pid_}; }
  inferior& pipes() { return pipes_; }
  /// As its parent is told.
  exit_status end() {
    int status = 0;
    REQUIRE(::read(told_, &status, sizeof status) == sizeof status);
    ended_ = true;
    if (WIFSIGNALED(status)) return {true, WTERMSIG(status), WCOREDUMP(status) != 0};
    return {false, WEXITSTATUS(status), false};
  }

 private:
  /// The parent: starts it, tells its number, waits for its end, tells that.
  [[noreturn]] static void keep(char** argv, char** envp, const std::function<void()>& in_child, int tell) {
    const pid_t child = ::fork();
    if (child == 0) {
      if (in_child) in_child();
      ::execve(argv[0], argv, envp);
      ::_exit(127);
    }
    // Its pipes must come to an end with the program.
    for (int fd = 3; fd < 256; ++fd) {
      if (fd != tell) ::close(fd);
    }
    int status = 0;
    bool told = ::write(tell, &child, sizeof child) == sizeof child;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    told = ::write(tell, &status, sizeof status) == sizeof status && told;
    ::_exit(told ? 0 : 1);
  }
  inferior pipes_;
  pid_t keeper_ = 0;
  pid_t pid_ = 0;
  int told_ = -1;
  bool ended_ = false;
};

/// The thread's state as /proc shows it, and 0 where there is none.
inline char state_of(pid_t task) {
  const std::string line = status_line(process_id{task}, "State");
  return line.empty() ? '\0' : line.front();
}

/// Waits until the kernel shows this state; what changes it has been done already.
inline bool comes_to(pid_t task, char state) {
  const auto give_up = clock::now() + patience;
  while (clock::now() < give_up) {
    if (state_of(task) == state) return true;
  }
  return false;
}

/// All of the process's threads stand still under a tracer, as /proc tells it.
inline bool all_held(pid_t process) {
  const auto all = threads_in_proc(process);
  return !all.empty() && std::all_of(all.begin(), all.end(), [](pid_t task) {
    return state_of(task) == 't' && status_line(process_id{task}, "TracerPid") != "0";
  });
}

/// None of them does. A thread may end meanwhile.
inline bool none_held(pid_t process) {
  const auto all = threads_in_proc(process);
  return std::none_of(all.begin(), all.end(), [](pid_t task) {
    const std::string tracer = status_line(process_id{task}, "TracerPid");
    return !tracer.empty() && tracer != "0";
  });
}

/// What /proc says of every thread, for messages.
inline std::string states_of(pid_t process) {
  std::string text;
  for (const pid_t task : threads_in_proc(process)) {
    text += std::to_string(task) + " " + state_of(task) + " " + status_line(process_id{task}, "TracerPid") + "; ";
  }
  return text;
}

}  // namespace mpiacq::test
