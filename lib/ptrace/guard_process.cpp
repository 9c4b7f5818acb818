// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// See guard.hpp. Nothing here allocates, locks, or touches what the host program's threads may have left half done.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "arch.hpp"
#include "guard.hpp"
#include "pending_trap.hpp"

namespace mpiacq::tracing {

namespace {

constexpr int quick_tries = 5000;
constexpr int slow_tries = 10000;  // a millisecond apart: the memory of a large tool takes long to tear down
constexpr int most_passes = 8;

/// "/proc/" and numbers, without the heap.
class proc_path {
 public:
  proc_path& text(const char* piece) {
    const std::size_t length = std::min(std::strlen(piece), sizeof path_ - 1 - end_);
    std::memcpy(path_ + end_, piece, length);
    end_ += length;
    return *this;
  }
  proc_path& number(pid_t value) {
    char digits[12] = {};
    int at = sizeof digits - 1;
    do {
      digits[--at] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value > 0);
    return text(digits + at);
  }
  [[nodiscard]] const char* get() const { return path_; }

 private:
  char path_[64] = {};
  std::size_t end_ = 0;
};

void sleep_a_millisecond() {
  const timespec pause{0, 1'000'000};
  ::nanosleep(&pause, nullptr);
}

pid_t number_of(const char* name) {
  long value = 0;
  for (; *name >= '0' && *name <= '9' && value < INT_MAX / 10; ++name) value = value * 10 + (*name - '0');
  return *name == '\0' ? static_cast<pid_t>(value) : 0;
}

/// Calls `visit` for each thread of the process, and adds up what it gives.
template <class Visit>
int for_each_thread(pid_t process, Visit visit) {
  const int folder = ::open(proc_path{}.text("/proc/").number(process).text("/task").get(), O_RDONLY | O_DIRECTORY);
  if (folder < 0) return 0;
  int sum = 0;
  alignas(dirent64) char entries[4096];
  while (true) {
    const long bytes = ::syscall(SYS_getdents64, folder, entries, sizeof entries);
    if (bytes <= 0) break;
    for (long at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries + at);
      if (const pid_t thread = number_of(entry->d_name); thread > 0) sum += visit(thread);
      at += entry->d_reclen;
    }
  }
  ::close(folder);
  return sum;
}

/// Puts the program's own bytes back where the trap stands, which needs no stop. By any thread's number: a leader that
/// has ended has no memory any more.
int restore_code(const guarded_breakpoint& b, pid_t thread) {
  const int memory = ::open(proc_path{}.text("/proc/").number(thread).text("/mem").get(), O_RDWR);
  if (memory < 0) return 0;
  const auto trap = arch::trap_instruction();
  std::array<std::byte, 8> there{};
  const auto at = static_cast<off_t>(b.address);
  const std::size_t length = std::min<std::size_t>(b.length, there.size());
  if (length == trap.size() && ::pread(memory, there.data(), length, at) == static_cast<ssize_t>(length) &&
      std::equal(trap.begin(), trap.end(), there.begin())) {
    static_cast<void>(!::pwrite(memory, b.original.data(), length, at));
  }
  ::close(memory);
  return 0;
}

/// Attaches, so that a hit from now on stops the thread and kills nobody. While the dead tool still holds the thread
/// the kernel says EPERM. Answers 1 where it is ours now.
int take_over(const ptrace_calls& calls, pid_t thread) {
  for (int i = 0; i < quick_tries + slow_tries; ++i) {
    const long answer = calls.raw(PTRACE_SEIZE, thread, 0, 0);
    if (answer >= 0) {
      static_cast<void>(calls.raw(PTRACE_INTERRUPT, thread, 0, 0));
      return 1;
    }
    if (answer != -EPERM) return 0;
    // EPERM also says that it is ours already.
    siginfo_t info{};
    const auto any = WEXITED | WSTOPPED | WNOWAIT | WNOHANG | __WALL;
    if (::waitid(P_PID, static_cast<id_t>(thread), &info, any) == 0) return 0;
    // The dying tool lets go within microseconds, mostly, and each of them counts.
    if (i < quick_tries) {
      ::sched_yield();
    } else {
      sleep_a_millisecond();
    }
  }
  return 0;
}

/// A trap of ours that the thread ran onto meanwhile is no signal of the program's.
bool is_our_trap(const ptrace_calls& calls, pid_t thread, const guard_table& table) {
  siginfo_t info{};
  if (calls.raw(PTRACE_GETSIGINFO, thread, 0, reinterpret_cast<unsigned long>(&info)) < 0) return false;
  if (arch::is_hardware_hit(info.si_code)) return true;
  if (!arch::is_trap_instruction(info.si_code)) return false;
  for (std::uint32_t i = 0; i < table.used && i < most_guarded; ++i) {
    const guarded_breakpoint& b = table.entries[i];
    if (b.process == 0 || !b.is_software) continue;
    if (arch::step_back_to(calls, thread, target_address{b.address})) return true;
  }
  return false;
}

/// Waits for every thread that was taken over, and lets it go. All are waited for together: a leader that has ended is
/// not reported before its other threads are.
void let_all_go(const ptrace_calls& calls, const guard_table& table) {
  int status = 0;
  pid_t thread = 0;
  while ((thread = ::waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
    if (thread < 0 || !WIFSTOPPED(status)) continue;
    if (status >> 16 == PTRACE_EVENT_STOP && trap_is_pending(calls, thread)) {
      static_cast<void>(calls.raw(PTRACE_CONT, thread, 0, 0));
      continue;
    }
    int signal = status >> 16 == 0 ? WSTOPSIG(status) : 0;
    if (signal == SIGTRAP && is_our_trap(calls, thread, table)) signal = 0;
    arch::clear_hardware(calls, thread);
    static_cast<void>(calls.raw(PTRACE_DETACH, thread, 0, static_cast<unsigned long>(signal)));
  }
}

/// First all threads are taken over, because a hit can come at any moment; a pass that finds none shows that there are
/// no more.
void take_over_all(const ptrace_calls& calls, pid_t process) {
  for (int pass = 0; pass < most_passes; ++pass) {
    if (for_each_thread(process, [&](pid_t thread) { return take_over(calls, thread); }) == 0) return;
  }
}

void clean_all(guard_table& table) {
  const ptrace_calls calls;
  const std::uint32_t used = std::min<std::uint32_t>(table.used, most_guarded);
  for (std::uint32_t i = 0; i < used; ++i) {
    const guarded_breakpoint& b = table.entries[i];
    if (b.process == 0 || !b.is_software) continue;
    for_each_thread(b.process, [&](pid_t thread) { return restore_code(b, thread); });
  }
  for (std::uint32_t i = 0; i < used; ++i) {
    const pid_t process = table.entries[i].process;
    bool done = process == 0;
    for (std::uint32_t j = 0; j < i && !done; ++j) done = table.entries[j].process == process;
    if (!done) take_over_all(calls, process);
  }
  table.taken_over = 1;
  ::syscall(SYS_futex, &table.taken_over, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  let_all_go(calls, table);
}

void stand_alone() {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  // A signal to the terminal's or the tool's process group is not for the guard, and SIGKILL cannot be blocked.
  ::setsid();
  ::prctl(PR_SET_NAME, "mpiacq-guard");
  static_cast<void>(!::chdir("/"));
  // The host program's pipes must be able to reach their end.
  if (::syscall(SYS_close_range, 0, ~0U, 0) == 0) return;
  for (int fd = 0; fd < 65536; ++fd) ::close(fd);
}

void await_death_of_tracer(guard_table& table) {
  // The word that the kernel marks is the first one of the mutex, on every processor of glibc's.
  std::atomic_ref<int> word(table.alive.__data.__lock);
  while (true) {
    int value = word;
    if ((static_cast<unsigned>(value) & FUTEX_OWNER_DIED) != 0) return;
    // The kernel wakes nobody where this bit is not set.
    const int with_waiter = static_cast<int>(static_cast<unsigned>(value) | FUTEX_WAITERS);
    if (value != with_waiter && !word.compare_exchange_strong(value, with_waiter)) continue;
    ::syscall(SYS_futex, &table.alive.__data.__lock, FUTEX_WAIT, with_waiter, nullptr, nullptr, 0);
  }
}

}  // namespace

void run_guard(guard_table& table) {
  stand_alone();
  await_death_of_tracer(table);
  clean_all(table);
  ::_exit(0);
}

}  // namespace mpiacq::tracing
