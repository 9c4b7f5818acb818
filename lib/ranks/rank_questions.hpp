// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What ranks are asked and what they answer, in the form in which it also travels to agents.
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
using rank_question = std::variant<ask_hold, ask_release, ask_registers, ask_stacks, ask_queues, ask_gates>;

/// Ranks that are held without a remark take no room of their own.
struct hold_part {
  rank_set held;
  std::vector<rank_hold> others;  ///< that are not held, or held with a remark; in any order
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
using rank_answer = std::variant<hold_part, release_part, registers_part, group_stacks, group_queues, opened_gates>;

/// How a question is to be answered.
struct answer_terms {
  int stop = -1;  ///< once it can be read, what has been seen until then is the answer; -1: it never can
  std::function<void(std::size_t done, std::size_t all)> progress = {};  ///< of the ranks; empty: nothing is called
};

/// The ranks that a question is about.
[[nodiscard]] rank_selection asked_ranks(const rank_question& what);
/// The ranks that an answer says something of.
[[nodiscard]] rank_set told_ranks(const rank_answer& answer);
/// A rank that cannot be asked.
struct refused_process {
  rank_process rank;
  error why;
};
/// The answer of such ranks, in order of entries. Ranks that were not asked about are left out.
[[nodiscard]] rank_answer refusal_of(std::span<const refused_process> ranks, const rank_question& what);
/// The same, for one reason.
[[nodiscard]] rank_answer refusal_of(std::span<const rank_process> ranks, const rank_question& what, const error& why);

// As if both answers had been given at one place. Each rank is in one of them; of one that is in both the first counts.
void merge(hold_part& into, hold_part&& other);
void merge(release_part& into, release_part&& other);
void merge(registers_part& into, registers_part&& other);
void merge(group_stacks& into, group_stacks&& other);
void merge(group_queues& into, group_queues&& other);
void merge(opened_gates& into, opened_gates&& other);
/// Answers to different questions: the first stays.
void merge(rank_answer& into, rank_answer&& other);

/// Keeps all reports within so many bytes, see `report_budget`. Equal groups share one list afterwards. Returns how
/// many bytes the reports hold together.
std::uint64_t keep_within(group_queues& queues, std::uint64_t bytes);

/// One tree of the stacks of single ranks.
struct node_stacks;
[[nodiscard]] group_stacks merged(node_stacks&& taken);

}  // namespace mpiacq
