// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What takes the breakpoints out of running processes if this one dies.
//
// Neither kind vanishes with its tracer. The debug registers of a thread stay as they were set when the tracer ends
// (seen on Linux 6.18: a thread that comes to such a place afterwards is killed by SIGTRAP), and a trap instruction
// stays in the code anyway. So a small process stands beside each tracer that has launched or attached to something. It
// sleeps in poll until the tool ends, and then clears what a shared table says is in. It has a session of its own,
// blocks every signal, and holds no descriptor of the host program.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <sys/types.h>

#include "mpiacq/address.hpp"
#include "mpiacq/error.hpp"
#include "proc_files.hpp"

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
  std::atomic<std::uint32_t> taken_over;  ///< 1: the guard holds every thread; a futex
  std::atomic<std::uint32_t> used;        ///< entries beyond were never valid
  std::array<guarded_breakpoint, most_guarded> entries;
};

class guard {
 public:
  /// Starts the guarding process, as a child of the calling thread. It sends no SIGCHLD and is seen by no wait of the
  /// host program's but one with __WALL or __WCLONE.
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
  /// Lets it do its work now: the threads that could not be stopped are let go of as they come back from the kernel. To
  /// be called when the tracing thread, which still has them, has ended.
  void take_over();
  /// Its end has been waited for.
  void has_ended() { id_ = 0; }

 private:
  guard(pid_t id, unique_fd alive, guard_table* table) : id_(id), alive_(std::move(alive)), table_(table) {}
  pid_t id_;
  unique_fd alive_;  ///< its other end is the guard's: when the last of ours closes, we are gone
  guard_table* table_;
};

/// The life of the guarding process. Uses system calls and its own stack only: it is a copy of one thread of a program
/// whose other threads may have held any lock.
[[noreturn]] void run_guard(int alive, int tool, guard_table& table);

}  // namespace mpiacq::tracing
