// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The process control of a small debugger: one program, all of its threads, breakpoints written into its code. x86-64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <utility>

#include <fcntl.h>
#include <mpiacq/process/tracer.hpp>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/// What waitpid said of one thread.
struct thread_report {
  pid_t thread = -1;
  int status = 0;
  [[nodiscard]] int event() const { return status >> 16; }
  [[nodiscard]] int signal() const { return WSTOPSIG(status); }
  [[nodiscard]] bool is_end() const { return WIFEXITED(status) || WIFSIGNALED(status); }
};

class tracee {
 public:
  /// Starts a program; its first report is PTRACE_EVENT_EXEC.
  explicit tracee(char** arguments) {
    int gate[2];
    if (::pipe2(gate, O_CLOEXEC) != 0 || (pid_ = ::fork()) < 0) std::abort();
    if (pid_ == 0) {
      char byte;
      ::close(gate[1]);
      (void)!::read(gate[0], &byte, 1);  // until we are traced
      ::execvp(arguments[0], arguments);
      ::_exit(127);
    }
    constexpr long options = PTRACE_O_TRACEEXEC | PTRACE_O_TRACECLONE;
    ::ptrace(PTRACE_SEIZE, pid_, nullptr, options);
    ::close(gate[0]);
    ::close(gate[1]);
    memory_ = mpiacq::process_memory(mpiacq::process_id{pid_});
    threads_ = {pid_};
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] mpiacq::process_memory& memory() { return memory_; }

  [[nodiscard]] thread_report next() {
    thread_report report;
    if (!later_.empty()) {
      report = later_.front();
      later_.pop_front();
    } else {
      report.thread = ::waitpid(-1, &report.status, __WALL);
    }
    if (report.event() == PTRACE_EVENT_EXEC) {  // all other threads are gone, and so is what was written
      threads_ = {pid_};
      planted_.clear();
      lifted_.clear();
    }
    if (report.is_end()) {
      threads_.erase(report.thread);
    } else {
      threads_.insert(report.thread);
    }
    return report;
  }

  /// The breakpoint that a thread has run onto; its program counter is then back on it. 0 where it is none of ours.
  [[nodiscard]] std::uint64_t hit(const thread_report& report) {
    if (report.signal() != SIGTRAP || report.event() != 0) return 0;
    const std::uint64_t at = counter(report.thread) - 1;
    if (!planted_.contains(at) && !lifted_.contains(at)) return 0;
    ::ptrace(PTRACE_POKEUSER, report.thread, offsetof(user, regs.rip), at);
    return at;
  }

  /// Stops all threads but one that is stopped already. What they report instead is kept for `next`.
  void stop_others(pid_t stopped) {
    for (const pid_t thread : threads_) {
      if (thread == stopped || is_kept(thread) || ::ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr) != 0) continue;
      thread_report report{thread, 0};
      if (::waitpid(thread, &report.status, __WALL) != thread) continue;
      if (report.event() == PTRACE_EVENT_STOP && report.signal() == SIGTRAP) {
        halted_.insert(thread);
      } else {
        later_.push_back(report);
      }
    }
  }

  /// Lets the others run on, then this thread, past a breakpoint if it stands on one.
  void resume(pid_t stopped) {
    const std::uint64_t at = counter(stopped);
    if (planted_.contains(at)) {
      const std::byte original = planted_.at(at);
      lift(mpiacq::target_address{at});
      int status = 0;
      ::ptrace(PTRACE_SINGLESTEP, stopped, nullptr, nullptr);
      if (::waitpid(stopped, &status, __WALL) != stopped) return;
      if (WIFSTOPPED(status) && status >> 8 != SIGTRAP) later_.push_back({stopped, status});
      (void)memory_.write(mpiacq::target_address{at}, std::span{&trap, 1});
      planted_.emplace(at, original);
    }
    for (const pid_t thread : std::exchange(halted_, {})) run(thread, 0);
    if (!is_kept(stopped)) run(stopped, 0);
  }
  static void run(pid_t thread, long signal) { ::ptrace(PTRACE_CONT, thread, nullptr, signal); }

  void plant(mpiacq::target_address at) {
    std::byte original{};
    if (planted_.contains(at.value()) || !mpiacq::read_exact(memory_, at, {&original, 1})) return;
    if (memory_.write(at, std::span{&trap, 1})) planted_.emplace(at.value(), original);
  }
  void lift(mpiacq::target_address at) {
    const auto found = planted_.find(at.value());
    if (found == planted_.end()) return;
    (void)memory_.write(at, std::span{&found->second, 1});
    planted_.erase(found);
    lifted_.insert(at.value());
  }

 private:
  static constexpr std::byte trap{0xcc};

  static std::uint64_t counter(pid_t thread) {
    return static_cast<std::uint64_t>(::ptrace(PTRACE_PEEKUSER, thread, offsetof(user, regs.rip), nullptr));
  }
  [[nodiscard]] bool is_kept(pid_t thread) const {
    for (const thread_report& report : later_) {
      if (report.thread == thread) return true;
    }
    return false;
  }

  pid_t pid_ = -1;
  mpiacq::process_memory memory_{mpiacq::process_id{-1}};
  std::set<pid_t> threads_;
  std::set<pid_t> halted_;                      // by stop_others
  std::deque<thread_report> later_;             // of threads that stopped by themselves meanwhile
  std::map<std::uint64_t, std::byte> planted_;  // address and what stood there
  std::set<std::uint64_t> lifted_;              // a thread may still have a trap of these in its queue
};
