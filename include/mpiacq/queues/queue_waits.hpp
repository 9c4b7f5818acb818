// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The sense of a job's message queues: which operations belong together, who waits for whom, and who waits for ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/queues/message_queues.hpp"
#include "mpiacq/ranks/rank_set.hpp"
#include "mpiacq/ranks/stacks.hpp"

namespace mpiacq {

/// MPI calls by what makes them come back.
enum class mpi_call_kind : std::uint8_t {
  unknown,        ///< nobody could tell: there is no stack, or its outer end is cut off
  none,           ///< in no MPI call
  send,           ///< MPI_Send and its like
  receive,        ///< MPI_Recv
  exchange,       ///< a send and a receive: MPI_Sendrecv
  wait_one,       ///< MPI_Wait
  wait_all,       ///< MPI_Waitall
  wait_any,       ///< MPI_Waitany, MPI_Waitsome: one message is enough
  probe,          ///< MPI_Probe, MPI_Mprobe: it waits, and no queue shows for what
  test,           ///< MPI_Test*, MPI_Iprobe: it comes back in any case
  synchronising,  ///< a collective call that nobody leaves before all have come: MPI_Barrier, MPI_Allreduce
  collective,     ///< a collective call that some may leave before others have come: MPI_Bcast, MPI_Reduce
  other,          ///< any other
  ended,          ///< in no call any more: the process has ended
};

/// What a rank does, as its stacks show it.
struct rank_activity {
  mpi_call_kind kind = mpi_call_kind::unknown;
  std::string function;        ///< "MPI_Recv", by whatever language and profiling layer it is called; empty for none
  bool other_threads = false;  ///< another thread of the program's own may do what this one waits for
};
/// Of a process's threads, the first one first: the outermost MPI function is what the program called. A thread is the
/// program's own where one of its frames is in `program` (a module's path; empty: not asked), or in an MPI function.
[[nodiscard]] rank_activity activity_of(std::span<const thread_stack> threads, std::string_view program);
/// Of a function as a stack names it: "PMPI_Recv", "mpi_recv_", "MPI_Recv@plt". `none` for one that is not MPI's, as a
/// program's own mpi_setup().
[[nodiscard]] rank_activity activity_in(std::string_view function);

/// One operation of the reports that were given.
struct operation_place {
  std::uint32_t rank = 0;          ///< its place among the reports
  std::uint32_t communicator = 0;  ///< of that report
  queue_class queue = queue_class::sends;
  std::uint32_t operation = 0;  ///< of that queue
  friend bool operator==(const operation_place&, const operation_place&) = default;
};

/// A send and a receive that are both pending and that MPI will bring together: nobody waits because of them.
struct operation_pair {
  operation_place send;
  operation_place receive;
  bool only_choice = true;  ///< false: the receive is from MPI_ANY_SOURCE, and sends of several ranks would do
};

/// A pending operation without its other half.
struct unpaired_operation {
  operation_place where;
  /// The other side has no such operation. False where that is not known: its queue was not read, or not to its end.
  bool unmatched = true;
};

/// One rank waits for others.
struct rank_wait {
  std::uint32_t from = 0;
  rank_set to;          ///< never empty; ranks of the job
  bool any_of = false;  ///< one of them is enough; else it waits for each
  bool certain = true;  ///< false: it may wait. What it does is not known, or does not say which operation it is in
  std::string why;      ///< "in MPI_Recv: a receive with tag 7 on MPI_COMM_WORLD, and no send for it"
  friend bool operator==(const rank_wait&, const rank_wait&) = default;
};

/// Ranks that can never go on: each of them needs another one of them, or a rank that does nothing for others any more.
struct deadlock {
  /// Each waits for the next and the last for the first, where it is a plain ring that begins with the lowest;
  /// else in order.
  std::vector<std::uint32_t> ranks;
  bool is_ring = true;
  rank_set behind;      ///< that wait for these, and so for ever too
  bool certain = true;  ///< false: only if all waits that may be are
  /// Those of `ranks` that neither send nor receive any more, and that the others of `ranks` wait for: they are in
  /// MPI_Finalize (MPI 4.1, 11.2.2: no MPI call follows it), or their processes have ended. Both empty for ranks that
  /// wait for each other.
  rank_set in_finalize = {};
  rank_set ended = {};
};

/// All of it, for one moment. It is a picture of that moment: a message that is on its way is in no queue, so only
/// what is the same at two moments stands still.
struct queue_waits {
  std::vector<operation_pair> pairs;         ///< by receiver
  std::vector<unpaired_operation> unpaired;  ///< by rank, communicator and queue
  std::vector<rank_wait> waits;              ///< by `from`
  std::vector<deadlock> deadlocks;           ///< certain ones first, then by lowest rank
  std::uint64_t internal_operations = 0;     ///< with tags below 0: the library's own, in collective calls. Not paired
  std::vector<std::string> doubts;           ///< what was not known, a sentence each
};

/// `doing` is of the same ranks in the same order, or empty: then nobody knows what they do, and all waits may be.
///
/// Communicators of two ranks are one where their id, their size and their groups are the same; libraries that know no
/// groups are asked for the same name instead. Ids alone do not do: they may be the same in groups without a common
/// member. The other side of an intercommunicator is the one that its members tell (`remote_group`), or else the only
/// other group of its id; where neither is known its operations are not paired, and nobody is waited for through them.
///
/// A rank waits where it is in a call that waits. For which of several pending operations that is nobody can see: then
/// one of them is enough for it to go on, and `certain` deadlocks count no more than that. A rank in MPI_Finalize, and
/// one whose process has ended, does nothing for others any more: a rank that needs it waits for ever. Time: n log n in
/// operations and members of groups.
[[nodiscard]] queue_waits find_waits(std::span<const rank_queues> ranks, std::span<const rank_activity> doing = {});

/// Ranks that are in the same call.
struct rank_call {
  std::string function;  ///< as rank_activity has it
  mpi_call_kind kind = mpi_call_kind::unknown;
  rank_set ranks;
};
/// By lowest rank. Needs no queues: stacks alone show it.
[[nodiscard]] std::vector<rank_call> calls_of(std::span<const rank_queues> ranks, std::span<const rank_activity> doing);

/// Some ranks are in a collective call, and others are not. If the call is on MPI_COMM_WORLD, the former wait for the
/// latter; on which communicator it is, stacks do not show.
struct collective_gap {
  std::string function;
  rank_set in;
  rank_set missing;  ///< without ranks of which nothing is known
};
[[nodiscard]] std::vector<collective_gap> collective_gaps(std::span<const rank_call> calls);

/// Every rank that has a communicator of this name, and all members of their groups of it, both of them of an
/// intercommunicator. Empty where none has one.
[[nodiscard]] rank_set ranks_of_communicator(std::span<const rank_queues> ranks, std::string_view communicator);

}  // namespace mpiacq
