// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A process that another user's starter lists as its rank. It has a gate, and waits until it is killed.
#pragma once

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "another_user.hpp"
#include "catch.hpp"
#include "mpiacq/base/ids.hpp"
#include "running_starter.hpp"

namespace mpiacq::test {

inline constexpr uid_t hostile_user = 12345;

class victim {
 public:
  explicit victim(std::vector<std::string> environment = {"PMI_RANK=0"}, uid_t user = 0) {
    // The other user needs access to the folder.
    ::chmod(folder_.path(".").c_str(), 0777);
    std::ofstream(folder_.path("oracle")).flush();
    ::chmod(folder_.path("oracle").c_str(), 0666);
    environment.push_back("MPIACQ_ORACLE=" + folder_.path("oracle"));
    int release[2] = {-1, -1};
    int ready[2] = {-1, -1};
    REQUIRE(::pipe2(release, O_CLOEXEC) == 0);
    REQUIRE(::pipe2(ready, O_CLOEXEC) == 0);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) become(std::move(environment), user, release[0], ready[1]);
    ::close(release[0]);
    ::close(ready[1]);
    release_ = release[1];
    char byte = 0;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    ready_ = ready[0];
  }
  ~victim() {
    ::close(release_);
    ::close(ready_);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  victim(const victim&) = delete;
  victim& operator=(const victim&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] std::string number() const { return std::to_string(pid_); }
  /// MPIR_debug_gate as the kernel reads it.
  [[nodiscard]] int gate() const { return int_at(pid_, read_oracle(folder_.path("oracle")).at("rank.0.gate")); }
  /// The number of times that the process went to sleep. Stopping and continuing a process adds one.
  [[nodiscard]] std::string sleeps() const {
    REQUIRE(comes_true([this] { return process_state(pid_) == 'S'; }));
    return status_of(pid_, "voluntary_ctxt_switches") + "+" + status_of(pid_, "nonvoluntary_ctxt_switches");
  }
  [[nodiscard]] bool lives() const { return ::waitpid(pid_, nullptr, WNOHANG) == 0; }

 private:
  [[noreturn]] static void become(std::vector<std::string> environment, uid_t user, int input, int output) {
    ::dup2(input, 0);
    ::dup2(output, 1);
    if (user != 0 && (::setresgid(user, user, user) != 0 || ::setresuid(user, user, user) != 0)) ::_exit(126);
    std::string program = MPIACQ_STARTERS "/checked_rank_gate_unused", ready = "1", release = "0";
    char* arguments[] = {program.data(), ready.data(), release.data(), nullptr};
    std::vector<char*> variables;
    for (std::string& one : environment) variables.push_back(one.data());
    variables.push_back(nullptr);
    ::execve(program.c_str(), arguments, variables.data());
    ::_exit(127);
  }

  scratch_folder folder_;
  pid_t pid_ = -1;
  int release_ = -1;
  int ready_ = -1;
};

}  // namespace mpiacq::test
