// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "mpiacq/job/job_view.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/ranks/job_ranks.hpp"
#include "mpiacq/ranks/node_ranks.hpp"
#include "report/stacks_report.hpp"

namespace mpiacq::tool {

/// Which stacks of which ranks.
struct stacks_request {
  rank_selection ranks;
  bool all_threads = false;
  debug_file_search debug_files;
};

/// The stacks of a job's ranks on this node, sample after sample, and what became of each rank.
class stacks_session {
 public:
  /// Errors as `node_ranks` has them; a single rank's are in the snapshot.
  [[nodiscard]] static result<stacks_session> open(starter_facts starter, const process_table& table,
                                                   const std::vector<bool>& is_local, const stacks_request& request);
  /// The same of all nodes, through agents on those that are not this one.
  [[nodiscard]] static result<stacks_session> open(const job_view& job, const stacks_request& request,
                                                   const agents_options& agents);
  /// The same of ranks that are looked after already.
  [[nodiscard]] static stacks_session over(std::shared_ptr<job_ranks> nodes, starter_facts starter,
                                           const process_table& table, const stacks_request& request);
  /// The same through a job that is under control.
  [[nodiscard]] static result<stacks_session> open(job& subject, const process_table& table,
                                                   const std::vector<bool>& is_local, const stacks_request& request);

  /// Adds what the ranks are doing now. A rank that another tool holds is tried again for a moment.
  void sample();
  [[nodiscard]] stacks_snapshot& snapshot() { return snapshot_; }
  /// Of all nodes, where agents look after some; null else.
  [[nodiscard]] const job_ranks* nodes() const { return nodes_.get(); }
  /// Whether a rank of this node could not be taken in any sample.
  [[nodiscard]] bool rank_failed() const;

 private:
  stacks_session() = default;
  [[nodiscard]] static result<stacks_session> open(result<std::unique_ptr<node_ranks>> node, starter_facts starter,
                                                   const process_table& table, const std::vector<bool>& is_local,
                                                   const stacks_request& request);
  void begin(starter_facts starter, const process_table& table, const std::vector<bool>& is_local,
             const stacks_request& request);
  /// Takes up what a look at some ranks came to; those that are held by somebody else.
  [[nodiscard]] std::vector<std::uint32_t> take(const job_stacks& seen, call_tree& moment, bool last_try);
  [[nodiscard]] std::vector<stacked_rank*> rows_of(const rank_set& ranks);

  std::unique_ptr<node_ranks> node_;  ///< or
  std::shared_ptr<job_ranks> nodes_;
  stack_options how_;
  stacks_snapshot snapshot_;
};

}  // namespace mpiacq::tool
