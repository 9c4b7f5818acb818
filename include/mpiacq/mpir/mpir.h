// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#ifndef MPIACQ_MPIR_H
#define MPIACQ_MPIR_H

// NOLINTBEGIN(modernize-*, readability-identifier-naming): C has other headers and other names for constants.
#include <stddef.h>
#include <stdint.h>

// The MPIR Process Acquisition Interface 1.1 from the tool's side, in C, for debuggers that are not written in C++ or
// that control their processes themselves. It is the state machine of mpiacq/mpir.hpp and does what that page says: it
// drives nothing, is told what happened, looks at the target through the caller's functions, and answers what to do.
//
//   struct mpiacq_mpir* m;
//   mpiacq_mpir_create(NULL, &m);
//   ... the starter stands at its entry point ...
//   mpiacq_mpir_at_entry(m, &target);
//   for (size_t i = 0; mpiacq_mpir_action(m, i, &action) == MPIACQ_OK; ++i) ... do it ...
//
// The functions are part of the library; a program that links it statically is linked as a C++ program is.
//
// Calls: give MPIACQ_OK or an error; `mpiacq_mpir_error` then has the sentence. No call throws, exits or prints. One
// thread at a time uses a handle and what it gave.
// Structures: whoever makes one sets `struct_size` to its sizeof as compiled, so that later versions can add members at
// the end; what is beyond it is neither read nor written. Zero every member that is not set.
// Strings and bytes that are handed out end with the next call on the same handle that looks at a target, or sooner
// where that is said. Strings that are handed in are copied.

#ifdef __cplusplus
extern "C" {
#endif

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
  MPIACQ_NO_MEMORY = 14,  // this process's own
  MPIACQ_INTERNAL = 15    // an exception, also one of a callback's
};

// One piece of target memory to be read: `size` bytes at `address` into `into`. The callback sets `got`.
struct mpiacq_range {
  uint64_t address;
  void* into;
  size_t size;
  size_t got;
};

struct mpiacq_symbol {
  uint64_t address;  // at run time
  uint64_t size;     // bytes, from the symbol table; 0 where that is not known
};

// The layout of MPIR_PROCDESC: bytes from one entry to the next, and where its fields are (9.2).
struct mpiacq_layout {
  size_t struct_size;
  uint64_t size;
  uint64_t host_name_offset;
  uint64_t executable_name_offset;
  uint64_t pid_offset;
  uint64_t pid_size;
};

// A process as the library sees it. The caller's functions get `context`, and are called only within a call that was
// handed this target; the process must be stopped for so long.
struct mpiacq_target {
  size_t struct_size;
  const char* name;      // for sentences, such as the executable's path; NULL: "the program"
  uint8_t pointer_size;  // 4 or 8
  uint8_t big_endian;    // 0 or 1
  uint8_t int_size;      // of a C int; 0 stands for 4
  void* context;
  // Reads all ranges, each up to the first byte that cannot be read. MPIACQ_OK, or MPIACQ_PROCESS_GONE or
  // MPIACQ_PERMISSION where nothing can be read any more.
  int (*read)(void* context, struct mpiacq_range* ranges, size_t count);
  // Writes all of the bytes: MPIACQ_OK or an error. NULL: the target cannot be written, as a core file. It is called by
  // `mpiacq_mpir_carry_out_writes` alone.
  int (*write)(void* context, uint64_t address, const void* bytes, size_t size);
  // Looks a symbol up in the whole program: more than 0 found, 0 not there, less than 0 cannot be told.
  int (*find_symbol)(void* context, const char* name, struct mpiacq_symbol* into);
  // The structure that MPIR_proctable points to, from debug information, as above. NULL: there is none, and the layout
  // is inferred from the ABI and checked against the table. `into->struct_size` is set already.
  int (*descriptor_layout)(void* context, struct mpiacq_layout* into);
};

struct mpiacq_mpir_options {
  size_t struct_size;
  const char* daemon_path;              // NULL: no daemons (7.1)
  const char* const* daemon_arguments;  // `daemon_argument_count` of them
  size_t daemon_argument_count;
  int forward_output;     // also set MPIR_forward_output
  int watch_debug_state;  // also ask for a watch of MPIR_debug_state
  uint64_t max_entries;   // of a table; 0: the default, 2^26
};

struct mpiacq_mpir;

// `options` may be NULL. `*into` is NULL after an error.
int mpiacq_mpir_create(const struct mpiacq_mpir_options* options, struct mpiacq_mpir** into);
void mpiacq_mpir_destroy(struct mpiacq_mpir* m);
// Why the last call failed; "" where it did not. Ends with the next call on the handle. A NULL handle: a call without
// one.
const char* mpiacq_mpir_error(const struct mpiacq_mpir* m);

