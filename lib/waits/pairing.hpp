// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The pending operations of all ranks in one row, and which of them belong together.
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
  std::uint32_t peer_local = nowhere;   ///< the other side's, among `peers_of`; `nowhere`: not known, or any
  std::uint32_t peer_number = nowhere;  ///< the other side's number in the job
  std::int64_t tag = 0;
  bool any_source = false;
  bool any_tag = false;
  bool is_probe = false;          ///< an MPI_Mprobe, which the library lists among the receives
  bool moving = false;            ///< matched already, as the library says
  bool other_side_known = false;  ///< that the other side has nothing for it can be said
  bool only_choice = true;
  std::size_t partner = SIZE_MAX;

  [[nodiscard]] bool is_send() const { return place.queue == queue_class::sends; }
  /// The message is on its way, or will be without anybody's doing.
  [[nodiscard]] bool under_way() const { return moving || partner != SIZE_MAX; }
};

struct halves {
  std::vector<half> all;  ///< by report, communicator, queue and operation
  /// By report: where its own begin; one more at the end.
  std::vector<std::size_t> first_of;
  /// By report: the communicator that the library's own operations (tags below 0) are on; `nowhere` where there are
  /// none, or on several.
  std::vector<std::uint32_t> internal_on;
  std::uint64_t internal_operations = 0;

  [[nodiscard]] std::span<const half> of(std::size_t report) const {
    return std::span(all).subspan(first_of[report], first_of[report + 1] - first_of[report]);
  }
};

[[nodiscard]] halves collect(std::span<const rank_report> ranks, const shared_communicators& shared);

/// As MPI would: a receive takes the first send that fits, in the sender's order, and the first receive that fits has
/// it. Of several senders to MPI_ANY_SOURCE the lowest rank is taken for the first.
void pair_up(halves& operations, const shared_communicators& shared);

/// For what has remained single: whether the other side's queue is known to its end. A process that has ended has none.
void look_at_other_sides(halves& operations, std::span<const rank_report> ranks, const shared_communicators& shared);

}  // namespace mpiacq::waits
