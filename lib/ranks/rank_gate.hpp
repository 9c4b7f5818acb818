// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The gate at which a rank waits in its MPI initialisation until a tool opens it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "mpiacq/base/memory.hpp"
#include "mpiacq/job/job_description.hpp"
#include "mpiacq/mpir/mpir_ranks.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/process/process_user.hpp"
#include "mpiacq/process/tracer.hpp"

namespace mpiacq {

/// Reads the variables of MPIR in a rank.
struct rank_view {
  /// `user`: the user that the process must have; empty: any user.
  rank_view(process_id pid, std::optional<user_id> user) : memory(pid, user), cache(memory) {}
  process_memory memory;
  page_cache cache;
  std::unique_ptr<process_symbols> symbols;
  mpir::rank_symbols known;
};
/// Finds the variables of MPIR in a rank. Errors: those of `process_symbols::open` and `look_up`.
[[nodiscard]] result<void> look(rank_view& view, process_id rank, const debug_file_search& search);
/// Performs the writing actions; the others are ignored.
[[nodiscard]] result<void> write_all(rank_view& view, const std::vector<mpir::action>& actions);

/// Opens the gate of an untraced process: sets MPIR_debug_gate to 1 (MPIR 1.1, 9.8), or MPI2DD_FLAG_GATE in its info
/// block. True: the gate is open now. False: the process has no gate, or has not loaded it yet. An error may be
/// temporary: the process may be in the middle of an exec.
[[nodiscard]] result<bool> open_rank_gate(process_id rank, std::optional<user_id> user, interface_kind kind,
                                          const debug_file_search& search);

}  // namespace mpiacq
