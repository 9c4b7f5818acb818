// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The pending operations of all ranks in one list, and the pairs of a send and a receive among them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mpiacq/queues/queue_waits.hpp"
#include "same_communicators.hpp"

namespace mpiacq::waits {

/// A send or a receive that a program has begun and that is not complete.
struct half {
  operation_place place;
  std::uint32_t shared = 0;             ///< its communicator
  std::uint32_t local = nowhere;        ///< its own rank in it
  std::uint32_t peer_local = nowhere;   ///< the other rank, among `peers_of`; `nowhere`: not known, or any
  std::uint32_t peer_number = nowhere;  ///< the other rank's number in the job
  std::int64_t tag = 0;
  bool any_source = false;
  bool any_tag = false;
  bool is_probe = false;          ///< an MPI_Mprobe, which the library lists among the receives
  bool moving = false;            ///< the library reports it as matched
  bool other_side_known = false;  ///< the other rank's queue is complete, so the absence of a partner is certain
  bool only_choice = true;
  std::size_t partner = SIZE_MAX;

  [[nodiscard]] bool is_send() const { return place.queue == queue_class::sends; }
  /// The message is on its way, or its send and its receive are paired, so no rank has to do anything more.
  [[nodiscard]] bool under_way() const { return moving || partner != SIZE_MAX; }
};

struct halves {
  std::vector<half> all;  ///< by report, communicator, queue and operation
  /// By report: the index of its first operation, with one more element at the end.
  std::vector<std::size_t> first_of;
  /// By report: the communicator of the library's own operations (tags below 0); `nowhere` if there are none, or if
  /// they are on several communicators.
  std::vector<std::uint32_t> internal_on;
  std::uint64_t internal_operations = 0;

  [[nodiscard]] std::span<const half> of(std::size_t report) const {
    return std::span(all).subspan(first_of[report], first_of[report + 1] - first_of[report]);
  }
};

[[nodiscard]] halves collect(std::span<const rank_report> ranks, const shared_communicators& shared);

/// Pairs by MPI's rules: the first matching receive takes the first matching send, in the order of the sender. Of
/// several senders to MPI_ANY_SOURCE, the lowest rank counts as the first.
void pair_up(halves& operations, const shared_communicators& shared);

/// Sets `other_side_known` of the operations without a partner: whether the other rank's queue is completely known. The
/// queue of a process that has ended is known to be empty.
void look_at_other_sides(halves& operations, std::span<const rank_report> ranks, const shared_communicators& shared);

}  // namespace mpiacq::waits
