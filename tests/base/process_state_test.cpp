// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "proc/process_state.hpp"

#include <csignal>
#include <filesystem>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catch.hpp"

using namespace mpiacq;

namespace {

/// A child that waits for ever. It is killed and waited for at the end of the test.
class waiting_child {
 public:
  waiting_child() : pid_(::fork()) {
    if (pid_ == 0) {
      for (;;) ::pause();
    }
  }
  ~waiting_child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] process_id id() const { return process_id{pid_}; }

 private:
  pid_t pid_;
};

}  // namespace

TEST_CASE("a process is running, stopped, or gone as a zombie") {
  const waiting_child child;
  CHECK(state_of(child.id()) == run_state::running);
  ::kill(child.pid(), SIGSTOP);
  int status = 0;
  REQUIRE(::waitpid(child.pid(), &status, WUNTRACED) == child.pid());
  CHECK(state_of(child.id()) == run_state::stopped);
  ::kill(child.pid(), SIGKILL);
  siginfo_t ended{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(child.pid()), &ended, WEXITED | WNOWAIT) == 0);
  CHECK(state_of(child.id()) == run_state::gone);
  CHECK(state_of(process_id{}) == run_state::gone);
}

TEST_CASE("a child that has ended and been waited for shows in the page faults") {
  const auto faults_by_getrusage = [] {
    rusage all{};
    REQUIRE(::getrusage(RUSAGE_CHILDREN, &all) == 0);
    return static_cast<std::uint64_t>(all.ru_minflt);
  };
  const process_id self{::getpid()};
  const std::uint64_t before = faults_of_ended_children(self);
  CHECK(before == faults_by_getrusage());
  { const waiting_child child; }
  CHECK(faults_of_ended_children(self) > before);
  CHECK(faults_of_ended_children(self) == faults_by_getrusage());
}

TEST_CASE("the executable and the environment are the process's own") {
  const process_id self{::getpid()};
  CHECK(executable_of(self) == std::filesystem::read_symlink("/proc/self/exe").string());
  CHECK(environment_of(self, "PATH") == std::string(::getenv("PATH")));
  CHECK(environment_of(self, "PAT") == std::nullopt);
  CHECK(environment_of(process_id{}, "PATH") == std::nullopt);
}

TEST_CASE("a signal through a descriptor reaches that process and no other") {
  const waiting_child child;
  const base::unique_fd process = open_process(child.id());
  REQUIRE(process.is_open());
  signal_process(process, SIGSTOP);
  int status = 0;
  REQUIRE(::waitpid(child.pid(), &status, WUNTRACED) == child.pid());
  CHECK(WIFSTOPPED(status));
  CHECK_FALSE(open_process(process_id{-1}).is_open());
  CHECK_FALSE(open_process(process_id{std::int64_t{1} << 40}).is_open());
}
