// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// Conclusions from the message queues of a job: which operations match, which rank waits for which, and which ranks
/// can never go on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/ids.hpp"
#include "mpiacq/job/rank_names.hpp"
#include "mpiacq/ranks/rank_report.hpp"
#include "mpiacq/ranks/rank_set.hpp"

namespace mpiacq {

/// One operation in the reports.
struct operation_place {
  std::uint32_t rank = 0;          ///< the index of its report
  std::uint32_t communicator = 0;  ///< the index in that report
  queue_class queue = queue_class::sends;
  std::uint32_t operation = 0;  ///< the index in that queue
  friend bool operator==(const operation_place&, const operation_place&) = default;
};

/// A send and a receive that are both pending and that MPI will match: no rank waits because of them.
struct operation_pair {
  operation_place send;
  operation_place receive;
  bool only_choice = true;  ///< false: the receive is from MPI_ANY_SOURCE, and sends of several ranks match it
};

/// A pending operation without its counterpart.
struct unpaired_operation {
  operation_place where;
  /// The other side has no such operation. False if that is not known, because its queue was not read, or not to its
  /// end.
  bool unmatched = true;
};

/// One rank that waits for others.
struct rank_wait {
  entry_index from;
  rank_set to;          ///< never empty; ranks of the job
  bool any_of = false;  ///< one of them is enough; otherwise it waits for each
  bool certain =
      true;         ///< false: it may wait. Its activity is not known, or does not show which operation the call needs
  std::string why;  ///< "in MPI_Recv: a receive with tag 7 on MPI_COMM_WORLD, and no send for it"
  friend bool operator==(const rank_wait&, const rank_wait&) = default;
};

/// Collective calls that ranks have entered on one communicator and that do not belong together: MPI requires all ranks
/// of a communicator to make the same collective calls in the same order, with the same root, operation and amount of
/// data (MPI 4.1, chapter 6).
struct call_mismatch {
  /// One of the calls, and the ranks that are in it.
  struct one_call {
    std::string call;  ///< "MPI_Barrier", "MPI_Bcast with root 2", "MPI_Allreduce with 8 bytes"
    rank_set ranks;
  };
  std::string communicator;     ///< its name, or its number
  std::vector<one_call> calls;  ///< two or more, in the order of their lowest ranks
  /// False: some ranks may have left one of these calls already and be in the next one.
  bool certain = true;

  /// "the collective calls on MPI_COMM_WORLD do not match: rank 1 is in MPI_Allreduce, ranks 0,2-3 are in MPI_Barrier"
  [[nodiscard]] std::string sentence(const rank_names& names = {}) const;
};

/// Ranks that can never go on: each of them needs another one of them, or a rank that makes no MPI call any more.
struct deadlock {
  /// In a ring, each rank waits for the next and the last for the first, beginning with the lowest; otherwise in order.
  std::vector<entry_index> ranks;
  bool is_ring = true;
  rank_set behind;      ///< the ranks that wait for these, and therefore never go on either
  bool certain = true;  ///< false: it is a deadlock only if all uncertain waits are real
  /// Those of `ranks` that make no MPI call any more and that the others wait for: they are in MPI_Finalize (MPI 4.1,
  /// 11.2.2: no MPI call follows it), or their processes have ended. Both are empty for ranks that wait for each other.
  rank_set in_finalize = {};
  rank_set ended = {};
  /// Collective calls of these ranks, and of those behind them, that do not belong together: perhaps the cause.
  std::vector<call_mismatch> mismatches = {};

