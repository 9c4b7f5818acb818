// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "proc/process_state.hpp"

#include <csignal>
#include <filesystem>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catch.hpp"
#include "unstoppable_child.hpp"

using namespace mpiacq;
using mpiacq::test::unstoppable_child;

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

TEST_CASE("is_stopped_by_signal tells a stopped process from one that runs, and from one that is gone") {
  const waiting_child child;
  CHECK_FALSE(is_stopped_by_signal(child.id()));
  ::kill(child.pid(), SIGSTOP);
  int status = 0;
  REQUIRE(::waitpid(child.pid(), &status, WUNTRACED) == child.pid());
  CHECK(is_stopped_by_signal(child.id()));
  ::kill(child.pid(), SIGCONT);
  REQUIRE(::waitpid(child.pid(), &status, WCONTINUED) == child.pid());
  CHECK_FALSE(is_stopped_by_signal(child.id()));
  CHECK_FALSE(is_stopped_by_signal(process_id{}));
}

TEST_CASE("a SIGSTOP that is on its way counts as a stop, whether it was sent to the process or to its thread") {
  const bool to_thread = GENERATE(false, true);
  INFO(to_thread);
  const auto send = [&](pid_t to, int signal) {
    return to_thread ? static_cast<int>(::syscall(SYS_tgkill, to, to, signal)) : ::kill(to, signal);
  };
  unstoppable_child child;
  REQUIRE(child.is_ready());
  // Another signal that waits is no stop.
  REQUIRE(send(child.pid(), SIGUSR1) == 0);
  CHECK_FALSE(is_stopped_by_signal(child.id()));
  REQUIRE(send(child.pid(), SIGSTOP) == 0);
  CHECK(state_of(child.id()) != run_state::stopped);
  CHECK(is_stopped_by_signal(child.id()));
  // SIGCONT takes the SIGSTOP away.
  REQUIRE(send(child.pid(), SIGCONT) == 0);
  CHECK_FALSE(is_stopped_by_signal(child.id()));
}

TEST_CASE("a SIGSTOP that is on its way stops the process when it can be stopped") {
  unstoppable_child child;
  REQUIRE(child.is_ready());
  REQUIRE(::kill(child.pid(), SIGSTOP) == 0);
  CHECK(state_of(child.id()) != run_state::stopped);
  CHECK(is_stopped_by_signal(child.id()));
  child.go_on();
  int status = 0;
  REQUIRE(::waitpid(child.pid(), &status, WUNTRACED) == child.pid());
  CHECK(WIFSTOPPED(status));
  CHECK(state_of(child.id()) == run_state::stopped);
  CHECK(is_stopped_by_signal(child.id()));
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
