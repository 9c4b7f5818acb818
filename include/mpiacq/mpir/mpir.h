// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#ifndef MPIACQ_MPIR_H
#define MPIACQ_MPIR_H

// NOLINTBEGIN(modernize-*, readability-identifier-naming): C has other headers and other names for constants.
#include <stddef.h>
#include <stdint.h>

/// @file
/// The state machine of MPIR 1.1 in C, for debuggers that are not written in C++ or that control processes themselves.
///
/// It does what mpiacq/mpir/mpir_acquisition.hpp describes. It controls no process: the debugger tells it what
/// happened, it looks at the target through the functions of the debugger, and answers what to do.
///
/// @code
///   struct mpiacq_mpir* m;
///   mpiacq_mpir_create(NULL, &m);
///   ... the starter is at its entry point ...
///   mpiacq_mpir_at_entry(m, &target);
///   for (size_t i = 0; mpiacq_mpir_action(m, i, &action) == MPIACQ_OK; ++i) ... do it ...
/// @endcode
///
/// The functions are part of the library. A program that links the library statically is linked as a C++ program.
///
/// Calls return MPIACQ_OK or an error; `mpiacq_mpir_error` then has the sentence. No call throws, exits or prints. One
/// thread at a time uses a handle and what the handle gave.
///
/// Structures: the side that fills a structure sets `struct_size` to its sizeof as compiled, so that later versions can
/// add members at the end. Bytes beyond are neither read nor written. Set all other members to zero.
///
/// Strings and bytes from a handle are valid until the next call on this handle that looks at a target, or shorter if
/// the comment says so. Strings of the caller are copied.