  /// "0 -> 1 -> 0 wait for each other; 2-7 wait behind them": for people, with the names of a job's table. Long lists
  /// of ranks are cut short.
  [[nodiscard]] std::string sentence(const rank_names& names = {}) const;
};

/// All conclusions from the queues at one moment. A message that is on its way is in no queue, so only what is the same
/// at two moments is certain to stand still.
struct queue_waits {
  std::vector<operation_pair> pairs;         ///< in the order of receivers
  std::vector<unpaired_operation> unpaired;  ///< in the order of ranks, communicators and queues
  std::vector<rank_wait> waits;              ///< in the order of `from`
  std::vector<deadlock> deadlocks;           ///< the certain ones first, then in the order of their lowest ranks
  /// Ranks that are in the same collective call with other operations or amounts of data; never certain, because a rank
  /// may leave one call and enter the next one while others still return from the first.
  std::vector<call_mismatch> mismatches;
  std::uint64_t internal_operations =
      0;  ///< operations of the MPI itself in collective calls (tags below 0), which are not paired
  std::vector<std::string> doubts;  ///< what is not known, one sentence each
};

/// Finds pairs, waits and deadlocks. The waits of a rank whose activity is not known are uncertain.
///
/// Communicators of two ranks are one if id, size and groups are the same; if a library does not know groups, the names
/// must be the same. The id alone is not enough: groups without a common member may have the same id. The other side of
/// an intercommunicator is its `remote_group`, or else the only other group with its id. If neither is known, its
/// operations are not paired and cause no waits. A communicator that only the call of a rank names
/// (`rank_activity::on`) is compared in the same way, if its group is known.
///
/// A rank waits if it is in a call that waits. If several operations are pending and it cannot be seen which of them
/// the call needs, one of them is assumed to be enough; `certain` deadlocks assume no more. A rank in MPI_Finalize, and
/// one whose process has ended, makes no MPI call any more: a rank that needs it waits for ever. A rank that a signal
/// has stopped (`rank_report::stopped_by_signal`) waits for SIGCONT alone: others may wait for it, and it is in no
/// deadlock. The time is n log n in operations and members of groups.
[[nodiscard]] queue_waits find_waits(std::span<const rank_report> ranks);

/// The ranks that are in the same call.
struct rank_call {
  std::string function;  ///< as `rank_activity::function`
  mpi_call_kind kind = mpi_call_kind::unknown;
  rank_set ranks;
  call_site at = {};        ///< where they have called it; only `calls_by_site` fills it in
  bool is_stopped = false;  ///< a signal has stopped them (`rank_report::stopped_by_signal`); only `calls_by_site`
};
/// The calls of all ranks in the order of their lowest ranks. It needs only stacks, no queues.
[[nodiscard]] std::vector<rank_call> calls_of(std::span<const rank_report> ranks);
/// As `calls_of`. Ranks that have made the same call in different places of the program are apart, and so are those
/// that a signal has stopped.
[[nodiscard]] std::vector<rank_call> calls_by_site(std::span<const rank_report> ranks);

/// Ranks that are elsewhere than most. They tell where to look if no wait explains why a job stands still.
struct odd_ranks {
  rank_call most;                 ///< the call that more than half of the ranks are in; of MPI or of another library
  std::vector<rank_call> others;  ///< the other ranks by the places that they are at, in the order of lowest ranks
};
/// Empty if no call has such a majority, or if all ranks are in it. Ranks that have ended, and those whose calls are
/// not known, do not count. Three ranks at least.
[[nodiscard]] std::optional<odd_ranks> find_odd_ranks(std::span<const rank_report> ranks);

/// Some ranks are in a collective call and others are not. If the call is on MPI_COMM_WORLD, the former wait for the
/// latter. Stacks do not show the communicator.
struct collective_gap {
  std::string function;
  rank_set in;
  rank_set missing;  ///< without ranks whose activity is not known
};
/// The collective calls that some ranks have not come to.
[[nodiscard]] std::vector<collective_gap> collective_gaps(std::span<const rank_call> calls);

/// All ranks that have a communicator with this name, and all members of its groups, of both groups for an
/// intercommunicator. Empty if no rank has one.
[[nodiscard]] rank_set ranks_of_communicator(std::span<const rank_report> ranks, std::string_view communicator);

}  // namespace mpiacq
