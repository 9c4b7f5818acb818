// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mpiacq/job/job_description.hpp"
#include "mpiacq/job/process_table.hpp"
#include "parts/job_event_queue.hpp"
#include "proc/local_host.hpp"

namespace mpiacq {

/// The process table as it was last reported, and which of its entries are on this node.
class reported_table {
 public:
  explicit reported_table(job_event_queue& events) : events_(events) {}
  /// For tests: the host is given.
  reported_table(job_event_queue& events, local_host here) : events_(events), here_(std::move(here)) {}

  /// Takes a newer table, and notices once which of its processes belong to other users than the starter's.
  void take(std::shared_ptr<const process_table> table);

  /// Null before the first table.
  [[nodiscard]] const std::shared_ptr<const process_table>& processes() const { return table_; }
  [[nodiscard]] bool is_local(entry_index entry) const { return locality_.is_local(entry); }
  [[nodiscard]] const entry_locality& locality() const { return locality_; }
  /// A process of this node belongs to another user than the starter: it is no rank, whatever the table says.
  [[nodiscard]] bool is_other_users(process_id pid) const;
  /// The names of this host. They are asked for while the starter runs, so that a stopped starter does not wait for
  /// the answer.
  [[nodiscard]] const local_host& this_host();

 private:
  job_event_queue& events_;
  std::shared_ptr<const process_table> table_;
  entry_locality locality_;
  std::optional<local_host> here_;
  std::set<std::string> noticed_;  ///< what was noticed about processes of other users
};

}  // namespace mpiacq
