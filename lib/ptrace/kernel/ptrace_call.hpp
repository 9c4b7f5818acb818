// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <cstddef>
#include <span>

#include <pthread.h>
#include <sys/types.h>

#include "mpiacq/base/error.hpp"

namespace mpiacq::tracing {

/// All ptrace calls of the room. One virtual function is the kernel's call, or a test's fake; all others are built on
/// it.
///
/// process_gone means that the thread is no longer stopped for this tracer. Only this tracer ends the stops of its
/// tracees, so that such a thread was killed; the wait for it reports how.
class ptrace_calls {
 public:
  ptrace_calls() = default;
  virtual ~ptrace_calls() = default;
  ptrace_calls(const ptrace_calls&) = delete;
  ptrace_calls& operator=(const ptrace_calls&) = delete;

  /// The bare system call (PTRACE_PEEKUSER stores the word at `data`). Returns 0 or more, or minus errno. -EXDEV: the
  /// calling thread does not own the tracees. Neither allocates nor locks.
  [[nodiscard]] virtual long raw(int request, pid_t thread, unsigned long address, unsigned long data) const = 0;

  /// Whether a breakpoint register that the kernel accepts stops a thread (register_trial.hpp).
  [[nodiscard]] virtual bool has_breakpoint_registers() const { return true; }

  /// Errors: busy or permission if the kernel refuses it; see attach_error.hpp.
  [[nodiscard]] result<void> seize(pid_t thread, unsigned long options) const;
  [[nodiscard]] result<void> set_options(pid_t thread, unsigned long options) const;
  [[nodiscard]] result<void> interrupt(pid_t thread) const;
  [[nodiscard]] result<void> resume(pid_t thread, int signal) const;
  [[nodiscard]] result<void> step(pid_t thread, int signal) const;
  [[nodiscard]] result<void> listen(pid_t thread) const;
  [[nodiscard]] result<void> detach(pid_t thread, int signal) const;
  [[nodiscard]] result<unsigned long> event_message(pid_t thread) const;
  [[nodiscard]] result<siginfo_t> signal_info(pid_t thread) const;
  /// Access to a word of struct user, by its offset there (x86).
  [[nodiscard]] result<unsigned long> peek_user(pid_t thread, std::size_t offset) const;
  [[nodiscard]] result<void> poke_user(pid_t thread, std::size_t offset, unsigned long value) const;
  /// A register set (NT_... of elf.h). Returns the number of bytes that the kernel filled in.
  [[nodiscard]] result<std::size_t> get_registers(pid_t thread, unsigned long set, std::span<std::byte> into) const;
  [[nodiscard]] result<void> set_registers(pid_t thread, unsigned long set, std::span<const std::byte> from) const;

 private:
  [[nodiscard]] result<void> call(const char* doing, int request, pid_t thread, unsigned long address,
                                  unsigned long data) const;
};

/// The kernel's ptrace. The kernel lets only the thread that attached control a tracee, and answers any other with
/// ESRCH, which looks like a dead tracee. So each call checks its thread first, in every build.
class kernel_ptrace_calls final : public ptrace_calls {
 public:
  /// The calling thread becomes the owner.
  kernel_ptrace_calls() : owner_(::pthread_self()) {}
  [[nodiscard]] long raw(int request, pid_t thread, unsigned long address, unsigned long data) const override;
  [[nodiscard]] bool has_breakpoint_registers() const override;

 private:
  pthread_t owner_;  ///< not the thread's number, which costs a system call each time
};

/// The error for a ptrace call that failed with `errno_value`.
[[nodiscard]] error ptrace_failure(const char* doing, pid_t thread, int errno_value);

/// Whether `r` succeeded, or the thread is being killed. The wait for a killed thread reports its end, so that the call
/// counts as done.
template <class T>
[[nodiscard]] bool done_or_gone(const result<T>& r) {
  return r.has_value() || r.error().code == error_code::process_gone;
}

}  // namespace mpiacq::tracing
