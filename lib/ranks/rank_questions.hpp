// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Questions to ranks and their answers, as values that can also be sent to agents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <variant>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/process/registers.hpp"
#include "mpiacq/process/tracer.hpp"
#include "mpiacq/ranks/rank_core.hpp"
#include "mpiacq/ranks/rank_end.hpp"
#include "mpiacq/ranks/rank_hold.hpp"
#include "mpiacq/ranks/rank_options.hpp"
#include "mpiacq/ranks/rank_process.hpp"
#include "mpiacq/ranks/rank_report.hpp"
#include "mpiacq/ranks/rank_results.hpp"
#include "mpiacq/ranks/rank_set.hpp"

namespace mpiacq {

struct ask_hold {};
struct ask_release {
  leave how = leave::running;
};
struct ask_registers {
  which_threads which = which_threads::all;
};
struct ask_stacks {
  stack_options how;
  debug_file_search debug_files = without_downloads();
};
struct ask_queues {
  rank_queue_options how;
};
struct ask_gates {
  gate_options how;
  debug_file_search debug_files = without_downloads();
};
/// Follow all ranks to their ends, or none any more. The answer is a `hold_part`.
struct ask_follow {
  bool follow = true;
  follow_options how = {};
};
struct ask_ends {};
struct ask_cores {
  rank_core_options how;
};
using rank_question = std::variant<ask_hold, ask_release, ask_registers, ask_stacks, ask_queues, ask_gates, ask_follow,
                                   ask_ends, ask_cores>;

/// The outcome of a hold. Ranks that are held without a remark need only a bit in the set.
struct hold_part {
  rank_set held;
  std::vector<rank_hold> others;  ///< ranks that are not held, or held with a remark; in any order
};
struct release_part {
  rank_set released;
  std::vector<refused_ranks> refused;
};
struct rank_registers {
  entry_index entry;
  result<std::vector<thread_registers>> threads;
};
using registers_part = std::vector<rank_registers>;
using rank_answer = std::variant<hold_part, release_part, registers_part, group_stacks, group_queues, opened_gates,
                                 group_ends, rank_cores>;

/// The terms on which a question is answered.
struct answer_terms {
  int stop = -1;  ///< when this descriptor becomes readable, the answer consists of what was read by then; -1: never
  std::function<void(std::size_t done, std::size_t all)> progress = {};  ///< called with numbers of ranks; may be empty
};

/// The ranks that a question is about.
[[nodiscard]] rank_selection asked_ranks(const rank_question& what);
/// The ranks for which an answer has an outcome.
[[nodiscard]] rank_set told_ranks(const rank_answer& answer);
/// A rank that cannot be asked.
struct refused_process {
  rank_process rank;
  error why;
};
/// The answer that refuses these ranks, in order of entries. Ranks that were not asked about are left out.
[[nodiscard]] rank_answer refusal_of(std::span<const refused_process> ranks, const rank_question& what);
/// The same, for one reason.
[[nodiscard]] rank_answer refusal_of(std::span<const rank_process> ranks, const rank_question& what, const error& why);

// Joins two answers into one. Each rank belongs to one of them; if both name it, the first counts.
void merge(hold_part& into, hold_part&& other);
void merge(release_part& into, release_part&& other);
void merge(registers_part& into, registers_part&& other);
void merge(group_stacks& into, group_stacks&& other);
void merge(group_queues& into, group_queues&& other);
void merge(opened_gates& into, opened_gates&& other);
void merge(group_ends& into, group_ends&& other);
void merge(rank_cores& into, rank_cores&& other);
/// If the answers are to different questions, the first one stays as it is.
void merge(rank_answer& into, rank_answer&& other);

/// Keeps all reports together within `bytes`, see `report_budget`. Equal groups share one list afterwards. Returns the
/// size of the reports in bytes.
std::uint64_t keep_within(group_queues& queues, std::uint64_t bytes);

/// Merges the stacks of single ranks into one tree.
struct node_stacks;
[[nodiscard]] group_stacks merged(node_stacks&& taken);

}  // namespace mpiacq