#ifdef __cplusplus
extern "C" {
#endif

/// What a call returns. The codes after MPIACQ_OK are those of mpiacq::error_code.
enum mpiacq_code {
  MPIACQ_OK = 0,
  MPIACQ_INVALID_ARGUMENT = 1,
  MPIACQ_NOT_FOUND = 2,
  MPIACQ_PERMISSION = 3,
  MPIACQ_PROCESS_GONE = 4,
  MPIACQ_BUSY = 5,
  MPIACQ_EXEC_FAILED = 6,
  MPIACQ_BAD_FORMAT = 7,
  MPIACQ_UNREADABLE_MEMORY = 8,
  MPIACQ_LIMIT = 9,
  MPIACQ_TIMED_OUT = 10,
  MPIACQ_WRONG_THREAD = 11,
  MPIACQ_UNSUPPORTED = 12,
  MPIACQ_SYSTEM = 13,
  MPIACQ_NO_MEMORY = 14,  ///< this process has no memory left
  MPIACQ_INTERNAL = 15    ///< an exception inside the library or a callback
};

/// One piece of the target's memory to read: `size` bytes at `address` into `into`. The callback sets `got` to the
/// number of bytes read.
struct mpiacq_range {
  uint64_t address;
  void* into;
  size_t size;
  size_t got;
};

/// A symbol of the target.
struct mpiacq_symbol {
  uint64_t address;  ///< at run time
  uint64_t size;     ///< bytes, from the symbol table; 0 if it is not known
};

/// The layout of MPIR_PROCDESC: bytes from one entry to the next, and where its fields are (9.2).
struct mpiacq_layout {
  size_t struct_size;
  uint64_t size;
  uint64_t host_name_offset;
  uint64_t executable_name_offset;
  uint64_t pid_offset;
  uint64_t pid_size;
};

/// A process as the library sees it. The functions get `context`, and are called only during a call with this target.
/// The process must be stopped during the call.
struct mpiacq_target {
  size_t struct_size;
  const char* name;      ///< its name in sentences, such as the path of the executable; NULL: "the program"
  uint8_t pointer_size;  ///< 4 or 8
  uint8_t big_endian;    ///< 0 or 1
  uint8_t int_size;      ///< of a C int in bytes; 0 means 4
  void* context;
  /// Reads all ranges, each up to its first unreadable byte. Returns MPIACQ_OK, or MPIACQ_PROCESS_GONE or
  /// MPIACQ_PERMISSION if nothing can be read any more.
  int (*read)(void* context, struct mpiacq_range* ranges, size_t count);
  /// Writes all bytes. Returns MPIACQ_OK or an error. NULL: the target cannot be written (a core file). Only
  /// `mpiacq_mpir_carry_out_writes` calls it.
  int (*write)(void* context, uint64_t address, const void* bytes, size_t size);
  /// Looks a symbol up in the whole program. Returns a positive number if it was found, 0 if it does not exist, a
  /// negative number if it cannot be looked up.
  int (*find_symbol)(void* context, const char* name, struct mpiacq_symbol* into);
  /// The structure that MPIR_proctable points to, from debug information. Returns as `find_symbol`. NULL: there is no
  /// debug information; then the layout is inferred from the ABI and checked against the table. `into->struct_size` is
  /// already set.
  int (*descriptor_layout)(void* context, struct mpiacq_layout* into);
};

/// What the state machine does in addition (mpir::acquisition_options).
struct mpiacq_mpir_options {
  size_t struct_size;
  const char* daemon_path;              ///< NULL: no daemons (7.1)
  const char* const* daemon_arguments;  ///< `daemon_argument_count` of them
  size_t daemon_argument_count;
  int forward_output;     ///< also set MPIR_forward_output
  int watch_debug_state;  ///< also request a watch of MPIR_debug_state
  uint64_t max_entries;   ///< of a table; 0: 2^26
};

/// A state machine for one starter.
struct mpiacq_mpir;

/// Creates a state machine. `options` may be NULL. `*into` is NULL after an error.
int mpiacq_mpir_create(const struct mpiacq_mpir_options* options, struct mpiacq_mpir** into);
/// Destroys a state machine. `m` may be NULL.
void mpiacq_mpir_destroy(struct mpiacq_mpir* m);
/// Why the last call on the handle failed; "" if it did not. Valid until the next call on the handle. With NULL: the
/// last call without a handle.
const char* mpiacq_mpir_error(const struct mpiacq_mpir* m);

/// The starter is at its entry point. This and the following functions replace the list of actions; after an error the
/// list is empty.
int mpiacq_mpir_at_entry(struct mpiacq_mpir* m, const struct mpiacq_target* starter);
/// The tool has attached to a running starter.
int mpiacq_mpir_at_attach(struct mpiacq_mpir* m, const struct mpiacq_target* starter);
/// Some time has passed since MPIACQ_AWAIT_TABLE. If `as_it_is` is not 0, an incomplete table is reported as it is.
int mpiacq_mpir_look_again(struct mpiacq_mpir* m, const struct mpiacq_target* starter, int as_it_is);
/// A library was mapped since MPIACQ_WATCH_MODULES.
int mpiacq_mpir_modules_changed(struct mpiacq_mpir* m, const struct mpiacq_target* starter);
/// A thread has reached the breakpoint.
int mpiacq_mpir_at_breakpoint(struct mpiacq_mpir* m, const struct mpiacq_target* starter);
/// The starter has written MPIR_debug_state.
int mpiacq_mpir_at_state_written(struct mpiacq_mpir* m, const struct mpiacq_target* starter);
/// The tool is about to detach from the starter.
int mpiacq_mpir_before_detach(struct mpiacq_mpir* m, const struct mpiacq_target* starter);
/// The tool has attached to a rank: being_debugged = 1 (9.3).
int mpiacq_mpir_rank_attached(struct mpiacq_mpir* m, const struct mpiacq_target* rank);
/// A rank should go on: the gate = 1 (9.8).
int mpiacq_mpir_rank_release(struct mpiacq_mpir* m, const struct mpiacq_target* rank);
/// The tool is about to detach from a rank: being_debugged = 0 (9.3).
int mpiacq_mpir_rank_before_detach(struct mpiacq_mpir* m, const struct mpiacq_target* rank);

/// What to do.
enum mpiacq_action_kind {
  MPIACQ_PLANT_BREAKPOINT = 1,  ///< at `address`
  MPIACQ_LIFT_BREAKPOINT = 2,   ///< at `address`
  MPIACQ_WRITE = 3,             ///< `size` `bytes` at `address`; `text` is the variable's name
  MPIACQ_WATCH_VARIABLE = 4,    ///< `size` bytes at `address`, for writes
  MPIACQ_UNWATCH_VARIABLE = 5,
  MPIACQ_KICK_FIFO = 6,         ///< write one byte 1 into the FIFO `text`; see mpir::kick_fifo for what to check first
  MPIACQ_WATCH_MODULES = 7,     ///< call modules_changed when a library has been mapped
  MPIACQ_AWAIT_TABLE = 8,       ///< call look_again at intervals; `claimed`, `filled`, `looks_like_rank`
  MPIACQ_REPORT_PROCESSES = 9,  ///< the table exists: mpiacq_mpir_rank
  MPIACQ_REPORT_ABORT = 10,     ///< `text` is the reason, or NULL
  MPIACQ_REPORT_DAEMONS = 11,   ///< the daemons were launched
  MPIACQ_REPORT_PROBLEM = 12    ///< `code`, `text`
};

/// One action. Which members are set depends on `kind` (enum mpiacq_action_kind).
struct mpiacq_action {
  size_t struct_size;
  int kind;
  int code;
  uint64_t address;
  size_t size;
  const void* bytes;
  const char* text;
  uint64_t claimed;
  uint64_t filled;
  int looks_like_rank;
};

/// The number of actions of the last answer.
size_t mpiacq_mpir_action_count(const struct mpiacq_mpir* m);
/// One action of the last answer. Carry the actions out in their order. MPIACQ_NOT_FOUND beyond the end.
int mpiacq_mpir_action(const struct mpiacq_mpir* m, size_t index, struct mpiacq_action* into);
/// Does all writes of the last answer in order through `target->write`, up to the first failure. The list stays.
int mpiacq_mpir_carry_out_writes(struct mpiacq_mpir* m, const struct mpiacq_target* target);

/// The name of the n-th required symbol that is missing; NULL beyond the last one. Before the first look, all are
/// missing.
const char* mpiacq_mpir_missing(const struct mpiacq_mpir* m, size_t index);
/// The address of MPIR_Breakpoint; 0 if it is not found.
uint64_t mpiacq_mpir_breakpoint(const struct mpiacq_mpir* m);

/// The state of a request for daemons (mpir::daemon_launch).
enum mpiacq_daemons {
  MPIACQ_DAEMONS_NOT_ASKED = 0,
  MPIACQ_DAEMONS_REFUSED = 1,
  MPIACQ_DAEMONS_AT_SPAWN = 2,
  MPIACQ_DAEMONS_BY_FIFO = 3,
  MPIACQ_DAEMONS_BY_POLLING = 4,
  MPIACQ_DAEMONS_DONE = 5
};

/// What is known of the job in addition to its processes (mpir::job_facts).
struct mpiacq_facts {
  size_t struct_size;
  int starter_is_rank;
  int acquired_pre_main;
  int force_to_main;
  int partial_attach_ok;
  int ignore_queues;
  int can_launch_daemons;
  int can_forward_output;
  int daemons;  ///< enum mpiacq_daemons
  const char* attach_fifo;
  const char* job_id;  ///< attach_fifo, job_id and step_id may be NULL
  const char* step_id;
};
/// The facts of the job.
int mpiacq_mpir_facts(const struct mpiacq_mpir* m, struct mpiacq_facts* into);

/// One entry of the process table.
struct mpiacq_rank {
  size_t struct_size;
  int64_t pid;             ///< as published
  const char* host;        ///< NULL if it cannot be read; the problems say why
  const char* executable;  ///< likewise
};
/// A fault of one field of the process table.
struct mpiacq_problem {
  size_t struct_size;
  size_t rank;
  const char* sentence;  ///< valid until the next call on the handle
};

/// The number of entries of the last reported table.
size_t mpiacq_mpir_rank_count(const struct mpiacq_mpir* m);
/// One entry of the last reported table: entry i is rank i. MPIACQ_NOT_FOUND beyond the end. The strings are valid
/// until another table is reported.
int mpiacq_mpir_rank(struct mpiacq_mpir* m, size_t index, struct mpiacq_rank* into);
/// The number of faults of single fields, at most 65,536.
size_t mpiacq_mpir_problem_count(const struct mpiacq_mpir* m);
/// One fault, in the order of ranks. MPIACQ_NOT_FOUND beyond the end.
int mpiacq_mpir_problem(struct mpiacq_mpir* m, size_t index, struct mpiacq_problem* into);
/// Where the layout comes from: "dwarf", "inferred"; NULL before the first table.
const char* mpiacq_mpir_layout_source(const struct mpiacq_mpir* m);

#ifdef __cplusplus
}
#endif
// NOLINTEND(modernize-*, readability-identifier-naming)
#endif