// What happened. Each answers a new list of actions; after an error the list is empty.
int mpiacq_mpir_at_entry(struct mpiacq_mpir* m, const struct mpiacq_target* starter);
int mpiacq_mpir_at_attach(struct mpiacq_mpir* m, const struct mpiacq_target* starter);
// `as_it_is`: not 0 takes the table whatever its state, for a caller whose patience has ended.
int mpiacq_mpir_look_again(struct mpiacq_mpir* m, const struct mpiacq_target* starter, int as_it_is);
int mpiacq_mpir_modules_changed(struct mpiacq_mpir* m, const struct mpiacq_target* starter);
int mpiacq_mpir_at_breakpoint(struct mpiacq_mpir* m, const struct mpiacq_target* starter);
int mpiacq_mpir_at_state_written(struct mpiacq_mpir* m, const struct mpiacq_target* starter);
int mpiacq_mpir_before_detach(struct mpiacq_mpir* m, const struct mpiacq_target* starter);
// The same for one rank (9.3, 9.8): being_debugged = 1; the gate = 1; being_debugged = 0.
int mpiacq_mpir_rank_attached(struct mpiacq_mpir* m, const struct mpiacq_target* rank);
int mpiacq_mpir_rank_release(struct mpiacq_mpir* m, const struct mpiacq_target* rank);
int mpiacq_mpir_rank_before_detach(struct mpiacq_mpir* m, const struct mpiacq_target* rank);

enum mpiacq_action_kind {
  MPIACQ_PLANT_BREAKPOINT = 1,  // at `address`
  MPIACQ_LIFT_BREAKPOINT = 2,   // at `address`
  MPIACQ_WRITE = 3,             // `size` `bytes` at `address`; `text` is the variable's name
  MPIACQ_WATCH_VARIABLE = 4,    // `size` bytes at `address`, for writes
  MPIACQ_UNWATCH_VARIABLE = 5,
  MPIACQ_KICK_FIFO = 6,         // one byte 1 into the FIFO `text`; see mpir.hpp for what to check first
  MPIACQ_WATCH_MODULES = 7,     // call modules_changed when a library has been mapped
  MPIACQ_AWAIT_TABLE = 8,       // call look_again at intervals; `claimed`, `filled`, `looks_like_rank`
  MPIACQ_REPORT_PROCESSES = 9,  // the table is there: mpiacq_mpir_rank
  MPIACQ_REPORT_ABORT = 10,     // `text` is the reason, or NULL
  MPIACQ_REPORT_DAEMONS = 11,   // the daemons were launched
  MPIACQ_REPORT_PROBLEM = 12    // `code`, `text`
};

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

// The last answer, to be carried out in its order. MPIACQ_NOT_FOUND past its end.
size_t mpiacq_mpir_action_count(const struct mpiacq_mpir* m);
int mpiacq_mpir_action(const struct mpiacq_mpir* m, size_t index, struct mpiacq_action* into);
// Does all writes of the last answer, in order, by `target->write`; the list stays. Ends at the first that fails.
int mpiacq_mpir_carry_out_writes(struct mpiacq_mpir* m, const struct mpiacq_target* target);

// The interface's symbols. The n-th required one that is not there, NULL past the last; all, before the first look.
const char* mpiacq_mpir_missing(const struct mpiacq_mpir* m, size_t index);
// Where MPIR_Breakpoint is; 0 where it is not found.
uint64_t mpiacq_mpir_breakpoint(const struct mpiacq_mpir* m);

enum mpiacq_daemons {
  MPIACQ_DAEMONS_NOT_ASKED = 0,
  MPIACQ_DAEMONS_REFUSED = 1,
  MPIACQ_DAEMONS_AT_SPAWN = 2,
  MPIACQ_DAEMONS_BY_FIFO = 3,
  MPIACQ_DAEMONS_BY_POLLING = 4,
  MPIACQ_DAEMONS_DONE = 5
};

struct mpiacq_facts {
  size_t struct_size;
  int starter_is_rank;
  int acquired_pre_main;
  int force_to_main;
  int partial_attach_ok;
  int ignore_queues;
  int can_launch_daemons;
  int can_forward_output;
  int daemons;  // enum mpiacq_daemons
  const char* attach_fifo;
  const char* job_id;  // these three may be NULL
  const char* step_id;
};
int mpiacq_mpir_facts(const struct mpiacq_mpir* m, struct mpiacq_facts* into);

struct mpiacq_rank {
  size_t struct_size;
  int64_t pid;             // as published
  const char* host;        // NULL where it cannot be read: the problems say why
  const char* executable;  // likewise
};
struct mpiacq_problem {
  size_t struct_size;
  size_t rank;
  const char* sentence;  // ends with the next call on the handle
};

// The last table reported: entry i is rank i. MPIACQ_NOT_FOUND past the end. Its strings live until another table is
// reported.
size_t mpiacq_mpir_rank_count(const struct mpiacq_mpir* m);
int mpiacq_mpir_rank(struct mpiacq_mpir* m, size_t index, struct mpiacq_rank* into);
// What is wrong with single fields, in order of ranks; at most the first 65,536.
size_t mpiacq_mpir_problem_count(const struct mpiacq_mpir* m);
int mpiacq_mpir_problem(struct mpiacq_mpir* m, size_t index, struct mpiacq_problem* into);
// Where the layout was learnt: "dwarf", "inferred"; NULL before the first table.
const char* mpiacq_mpir_layout_source(const struct mpiacq_mpir* m);

#ifdef __cplusplus
}
#endif
// NOLINTEND(modernize-*, readability-identifier-naming)
#endif
