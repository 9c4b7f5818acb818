// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <cstddef>
#include <span>

#include <pthread.h>
#include <sys/types.h>

#include "mpiacq/base/error.hpp"

namespace mpiacq::tracing {

/// Every ptrace call of the room. The kernel lets only the thread that attached control a tracee, and answers any other
/// with ESRCH, which looks like a dead tracee: so each call checks its thread first, in every build.
///
/// process_gone means that the kernel does not have the thread stopped for us any more. As its stops are ours alone
/// to end, it was killed, and the wait for it says how.
class ptrace_calls {
 public:
  /// The calling thread becomes the owner.
  ptrace_calls();

  /// busy or permission where the kernel refuses it; see attach_error.hpp.
  [[nodiscard]] result<void> seize(pid_t thread, unsigned long options) const;
  [[nodiscard]] result<void> set_options(pid_t thread, unsigned long options) const;
  [[nodiscard]] result<void> interrupt(pid_t thread) const;
  [[nodiscard]] result<void> resume(pid_t thread, int signal) const;
  [[nodiscard]] result<void> step(pid_t thread, int signal) const;
  [[nodiscard]] result<void> listen(pid_t thread) const;
  [[nodiscard]] result<void> detach(pid_t thread, int signal) const;
  [[nodiscard]] result<unsigned long> event_message(pid_t thread) const;
  [[nodiscard]] result<siginfo_t> signal_info(pid_t thread) const;
  /// A word of struct user, by its offset there (x86).
  [[nodiscard]] result<unsigned long> peek_user(pid_t thread, std::size_t offset) const;
  [[nodiscard]] result<void> poke_user(pid_t thread, std::size_t offset, unsigned long value) const;
  /// A register set (NT_... of elf.h). Gives the number of bytes that the kernel filled in.
  [[nodiscard]] result<std::size_t> get_registers(pid_t thread, unsigned long set, std::span<std::byte> into) const;
  [[nodiscard]] result<void> set_registers(pid_t thread, unsigned long set, std::span<const std::byte> from) const;

  /// The bare call: 0 or more, or minus errno; -EXDEV on a foreign thread. Neither allocates nor locks.
  [[nodiscard]] long raw(int request, pid_t thread, unsigned long address, unsigned long data) const;

 private:
  [[nodiscard]] result<void> call(const char* doing, int request, pid_t thread, unsigned long address,
                                  unsigned long data) const;
  pthread_t owner_;  ///< a thread's number would cost a system call each time
};

/// The sentence for a ptrace call that failed with `errno_value`.
[[nodiscard]] error ptrace_failure(const char* doing, pid_t thread, int errno_value);

/// True where `r` worked, or the thread is being killed: its end is reported by the wait, and no failure of the call.
template <class T>
[[nodiscard]] bool done_or_gone(const result<T>& r) {
  return r.has_value() || r.error().code == error_code::process_gone;
}

}  // namespace mpiacq::tracing
