// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "local_targets.hpp"
#include "mpiacq/job/process_table.hpp"
#include "mpiacq/mpi2dd/mpi2dd_graph.hpp"
#include "views/graph_table.hpp"

namespace mpiacq {

/// An MPI2DD job as it is known at this moment: its graph, kept up to date from event to event, and the table of its
/// ranks. It reads processes, of this node where nobody else reads those of others, and does nothing to them.
class tracked_graph {
 public:
  /// `elsewhere`: as look_options::read_elsewhere.
  tracked_graph(process_id named, const table_limits& limits, const debug_file_search& search,
                mpi2dd::elsewhere_reader elsewhere = {});

  /// What has become of the ranks between two looks.
  struct table_change {
    std::vector<std::uint32_t> came;  ///< entries of the table as it is now
    std::size_t left = 0;
  };

  /// Walks the whole job, beginning at a process of this node.
  [[nodiscard]] result<table_change> walk_from(process_id process);
  /// After an event: reads these tables of the process that raised it again.
  [[nodiscard]] result<table_change> reread(process_id raised_by, const mpi2dd::table_selection& tables);
  /// The same for every table of the job that stands elsewhere now, or has another size: an event may be about the
  /// tables of other processes.
  [[nodiscard]] result<table_change> reread_what_changed(process_id raised_by, const mpi2dd::table_selection& tables);

  /// Null before the first walk.
  [[nodiscard]] const mpi2dd::graph* graph() const { return graph_ ? &*graph_ : nullptr; }
  [[nodiscard]] const std::shared_ptr<const process_table>& table() const { return table_; }
  /// A process of this node, by its number; null where the job does not know it.
  [[nodiscard]] const mpi2dd::visit* visit_of(process_id process) const;
  /// Whether some process table lists this process of this node.
  [[nodiscard]] bool is_rank(process_id process) const;

  /// A process of this node that has a part in the job.
  struct member {
    process_id pid;
    std::string executable;  ///< as some table names it; empty where none does
    bool is_rank = false;
    std::int32_t rank = 0;  ///< in its world
  };
  /// Ranks, directories, metadirectories and starters, once each.
  [[nodiscard]] std::vector<member> members_here() const;

  /// Who has started a rank's world.
  struct origin {
    bool spawned = false;          ///< by a rank; else by a starter
    std::optional<process_id> by;  ///< that rank, where it is known and of this node
  };
  [[nodiscard]] origin origin_of(std::string_view host, process_id rank) const;
  /// What a process of this node says of itself. It is asked once: an MPI is done with its flags before the first
  /// event. None where it cannot be asked, or has no MPI2DD.
  [[nodiscard]] mpi2dd::flag_set<mpi2dd::mpi_flag> flags_of(process_id process);

  /// A process whose debug_state is ABORT at this moment.
  struct abort {
    process_id process;
    std::optional<std::string> reason;  ///< its abort_string; empty where it gives none
  };
  /// Those of `members_here`. Reads the info block of each of them.
  [[nodiscard]] std::vector<abort> aborts_here();

  /// What is wrong with processes and tables, that has not been told before.
  [[nodiscard]] std::vector<error> take_problems();

 private:
  [[nodiscard]] std::optional<mpi2dd::process_number> number_of(process_id process) const;
  [[nodiscard]] mpi2dd::walk_options options() const;
  /// Empty where the process says what it said before, also of its metadirectory.
  [[nodiscard]] std::optional<mpi2dd::table_selection> changed_tables(const mpi2dd::visit& seen) const;
  [[nodiscard]] result<void> refresh(mpi2dd::process_number process, const mpi2dd::table_selection& tables);
  [[nodiscard]] table_change make_table();

  local_targets targets_;
  table_limits limits_;
  mpi2dd::elsewhere_reader elsewhere_;
  std::optional<mpi2dd::graph> graph_;
  std::size_t pointer_size_ = sizeof(void*);  ///< of the process where the walk began
  graph_tables tables_;
  std::shared_ptr<const process_table> table_;
  std::map<process_id, mpi2dd::flag_set<mpi2dd::mpi_flag>> flags_;
  std::set<std::string> told_;
};

}  // namespace mpiacq
