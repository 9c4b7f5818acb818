// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The results of the calls of a `rank_group`, beside the records of single ranks (rank_report.hpp, rank_hold.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/base/time_limit.hpp"
#include "mpiacq/queues/mpi_call.hpp"
#include "mpiacq/ranks/call_tree.hpp"
#include "mpiacq/ranks/rank_set.hpp"

namespace mpiacq {

/// One node of a job, as its process table names it.
struct job_node {
  std::string host;          ///< as the process table names it
  rank_set ranks;            ///< the ranks of the group that are on it
  bool local = false;        ///< this program looks at its ranks itself, without an agent
  std::optional<error> why;  ///< why the node is not reached, or no longer; empty: it is reached
};

/// Ranks for which a call failed, and the reason.
struct refused_ranks {
  rank_set ranks;
  error why;
};

/// The MPI call that the first thread of a rank is in, with its arguments.
struct rank_mpi_call {
  entry_index entry;
  rank_activity doing;
};

/// Where the first thread of a rank is at one moment, as numbers to compare with those of another look at the same
/// process. Equal numbers mean the same place. They mean nothing in another process.
struct rank_position {
  /// The most functions of a stack that are kept: the outermost ones, and the innermost.
  static constexpr std::size_t most_activations = 32;
  /// The bytes for each number of `left`.
  static constexpr std::uint64_t left_piece = 256;

  entry_index entry;
  /// One number for each function of the program on the stack, the outermost first. It stands for one activation of the
  /// function: the same function, called from the same places, with the same stack pointer. The last one is the
  /// function that has called MPI; outside of calls, it is the innermost one that does not belong to the C library.
  std::vector<std::uint64_t> activations;
  /// In an MPI call: the call, and the place in the program to which it returns. Outside of calls: 0.
  std::uint64_t call = 0;
  /// In an MPI call: what the functions of the program have on the stack, and in the registers that called functions
  /// keep. A rank that has left the call and entered it again has mostly changed a counter there. 0: not known.
  std::uint64_t contents = 0;
  /// Outside of calls: what functions that have returned have left in the memory below the stack, one number for each
  /// `left_piece` bytes, downwards from the address `left_end`. A function that computes does not write deeper than the
  /// functions that it calls. An MPI call in between does, and mostly leaves other values each time. Empty: not known.
  std::vector<std::uint64_t> left = {};
  std::uint64_t left_end = 0;     ///< the stack pointer, rounded down to a multiple of `left_piece`
  std::uint64_t instruction = 0;  ///< the innermost frame's next instruction, and the registers: where it is exactly
  std::uint64_t bytes_moved = 0;  ///< read and written by the thread with system calls since its start; 0: not known
};

/// The stacks of ranks at one moment, merged on the nodes where they were taken.
struct group_stacks {
  call_tree tree;
  rank_set taken;                      ///< the ranks whose stacks were taken
  std::vector<refused_ranks> refused;  ///< all other ranks of the call
  /// From the first stop of a rank until the last rank was released; with several nodes, the longest of them.
  clock::duration held_for{};
  std::vector<error> problems;  ///< with files of debug information, with their node; each problem occurs once
  /// One for each rank of `taken`, in order of entries, if `stack_options::arguments` has asked for them.
  std::vector<rank_mpi_call> calls = {};
  /// The refused ranks that a signal has stopped; only if `stack_options::leave_stopped` has asked to leave them alone.
  rank_set stopped = {};
  /// One for each rank of `taken`, in order of entries, if `stack_options::positions` has asked for them.
  std::vector<rank_position> positions = {};
  /// The ranks that had no chance to go on before this look (`stack_options::run_first`): other programs have used
  /// their processors all the time, or they are held. They are where they were at the last look, whatever they wait
  /// for.
  rank_set not_run = {};
};

/// The outcome of opening gates.
struct opened_gates {
  rank_set open;                       ///< ranks that wait at no gate now
  rank_set without;                    ///< ranks without a gate
  std::vector<refused_ranks> refused;  ///< all other ranks of the call
};

}  // namespace mpiacq
