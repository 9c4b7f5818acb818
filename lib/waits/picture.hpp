// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The input and the intermediate results that the parts of the analysis share.
#pragma once

#include <memory>
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

/// Whether the call waits for the other ranks of a communicator, or for some of them.
[[nodiscard]] inline bool is_collective(mpi_call_kind kind) {
  return kind == mpi_call_kind::synchronising || kind == mpi_call_kind::collective ||
         kind == mpi_call_kind::neighbourhood;
}
/// Whether the call waits for other ranks that have opened the same file. Two calls, of which the name of one ends with
/// "_begin", make one operation; which of them waits is up to the MPI.
[[nodiscard]] inline bool is_collective_on_file(const rank_activity& doing) {
  return doing.kind == mpi_call_kind::file && !doing.function.ends_with("_begin") && !doing.function.ends_with("_end");
}

struct picture {
  std::span<const rank_report> ranks;
  const shared_communicators& shared;
  const halves& operations;
  std::unordered_map<std::uint32_t, std::uint32_t> report_of;  ///< by number in the job

  /// The report of a rank, by its number in the job. `nowhere` for a rank that was not looked at or whose queues are
  /// not known: it may do anything. A rank that does nothing any more is known without its queues.
  [[nodiscard]] std::uint32_t known(std::uint32_t number) const {
    const auto found = report_of.find(number);
    if (found == report_of.end()) return nowhere;
    return ranks[found->second].report || does_nothing_more(ranks[found->second].doing) ? found->second : nowhere;
  }
  [[nodiscard]] std::string communicator_name(std::uint32_t shared_number) const;
};

/// The communicator of the collective call that a rank is in.
struct entered_call {
  std::string communicator;     ///< empty: the rank is in no collective call, or its communicator is not known
  std::uint32_t key = nowhere;  ///< differs for communicators with the same name
  /// The ranks that it waits for there; null if it waits for none. Ranks that wait for the same ranks share the set.
  std::shared_ptr<const rank_set> awaited;
};

/// Two graphs over the same nodes. The first nodes are the reports in their order. A certain need holds for each
/// operation that the rank's call may wait for. A likely need assumes that the call waits for all of its operations.
struct wait_graphs {
  needs certain;
  needs likely;
  std::vector<rank_wait> waits;
  std::vector<entered_call> entered;  ///< by report
  /// A node that never goes on. Every rank that does nothing any more needs it.
  needs::node never = 0;
};

/// Makes one node for each report, and the need of each rank that does nothing any more.
[[nodiscard]] wait_graphs begin_graphs(const picture& seen);
/// Takes the waits from the ranks that a signal has stopped: what their calls wait for may have come. One that is in
/// MPI_Finalize will do nothing more, also when it continues.
void free_stopped(const picture& seen, wait_graphs& graphs);
/// Deadlocks of both graphs: certain ones first.
[[nodiscard]] std::vector<deadlock> find_deadlocks(const wait_graphs& graphs, const picture& seen);

/// Adds to each deadlock the collective calls of its ranks that do not belong together.
void add_mismatches(const picture& seen, const wait_graphs& graphs, std::vector<deadlock>& deadlocks);

/// Adds the collective calls in which ranks have passed different operations or amounts of data.
void add_differing_calls(const picture& seen, const wait_graphs& graphs, std::vector<call_mismatch>& found);

/// Adds the waits for operations: from the call that a rank is in, and its pending operations.
void add_operations(const picture& seen, wait_graphs& graphs, std::vector<std::string>& doubts);
/// Adds the waits in collective calls: for the ranks that have not entered the call.
void add_collectives(const picture& seen, wait_graphs& graphs, std::vector<std::string>& doubts);
/// Adds the waits for nonblocking collective operations, and for sends and receives that no queue lists, from the
/// requests of calls. They are likely: a rank may have begun the operation and do something else since, and of a send
/// or a receive only the communicator is known.
void add_requests(const picture& seen, wait_graphs& graphs, std::vector<std::string>& doubts);
/// Adds the waits of ranks that no queue shows (`is_told_by_call`), from the arguments of their calls on MPI_COMM_WORLD
/// and on communicators that they name (`rank_activity::on`). They are likely: an earlier message, or a request that
/// the rank has begun before, may end the call.
void add_calls(const picture& seen, wait_graphs& graphs);
/// Adds a sentence for each kind of information that is missing.
void add_doubts(const picture& seen, std::vector<std::string>& doubts);

/// The set of numbers that may be in any order and repeated. Takes n log n time.
[[nodiscard]] rank_set set_of(std::vector<std::uint32_t> numbers);
/// "rank 3", "ranks 0-3,7". A text that would be very long ends with "and others".
[[nodiscard]] std::string ranks_named(const rank_set& ranks);

}  // namespace mpiacq::waits
