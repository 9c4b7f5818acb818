// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mpiacq/mpir/mpir_acquisition.hpp"

/// The ranks' side of the interface (MPIR 1.1, chapter 8, step 18; 9.3; 9.8). Like `acquisition` it drives nothing: it
/// answers what to write, and into which ranks.
namespace mpiacq::mpir {

/// The variables that a tool writes in a rank; each is empty where the rank has none, which is no fault (9.3, 9.8).
struct rank_symbols {
  std::optional<symbol> being_debugged;
  std::optional<symbol> debug_gate;
};

/// Looks them up in one rank: in what it has loaded, then in the file that its MPI library or its executable is. A rank
/// that maps seventy libraries has none of them opened. Errors as `symbol_source::look_up`.
[[nodiscard]] result<rank_symbols> find_rank_symbols(symbol_source& symbols);

/// Right after attaching: being_debugged = 1 (9.3). Answers write_memory and report_problem only, as do all below.
[[nodiscard]] std::vector<action> rank_attached(const target_abi& abi, const rank_symbols& rank);

/// To let a rank go on: the gate = 1 (9.8), also with MPIR_partial_attach_ok, where it "should have no effect" (9.13).
/// Nothing where the rank has no gate: it is held otherwise, and the starter lets it go.
[[nodiscard]] std::vector<action> rank_release(const target_abi& abi, const rank_symbols& rank);

/// Right before letting go: being_debugged = 0 (9.3). The gate stays: a rank that has not come to it yet would wait for
/// ever.
[[nodiscard]] std::vector<action> rank_before_detach(const target_abi& abi, const rank_symbols& rank);

/// Who must be touched so that the whole job runs (chapter 8, step 18).
struct release_plan {
  /// Continuing the starter releases every rank (MPIR_partial_attach_ok): no gate has to be written.
  bool starter_alone = false;
  /// In order: the ranks whose gate has to be written, which is all of them or none.
  std::vector<std::uint32_t> gates;
  /// In order: those among them that the user did not ask for. They are attached to for as long as that write takes.
  std::vector<std::uint32_t> only_for_the_gate;
};

/// `wanted` are the ranks that the user wants to control, in any order. Where the starter is rank 0 itself
/// (`job_facts::starter_is_rank`), rank 0 is in the plan as all others are: its process is held already. Errors:
/// invalid_argument (a rank that the job does not have).
[[nodiscard]] result<release_plan> plan_release(const job_facts& facts, std::size_t ranks,
                                                std::span<const std::uint32_t> wanted);

}  // namespace mpiacq::mpir
