// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The ranks' side of MPIR (MPIR 1.1, chapter 8, step 18; 9.3; 9.8): what to write, and into which ranks. As
/// `mpir::acquisition`, it controls no process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mpiacq/mpir/mpir_acquisition.hpp"

namespace mpiacq::mpir {

/// The variables that a tool writes in a rank. Each is empty if the rank does not have it, which is no fault (9.3,
/// 9.8).
struct rank_symbols {
  std::optional<symbol> being_debugged;
  std::optional<symbol> debug_gate;
};

/// Looks the variables up in one rank: in its loaded tables, then in the file of its MPI library or of its executable.
/// No other file is opened. Errors as `symbol_source::look_up`.
[[nodiscard]] result<rank_symbols> find_rank_symbols(symbol_source& symbols);

/// What to do right after the attach: being_debugged = 1 (9.3). The answer has write_memory and report_problem only, as
/// have those of the functions below.
[[nodiscard]] std::vector<action> rank_attached(const target_abi& abi, const rank_symbols& rank);

/// What to do to release a rank: the gate = 1 (9.8), even with MPIR_partial_attach_ok, where it "should have no effect"
/// (9.13). Nothing if the rank has no gate: then the starter holds and releases it in another way.
[[nodiscard]] std::vector<action> rank_release(const target_abi& abi, const rank_symbols& rank);

/// What to do right before the detach: being_debugged = 0 (9.3). The gate stays open: otherwise a rank that has not
/// reached it yet would wait for ever.
[[nodiscard]] std::vector<action> rank_before_detach(const target_abi& abi, const rank_symbols& rank);

/// What must be written so that the whole job runs (chapter 8, step 18).
struct release_plan {
  /// Continuing the starter releases every rank (MPIR_partial_attach_ok): no gate has to be written.
  bool starter_alone = false;
  /// The ranks whose gate has to be written, in order: all ranks, or none.
  std::vector<entry_index> gates;
  /// The ranks among `gates` that the user did not ask for, in order. Attach to them only for that write.
  std::vector<entry_index> only_for_the_gate;
};

/// The plan for a job of so many `ranks`. `wanted` are the ranks that the user wants to control, in any order. If the
/// starter is rank 0 itself (`job_facts::starter_is_rank`), rank 0 is in the plan like the others; its process is held
/// already. Errors: invalid_argument (the job does not have a wanted rank).
[[nodiscard]] result<release_plan> plan_release(const job_facts& facts, std::size_t ranks,
                                                std::span<const entry_index> wanted);

}  // namespace mpiacq::mpir
