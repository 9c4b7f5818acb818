// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mpiacq/job/job.hpp"
#include "mpiacq/mpi2dd/mpi2dd_acquisition.hpp"
#include "mpiacq/mpi2dd/mpi2dd_graph.hpp"

namespace mpiacq {

/// How the ranks of an MPI2DD job have changed between two looks at its graph.
struct table_change {
  std::vector<entry_index> came;  ///< entries of the table as it is now
  std::size_t left = 0;
};

/// A process whose debug_state is ABORT at this moment.
struct process_abort {
  process_id process;
  std::optional<std::string> reason;  ///< its abort_string; empty where it gives none
};

/// The graph of an MPI2DD job, as its events need it. tracked_graph is the one that reads processes.
class event_graph {
 public:
  virtual ~event_graph() = default;
  /// Walks the whole job, beginning at a process of this node.
  [[nodiscard]] virtual result<table_change> walk_from(process_id process) = 0;
  /// After an event: reads these tables of the process that raised it again.
  [[nodiscard]] virtual result<table_change> reread(process_id raised_by, const mpi2dd::table_selection& tables) = 0;
  /// The same for every table of the job that stands elsewhere now, or has another size: an event may be about the
  /// tables of other processes.
  [[nodiscard]] virtual result<table_change> reread_what_changed(process_id raised_by,
                                                                 const mpi2dd::table_selection& tables) = 0;
  /// The table of the job's ranks. Null before the first walk.
  [[nodiscard]] virtual const std::shared_ptr<const process_table>& table() const = 0;
  /// The process is a starter that has not raised any event.
  [[nodiscard]] virtual bool is_starter_before_start(process_id process) const = 0;
  /// Reads the info block of each process of this node that has a part in the job.
  [[nodiscard]] virtual std::vector<process_abort> aborts_here() = 0;
};

/// What a job that was attached to is doing already.
struct running_job {
  bool has_table = false;           ///< its ranks have been started
  std::vector<job_event> aborting;  ///< one for each process at an abort that was raised before
};
/// Looks at the job of a process that was attached to. Empty tables, and those of a starter that has not raised START,
/// are of a job that is being launched.
[[nodiscard]] result<running_job> look_at_running_job(event_graph& graph, process_id process);

/// Brings the graph up to date after an event.
[[nodiscard]] result<job_change> read_change(event_graph& graph, process_id raised_by,
                                             const mpi2dd::report_event& event);
/// The event for the caller. `is_first_table`: the job was attached to before its ranks were started.
[[nodiscard]] job_event event_of(job_change change, std::optional<std::string> reason, bool is_first_table);
/// The process that raised this event starts ranks.
[[nodiscard]] bool starts_ranks(mpi2dd::debug_state state);

}  // namespace mpiacq
