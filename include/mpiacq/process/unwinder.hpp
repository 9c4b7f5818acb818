// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Walks the stacks of stopped threads by the unwind tables that their code was loaded with (.eh_frame).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mpiacq/base/abi.hpp"
#include "mpiacq/base/memory.hpp"
#include "mpiacq/process/registers.hpp"
#include "mpiacq/process/unwind_modules.hpp"
#include "mpiacq/ranks/stacks.hpp"

namespace mpiacq {

/// The unwind tables of modules, shared by all processes that have the same modules loaded: what one unwinder has read
/// is not read again for another. They are read from the first process that needs them, in pieces of 64 KiB, and only
/// the pieces that are needed.
/// Thread: any, also several at a time. It keeps what it has read for as long as it lives.
class unwind_tables {
 public:
  unwind_tables();
  ~unwind_tables();
  unwind_tables(const unwind_tables&) = delete;
  unwind_tables& operator=(const unwind_tables&) = delete;

 private:
  friend class unwinder;
  struct state;
  std::unique_ptr<state> state_;
};

struct walk_options {
  std::size_t max_frames = 4096;  ///< of one stack; at least 1
};

/// One frame before anybody has named its place.
struct raw_frame {
  target_address pc;  ///< the instruction that runs next; in a caller, the one after its call
  /// `pc` was left by a call. What it belongs to is found at `pc - 1`: a call that never returns may be the last
  /// instruction of its function.
  bool is_return_address = false;
  bool signal_frame = false;  ///< the code that a signal handler returns to; the next frame is what was interrupted
  friend bool operator==(const raw_frame&, const raw_frame&) = default;
};

/// The stack of one thread, innermost frame first; there is at least one.
struct raw_stack {
  thread_id thread;
  std::vector<raw_frame> frames;
  stack_end end = stack_end::outermost;
  std::string why;  ///< empty for `outermost`; else one clause with the address
};

/// Walks stacks of one process.
///
/// The caller is found by the rules of DWARF's call frame information alone, never by guessing along frame pointers: a
/// walk that comes to code without tables ends there and says so. Known without tables are the kernel's way back from
/// a signal handler, stubs that only jump on, and calls through a bad pointer (the return address is then where the
/// call has put it).
///
/// Everything that comes out of the process is checked before libunwind or our own evaluator sees it: the bounds of a
/// record, its encodings, its program. What DWARF allows in it and compilers do not make is refused: jumps and
/// divisions in expressions, records of more than 64 KiB, tables that lie apart from their header's segment.
///
/// On x86-64 the stacks of 32-bit programs (i386) are walked as well. libunwind walks no such code from there, so that
/// our own evaluator follows all of their rules.
///
/// Thread: one at a time; several unwinders of several threads may share their tables.
class unwinder {
 public:
  /// `modules` are those of `unwind_modules_of`. When the process has mapped or unmapped a module, make another
  /// unwinder. `memory` must outlive this. Errors: unsupported (the ABI is none that this library walks on this
  /// machine: x86-64 and i386 on x86-64, aarch64 on aarch64), invalid_argument (no tables).
  [[nodiscard]] static result<std::unique_ptr<unwinder>> create(const target_abi& abi,
                                                                std::shared_ptr<unwind_tables> tables,
                                                                std::vector<unwind_module> modules,
                                                                memory_reader& memory);
  ~unwinder();
  unwinder(const unwinder&) = delete;
  unwinder& operator=(const unwinder&) = delete;

  /// The stacks of threads that are stopped, in the order of `threads`. Memory is read anew with each call: the tops of
  /// all stacks at once, what lies deeper as it is needed. Errors: only those that concern the whole target.
  [[nodiscard]] result<std::vector<raw_stack>> walk(std::span<const thread_registers> threads,
                                                    const walk_options& options = {});
  /// One thread's.
  [[nodiscard]] result<raw_stack> walk(const thread_registers& thread, const walk_options& options = {});

 private:
  struct state;
  explicit unwinder(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

}  // namespace mpiacq
