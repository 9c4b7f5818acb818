// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "mpiacq/check/check.hpp"
#include "watch/look_at_rank.hpp"

namespace mpiacq::check {

/// The processes of the table that are on this node, from the spawn event to the end of the job.
class rank_set {
 public:
  explicit rank_set(const run_options& options) : options_(options) {}

  /// At a spawn event, with the starter held: finds the processes and their places. Takes at most
  /// `run_options::settle`. Processes that an earlier event has shown are left as they were seen then.
  void look_at_spawn(const process_table& table, process_id starter);
  /// For a job that runs already: finds the processes. Their places have no meaning then, and the checker does not open
  /// their gates.
  void look_at_running(const process_table& table, process_id starter);
  /// The starter goes on: from now on processes are watched for leaving.
  void starter_goes_on(bool partial_attach_ok);
  /// Looks again, and opens the gates that are due. True while there is something left to observe.
  [[nodiscard]] bool look_again();
  /// The starter has ended.
  void finish();
  /// Opens the gates of all processes that may still wait, so that the checker leaves no process waiting.
  void open_all_gates();

  void report(observations& o) const;
  /// The starter has become another program.
  void clear();

 private:
  void take_in(const process_table& table, process_id starter);
  void settle();
  void look_at(rank_watch& rank);
  void open_gate(rank_watch& rank);
  void open_gates_of_others();

  const run_options& options_;
  std::vector<std::unique_ptr<rank_watch>> ranks_;
  std::optional<user_id> user_;     ///< of the starter: processes of others are no ranks
  std::vector<process_id> others_;  ///< of this node, beyond the limit: not watched, but not left waiting either
  std::size_t on_node_ = 0;
  bool starter_in_table_ = false;
  bool starter_is_entry_0_ = false;
  bool partial_attach_ok_ = false;
  bool gates_are_ours_ = false;        ///< the job was launched for a tool, so that processes can wait for one
  deadline gates_at_ = no_deadline;    ///< when the gates of waiting processes are opened
  deadline give_up_at_ = no_deadline;  ///< a process that still waits then ignores its open gate
};

}  // namespace mpiacq::check
