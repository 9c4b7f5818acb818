// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the parts of the analysis look at together.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "mpiacq/queues/queue_waits.hpp"
#include "needs.hpp"
#include "pairing.hpp"
#include "same_communicators.hpp"

namespace mpiacq::waits {

/// Whether a rank will neither send nor receive any more: it is in MPI_Finalize, or its process has ended.
[[nodiscard]] inline bool does_nothing_more(const rank_activity& doing) {
  return doing.kind == mpi_call_kind::ended || doing.function == "MPI_Finalize";
}

struct picture {
  std::span<const rank_report> ranks;
  const shared_communicators& shared;
  const halves& operations;
  std::unordered_map<std::uint32_t, std::uint32_t> report_of;  ///< by number in the job

  /// `nowhere` for a rank that was not looked at, and for one whose queues are not known: it may do anything. A rank
  /// that does nothing any more is known without its queues.
  [[nodiscard]] std::uint32_t known(std::uint32_t number) const {
    const auto found = report_of.find(number);
    if (found == report_of.end()) return nowhere;
    return ranks[found->second].report || does_nothing_more(ranks[found->second].doing) ? found->second : nowhere;
  }
  [[nodiscard]] std::string communicator_name(std::uint32_t shared_number) const;
};

/// Two graphs over the same nodes, the first of which are the reports in their order. What is certain holds whatever
/// operation a rank is in; what is likely takes it to be in all that its call could wait for.
struct wait_graphs {
  needs certain;
  needs likely;
  std::vector<rank_wait> waits;
  /// The node that every rank needs that does nothing more, and that never goes on.
  needs::node never = 0;
};

/// One node for each report, and what they need that do nothing more.
[[nodiscard]] wait_graphs begin_graphs(const picture& seen);
/// Deadlocks of both graphs: certain ones first.
[[nodiscard]] std::vector<deadlock> find_deadlocks(const wait_graphs& graphs, const picture& seen);

/// Through operations: the call that a rank is in, and what it has pending.
void add_operations(const picture& seen, wait_graphs& graphs, std::vector<std::string>& doubts);
/// Through collective calls: who has come, and who has not.
void add_collectives(const picture& seen, wait_graphs& graphs, std::vector<std::string>& doubts);
/// What nobody could know, a sentence each.
void add_doubts(const picture& seen, std::vector<std::string>& doubts);

/// Of numbers in any order, also repeated: n log n, whatever the order.
[[nodiscard]] rank_set set_of(std::vector<std::uint32_t> numbers);
/// "rank 3", "ranks 0-3,7". A text that would be very long ends with "and others".
[[nodiscard]] std::string ranks_named(const rank_set& ranks);

}  // namespace mpiacq::waits
