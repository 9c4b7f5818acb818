// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What takes the breakpoints out of running processes if this one dies.
//
// Neither kind vanishes with its tracer. The debug registers of a thread stay as they were set when the tracer ends
// (seen on Linux 6.18: a thread that comes to such a place afterwards is killed by SIGTRAP), and a trap instruction
// stays in the code anyway. So a small process stands beside each tracer that has breakpoints somewhere. It sleeps
// until the tracing thread ends without having said goodbye, and then clears what a shared table says is in. It has a
// session of its own, blocks every signal, and holds no descriptor of the host program.
//
// What is left is the time between the thread's death and the guard's work, some tens of microseconds: a thread that
// runs onto a breakpoint just then is killed by it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <pthread.h>
#include <sys/types.h>

#include "mpiacq/address.hpp"
#include "mpiacq/error.hpp"

namespace mpiacq::tracing {

/// One breakpoint that is, or is about to be, armed. An entry is valid while `process` is not 0; that is written last
/// and cleared first.
struct guarded_breakpoint {
  std::atomic<pid_t> process;
  bool is_software;
  std::uint8_t length;
  std::array<std::byte, 8> original;
  std::uint64_t address;
};

inline constexpr std::size_t most_guarded = 1024;

struct guard_table {
  /// Held by the tracing thread for as long as it lives. It is robust: when that thread ends, by whatever means, the
  /// kernel marks it (FUTEX_OWNER_DIED) and wakes the guard, before the tool's memory and descriptors are torn down,
  /// which a pipe would have to wait for.
  pthread_mutex_t alive;
  std::atomic<std::uint32_t> taken_over;  ///< 1: the guard holds every thread; a futex
  std::atomic<std::uint32_t> used;        ///< entries beyond were never valid
  std::array<guarded_breakpoint, most_guarded> entries;
};

class guard {
 public:
  /// Starts the guarding process, as a child of the calling thread, whose death it waits for. It sends no SIGCHLD and
  /// is seen by no wait of the host program's but one with __WALL or __WCLONE.
  [[nodiscard]] static result<std::unique_ptr<guard>> start();
  /// Ends it. Where something is left in the table, in threads that could not be stopped, it is left to do its work
  /// when they come back from the kernel.
  ~guard();
  guard(const guard&) = delete;
  guard& operator=(const guard&) = delete;

  /// Before a breakpoint is armed. limit: the table is full.
  [[nodiscard]] result<void> add(pid_t process, target_address address, std::span<const std::byte> original);
  /// After it is out for good.
  void remove(pid_t process, target_address address);
  void remove_all_of(pid_t process);
  [[nodiscard]] pid_t id() const { return id_; }
  /// When the tracing thread has ended with threads that it could not stop: waits until the guard has them. It lets go
  /// of them as they come back from the kernel.
  void await_take_over();
  /// Its end has been waited for.
  void has_ended() { id_ = 0; }

 private:
  guard(pid_t id, guard_table* table) : id_(id), table_(table) {}
  pid_t id_;
  guard_table* table_;
};

/// The life of the guarding process. Uses system calls and its own stack only: it is a copy of one thread of a program
/// whose other threads may have held any lock.
[[noreturn]] void run_guard(guard_table& table);

}  // namespace mpiacq::tracing
