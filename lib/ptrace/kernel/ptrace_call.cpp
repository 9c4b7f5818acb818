// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "kernel/ptrace_call.hpp"

#include <cerrno>

#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "client/attach_error.hpp"
#include "kernel/register_trial.hpp"

namespace mpiacq::tracing {

namespace {

// No ptrace call of the kernel fails with this number, so here it means that the calling thread is not the owner.
constexpr int not_the_owner = EXDEV;

template <class T>
unsigned long as_word(T* pointer) {
  return reinterpret_cast<unsigned long>(pointer);
}

}  // namespace

error ptrace_failure(const char* doing, pid_t thread, int errno_value) {
  if (errno_value == not_the_owner) {
    return {error_code::wrong_thread,
            fmt::format("{} {}: called from a thread that does not own this tracee", doing, thread)};
  }
  const error_code code = errno_value == ESRCH ? error_code::process_gone : error_code::system;
  return error{code, fmt::format("{} {}", doing, thread)}.with_errno(errno_value);
}

long kernel_ptrace_calls::raw(int request, pid_t thread, unsigned long address, unsigned long data) const {
  if (::pthread_equal(::pthread_self(), owner_) == 0) return -not_the_owner;
  const long answer = ::syscall(SYS_ptrace, request, thread, address, data);
  return answer < 0 ? -errno : answer;
}

bool kernel_ptrace_calls::has_breakpoint_registers() const {
  return breakpoint_registers_stop_threads(*this);
}

result<void> ptrace_calls::call(const char* doing, int request, pid_t thread, unsigned long address,
                                unsigned long data) const {
  const long answer = raw(request, thread, address, data);
  if (answer < 0) return fail(ptrace_failure(doing, thread, static_cast<int>(-answer)));
  return {};
}

result<void> ptrace_calls::seize(pid_t thread, unsigned long options) const {
  const long answer = raw(PTRACE_SEIZE, thread, 0, options);
  if (answer >= 0) return {};
  const int reason = static_cast<int>(-answer);
  // A system call filter may answer ENOSYS, as if the kernel had no ptrace.
  if (reason != EPERM && reason != EACCES && reason != ENOSYS) return fail(ptrace_failure("attach to", thread, reason));
  error refusal = explain_refusal(facts_about(thread));
  refusal.system_errno = reason;
  return fail(std::move(refusal));
}

result<void> ptrace_calls::set_options(pid_t thread, unsigned long options) const {
  return call("set the tracing options of", PTRACE_SETOPTIONS, thread, 0, options);
}

result<void> ptrace_calls::interrupt(pid_t thread) const {
  return call("interrupt", PTRACE_INTERRUPT, thread, 0, 0);
}

result<void> ptrace_calls::resume(pid_t thread, int signal) const {
  return call("continue", PTRACE_CONT, thread, 0, static_cast<unsigned long>(signal));
}

result<void> ptrace_calls::step(pid_t thread, int signal) const {
  return call("step", PTRACE_SINGLESTEP, thread, 0, static_cast<unsigned long>(signal));
}

result<void> ptrace_calls::listen(pid_t thread) const {
  return call("leave in its group stop", PTRACE_LISTEN, thread, 0, 0);
}

result<void> ptrace_calls::detach(pid_t thread, int signal) const {
  return call("detach from", PTRACE_DETACH, thread, 0, static_cast<unsigned long>(signal));
}

result<unsigned long> ptrace_calls::event_message(pid_t thread) const {
  unsigned long message = 0;
  return call("read the event of", PTRACE_GETEVENTMSG, thread, 0, as_word(&message)).map([&] { return message; });
}

result<siginfo_t> ptrace_calls::signal_info(pid_t thread) const {
  siginfo_t info{};
  return call("read the signal of", PTRACE_GETSIGINFO, thread, 0, as_word(&info)).map([&] { return info; });
}

result<unsigned long> ptrace_calls::peek_user(pid_t thread, std::size_t offset) const {
  unsigned long word = 0;
  return call("read a register of", PTRACE_PEEKUSER, thread, offset, as_word(&word)).map([&] { return word; });
}

result<void> ptrace_calls::poke_user(pid_t thread, std::size_t offset, unsigned long value) const {
  return call("write a register of", PTRACE_POKEUSER, thread, offset, value);
}

result<std::size_t> ptrace_calls::get_registers(pid_t thread, unsigned long set, std::span<std::byte> into) const {
  iovec piece{into.data(), into.size()};
  return call("read the registers of", PTRACE_GETREGSET, thread, set, as_word(&piece)).map([&] {
    return piece.iov_len;
  });
}

result<void> ptrace_calls::set_registers(pid_t thread, unsigned long set, std::span<const std::byte> from) const {
  // The kernel only reads these bytes.
  iovec piece{const_cast<std::byte*>(from.data()), from.size()};  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  return call("write the registers of", PTRACE_SETREGSET, thread, set, as_word(&piece));
}

}  // namespace mpiacq::tracing
