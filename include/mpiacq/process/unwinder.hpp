// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// Stacks of stopped threads, computed with the unwind tables of their code (.eh_frame).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mpiacq/base/abi.hpp"
#include "mpiacq/base/memory.hpp"
#include "mpiacq/process/call_arguments.hpp"
#include "mpiacq/process/call_description.hpp"
#include "mpiacq/process/registers.hpp"
#include "mpiacq/process/unwind_modules.hpp"
#include "mpiacq/ranks/stacks.hpp"

namespace mpiacq {

/// The unwind tables of modules, shared by all processes that have the same modules loaded. The tables are read from
/// the first process that needs them, in pieces of 64 KiB and only as needed, and kept for as long as this object
/// lives. Thread: any, several at a time.
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

/// How stacks are walked.
struct walk_options {
  std::size_t max_frames = 4096;  ///< for one stack; at least 1
};

/// One frame without the names of its place.
struct raw_frame {
  target_address pc;  ///< the next instruction; in a caller, the instruction after its call
  /// `pc` is a return address. Look up the code at `pc - 1`: a call that never returns may be the last instruction of
  /// its function.
  bool is_return_address = false;
  bool signal_frame = false;  ///< the code to which a signal handler returns; the next frame is the interrupted code
  target_address sp;          ///< the stack pointer at `pc`; in a caller, as it is when the called function returns
  friend bool operator==(const raw_frame&, const raw_frame&) = default;
};

/// The stack of one thread, innermost frame first. It has at least one frame.
struct raw_stack {
  thread_id thread;
  std::vector<raw_frame> frames;
  stack_end end = stack_end::outermost;
  std::string why;  ///< empty for `outermost`; else one clause that names the address
};

/// Walks stacks of one process.
///
/// Callers are found only by the rules of DWARF's call frame information, never by guessing along frame pointers. A
/// walk that reaches code without tables ends there and says so. Three cases need no tables: the return from a signal
/// handler, stubs that only jump, and calls through a bad pointer.
///
/// Everything from the process is checked before it is evaluated: the bounds of a record, its encodings, its program.
/// The unwinder refuses what DWARF allows and compilers do not produce: jumps and divisions in expressions, records of
/// more than 64 KiB, tables outside the segment of their header.
///
/// On x86-64 the stacks of 32-bit programs (i386) are walked as well.
///
/// Thread: one at a time; several unwinders of several threads may share tables.
class unwinder {
 public:
  /// An unwinder for one process. `modules` are those of `unwind_modules_of`; create another unwinder when the process
  /// has mapped or unmapped a module. `memory` must outlive this object. Errors: unsupported (the library walks x86-64
  /// and i386 on x86-64, and aarch64 on aarch64), invalid_argument (no tables).
  [[nodiscard]] static result<std::unique_ptr<unwinder>> create(const target_abi& abi,
                                                                std::shared_ptr<unwind_tables> tables,
                                                                std::vector<unwind_module> modules,
                                                                memory_reader& memory);
  ~unwinder();
  unwinder(const unwinder&) = delete;
  unwinder& operator=(const unwinder&) = delete;

  /// The stacks of stopped threads, in the order of `threads`. Each call reads memory anew: the tops of all stacks at
  /// once, the deeper parts as needed. Errors: those of `memory_reader::read_ranges`.
  [[nodiscard]] result<std::vector<raw_stack>> walk(std::span<const thread_registers> threads,
                                                    const walk_options& options = {});
  /// The stack of one stopped thread.
  [[nodiscard]] result<raw_stack> walk(const thread_registers& thread, const walk_options& options = {});

  /// The first `count` integer arguments of the call that created frame number `frame` of a stopped thread's stack,
  /// which `walk` has found.
  ///
  /// Debug information is not needed. If the caller has some, `describe` finds its description of the call
  /// (`code_catalogue::call_before`): this adds arguments that the instructions do not show, among them those with
  /// which the caller itself was called (DW_OP_entry_value). An argument for which both give different values is
  /// unknown.
  ///
  /// If the called function itself is described (`code_catalogue::parameters_around`), `places` finds its parameters in
  /// its frame (argument_source::debug_information): arguments of tail calls, and others that its caller does not show.
  /// They are what the variables are now. Frame 0 is left out: its parameters may be on their way to their places.
  ///
  /// The instructions in front of the call are followed back to constants, addresses,
  /// slots of the caller's frame, and registers that a called function keeps (x86-64 and aarch64). An argument that
  /// cannot be followed is unknown, and all are unknown if the instruction before the return address does not call
  /// this function: then the function was entered by a tail call. Values in memory are read now: the process must be
  /// stopped since the registers were read. A call is analysed, and `describe` is asked, once for all processes that
  /// share tables.
  ///
  /// Errors: those of `memory_reader::read_ranges`.
  [[nodiscard]] result<call_arguments> arguments(const thread_registers& thread, std::size_t frame, std::size_t count,
                                                 const find_call_description& describe = {},
                                                 const find_parameter_places& places = {});

  /// The registers of the caller of frame number `frame` that a called function keeps, as they are when that frame
  /// returns: rbx, rbp and r12 to r15 on x86-64. All others, and those that cannot be had, are 0. Empty if the stack
  /// has no such caller. Memory is read now: the process must be stopped since the registers were read, or `memory` has
  /// copies. Errors: those of `memory_reader::read_ranges`.
  [[nodiscard]] result<std::optional<thread_registers>> kept_registers(const thread_registers& thread,
                                                                       std::size_t frame);

 private:
  struct state;
  explicit unwinder(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

}  // namespace mpiacq
