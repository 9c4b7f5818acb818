// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string_view>

#include "mpiacq/job/process_table.hpp"
#include "mpiacq/mpi2dd/mpi2dd_info.hpp"

namespace mpiacq {

/// Which process has started a rank's world (MPI2DD).
struct rank_origin {
  bool spawned = false;          ///< a rank has; else a starter
  std::optional<process_id> by;  ///< that rank, where it is known and of this node
};

/// What the graph of an MPI2DD job says about the origin of ranks. tracked_graph is the one that reads processes.
class rank_origins {
 public:
  virtual ~rank_origins() = default;
  [[nodiscard]] virtual rank_origin origin_of(std::string_view host, process_id rank) const = 0;
  /// What a process of this node says of itself. None where it cannot be asked, or has no MPI2DD.
  [[nodiscard]] virtual mpi2dd::flag_set<mpi2dd::mpi_flag> flags_of(process_id process) = 0;
};

/// Whether an MPI2DD rank waits at its gate (docs/mpi2dd.md, "The debugger's flags"). The process that started the rank
/// decides it by its own PARTIAL_ATTACH_OK. Where that process cannot be asked, the rank counts as one that waits:
/// opening an open gate does no harm.
[[nodiscard]] bool waits_at_gate(rank_origins& origins, process_id starter, std::string_view host, process_id rank);

/// What MPI2DD processes say of a rank: the rank itself where it is local, the process that spawned it, the starter.
struct flags_about_rank {
  mpi2dd::flag_set<mpi2dd::mpi_flag> own, parents, starters;
  [[nodiscard]] bool has(mpi2dd::mpi_flag flag) const {
    return own.has(flag) || parents.has(flag) || starters.has(flag);
  }
};
[[nodiscard]] flags_about_rank flags_about(rank_origins& origins, process_id starter, std::string_view host,
                                           process_id rank, bool is_local);

/// MPI2DD: whether a process that starts ranks has them wait at their gates. It tells its ranks so by the flag
/// BEING_DEBUGGED, so a rank on another node, whose gate this node cannot open, decides for all ranks that are started
/// with it.
class gate_decisions {
 public:
  /// `opens_remote_gates`: the caller of the job opens the gates of other nodes.
  explicit gate_decisions(bool opens_remote_gates) : opens_remote_gates_(opens_remote_gates) {}

  struct decision {
    bool ranks_wait = true;       ///< what BEING_DEBUGGED of the parent is to say
    std::optional<error> notice;  ///< which ranks do not wait, and why
  };
  /// `parent` has raised START or SPAWN, stands still, and has not told its ranks to wait yet. Worlds that were decided
  /// on before are left alone: their ranks run.
  [[nodiscard]] decision decide(const process_table& table, const std::function<bool(entry_index)>& is_local,
                                process_id parent, process_id starter, rank_origins& origins);

  /// The caller opens no remote gates any more. True where it did before.
  bool open_no_remote_gates();
  /// A gate of a rank that the last parent has started cannot be opened.
  void refuse() { is_refused_ = true; }
  /// The parent that was decided on last, if a gate was refused since: its ranks must not wait. Asked for once, before
  /// the parent runs on.
  [[nodiscard]] std::optional<process_id> take_refused_parent();

 private:
  bool opens_remote_gates_;
  std::set<std::uint32_t> settled_worlds_;
  std::optional<process_id> parent_;
  bool is_refused_ = false;
};

}  // namespace mpiacq
