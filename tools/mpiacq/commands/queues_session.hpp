// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands/spawned_processes.hpp"
#include "mpiacq/job/job_view.hpp"
#include "mpiacq/ranks/job_ranks.hpp"
#include "mpiacq/ranks/node_ranks.hpp"
#include "mpiacq/ranks/spawn_watch.hpp"
#include "options/rank_options.hpp"
#include "report/queues_report.hpp"

namespace mpiacq::tool {

/// The message queues of a job's ranks on this node.
class queues_session {
 public:
  /// Errors as `node_ranks` has them; a single rank's are in the snapshot. `stop`: a descriptor that can be read when
  /// it is to end, and all ranks are to go on; -1: none.
  [[nodiscard]] static result<queues_session> open(starter_facts starter, const process_table& table,
                                                   const std::vector<bool>& is_local, const rank_selection& ranks,
                                                   const queue_request& request, const debug_file_search& search,
                                                   int stop = -1);
  /// The same of all nodes, through agents on those that are not this one.
  [[nodiscard]] static result<queues_session> open(const job_view& job, const rank_selection& ranks,
                                                   const queue_request& request, const debug_file_search& search,
                                                   const agents_options& agents);
  /// The same of ranks that are looked after already. `stop` as above.
  [[nodiscard]] static queues_session over(std::shared_ptr<job_ranks> nodes, starter_facts starter,
                                           const process_table& table, const rank_selection& ranks,
                                           const queue_request& request, const debug_file_search& search,
                                           int stop = -1);
  /// The same through a job that is under control.
  [[nodiscard]] static result<queues_session> open(job& subject, const process_table& table,
                                                   const std::vector<bool>& is_local, const rank_selection& ranks,
                                                   const queue_request& request, const debug_file_search& search,
                                                   int stop = -1);

  /// Whom to tell how many of how many ranks have been read.
  void on_progress(std::function<void(std::size_t, std::size_t)> tell) { how_.progress = std::move(tell); }
  [[nodiscard]] std::size_t rank_count() const { return node_ ? node_->ranks().size() : nodes_->ranks().size(); }
  /// Of all nodes, where agents look after some; null else.
  [[nodiscard]] const job_ranks* nodes() const { return nodes_.get(); }

  /// Reads them, and finds who waits for whom. Where that is a deadlock it looks again, and at what the ranks do in
  /// between: a message that was on its way at one moment has come at another, and then they have gone on.
  void look();
  /// Reads them once.
  void take();
  [[nodiscard]] queues_snapshot& snapshot() { return snapshot_; }
  /// The ranks of other nodes whose libraries say where they announce new processes: nobody follows them.
  [[nodiscard]] rank_set spawn_elsewhere() const;
  /// From now on follows the ranks of this node whose libraries say that; empty where there is none. Nothing more can
  /// be read by this.
  [[nodiscard]] std::unique_ptr<spawn_watch> watch_spawns();
  /// Whether a rank of this node could not be read, or not to the end.
  [[nodiscard]] bool rank_failed() const;

 private:
  queues_session() = default;
  [[nodiscard]] static result<queues_session> open(result<std::unique_ptr<node_ranks>> node, starter_facts starter,
                                                   const process_table& table, const std::vector<bool>& is_local,
                                                   const rank_selection& ranks, const queue_request& request,
                                                   const debug_file_search& search, int stop);
  void begin(starter_facts starter, const process_table& table, const rank_selection& ranks,
             const queue_request& request, const debug_file_search& search, int stop);
  [[nodiscard]] node_queues queues(const rank_queue_options& how) {
    return node_ ? node_->queues(how) : nodes_->queues(how);
  }
  /// Ranks that somebody else holds for a moment are tried again.
  [[nodiscard]] node_queues read_all();
  void look_again();
  /// In which MPI calls these ranks are now, comparable with another moment's.
  [[nodiscard]] std::vector<std::string> calls_of(const stack_options& how);
  /// Whether these ranks are all seen in the calls that they are in, some times in a row.
  [[nodiscard]] bool stay_where_they_are(const std::vector<std::uint32_t>& ranks);

  std::unique_ptr<node_ranks> node_;  ///< or
  std::shared_ptr<job_ranks> nodes_;
  std::optional<spawned_processes> spawned_;  ///< by the ranks that were read
  rank_queue_options how_;
  std::size_t entries_ = 0;  ///< of the job's table
  queues_snapshot snapshot_;
};

/// The request for a job: a starter with MPIR_ignore_queues wants no queue library to be loaded (MPIR 1.1, 9.14),
/// unless the user names one.
[[nodiscard]] queue_request request_for(queue_request request, const mpir::job_facts& facts, interface_kind interface);

/// The ranks that were chosen: where that is by a communicator, the ranks of the running job that are members of one of
/// this name in some rank that can be looked at, through agents as `agents_for` has it. `stop` as above. Errors: as
/// `open`; not_found where no rank has such a communicator.
[[nodiscard]] result<rank_selection> ranks_of(const rank_choice& choice, const job_view& job,
                                              const queue_request& request, const debug_file_search& search,
                                              agent_start agents, int stop);

}  // namespace mpiacq::tool
