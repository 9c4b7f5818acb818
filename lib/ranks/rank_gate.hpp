// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The gate that a rank waits at in its MPI initialisation until a tool lets it go.
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

/// A rank's side of MPIR as it is now.
struct rank_view {
  /// `user`: whose process it must be; empty: anybody's.
  rank_view(process_id pid, std::optional<user_id> user) : memory(pid, user), cache(memory) {}
  process_memory memory;
  page_cache cache;
  std::unique_ptr<process_symbols> symbols;
  mpir::rank_symbols known;
};
/// Finds the variables of MPIR in a rank. Errors: those of `process_symbols::open` and `look_up`.
[[nodiscard]] result<void> look(rank_view& view, process_id rank, const debug_file_search& search);
/// Does what the actions say, as far as it is writing.
[[nodiscard]] result<void> write_all(rank_view& view, const std::vector<mpir::action>& actions);

/// Opens the gate of a process that nobody traces: MPIR_debug_gate = 1 (MPIR 1.1, 9.8), or MPI2DD_FLAG_GATE in its info
/// block. True: the gate is open now. False: the process has none, or has not loaded it yet. Errors may be of a moment
/// in the middle of an exec.
[[nodiscard]] result<bool> open_rank_gate(process_id rank, std::optional<user_id> user, interface_kind kind,
                                          const debug_file_search& search);

}  // namespace mpiacq
