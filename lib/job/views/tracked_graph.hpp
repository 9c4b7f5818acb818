// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "local_targets.hpp"
#include "mpiacq/job/process_table.hpp"
#include "mpiacq/mpi2dd/mpi2dd_graph.hpp"
#include "parts/gate_decisions.hpp"
#include "parts/mpi2dd_events.hpp"
#include "views/graph_table.hpp"

namespace mpiacq {

/// An MPI2DD job as it is known at this moment: its graph, kept up to date from event to event, and the table of its
/// ranks. It reads processes, of this node where nobody else reads those of others, and does nothing to them.
class tracked_graph final : public event_graph, public rank_origins {
 public:
  /// `elsewhere`: as find_options::read_elsewhere.
  tracked_graph(process_id named, const table_limits& limits, const debug_file_search& search,
                mpi2dd::elsewhere_reader elsewhere = {});

  [[nodiscard]] result<table_change> walk_from(process_id process) override;
  [[nodiscard]] result<table_change> reread(process_id raised_by, const mpi2dd::table_selection& tables) override;
  [[nodiscard]] result<table_change> reread_what_changed(process_id raised_by,
                                                         const mpi2dd::table_selection& tables) override;

  /// Null before the first walk.
  [[nodiscard]] const mpi2dd::graph* graph() const { return graph_ ? &*graph_ : nullptr; }
  [[nodiscard]] const std::shared_ptr<const process_table>& table() const override { return table_; }
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

  [[nodiscard]] rank_origin origin_of(std::string_view host, process_id rank) const override;
  /// A process is asked once: an MPI is done with its flags before the first event.
  [[nodiscard]] mpi2dd::flag_set<mpi2dd::mpi_flag> flags_of(process_id process) override;
  [[nodiscard]] bool is_starter_before_start(process_id process) const override;
  [[nodiscard]] std::vector<process_abort> aborts_here() override;

  /// What is wrong with processes and tables, that has not been told before.
  [[nodiscard]] std::vector<error> take_problems();

 private:
  [[nodiscard]] std::optional<mpi2dd::process_number> number_of(process_id process) const;
  [[nodiscard]] mpi2dd::walk_options options() const;
  /// Empty where the process says what it said before, also of its metadirectory.
  [[nodiscard]] std::optional<mpi2dd::table_selection> changed_tables(const mpi2dd::visit& seen) const;
  [[nodiscard]] result<void> refresh(mpi2dd::process_number process, const mpi2dd::table_selection& tables);
  [[nodiscard]] table_change make_table();
  /// The numbers that the tables of a job in a container have; empty if the numbers are those of this program.
  [[nodiscard]] std::function<process_id(mpi2dd::process_number)> published_pids() const;

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
