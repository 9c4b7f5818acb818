// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Waits for sends and receives that no queue lists, from requests that say which rank is on the other side.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mpiacq/queues/mpi_call.hpp"
#include "picture.hpp"

namespace mpiacq::waits {

class message_waits {
 public:
  message_waits(const picture& seen, wait_graphs& graphs) : seen_(seen), graphs_(graphs) {}

  /// Whether this request is for a message, and which rank can complete it is known.
  [[nodiscard]] static bool tells_other_rank(const pending_requests& one);
  /// Adds the waits of a rank, whose call waits for requests, for the messages of these requests. They are likely: a
  /// message may be on its way.
  void add(std::uint32_t report);

 private:
  /// The ranks of which one can complete a request.
  struct others {
    rank_set ranks;
    needs::node node = nowhere;  ///< goes on when one of them does; `nowhere` if the rank may go on without it
  };
  /// All ranks, for receives from any source.
  struct everybody {
    rank_set numbers;
    std::vector<std::uint32_t> senders;  ///< the reports of ranks that send, or may
  };
  [[nodiscard]] const everybody& all_ranks();
  [[nodiscard]] others others_of(std::uint32_t report, const pending_requests& one);
  [[nodiscard]] needs::node node_of_all();
  [[nodiscard]] bool may_be_under_way(std::uint32_t report, std::uint32_t other, const pending_requests& one) const;
  void put(std::uint32_t report, rank_set to, bool any_of, std::string what);

  const picture& seen_;
  wait_graphs& graphs_;
  std::optional<everybody> everybody_;  ///< made at its first use
  needs::node all_ = nowhere;           ///< made at its first use
};

}  // namespace mpiacq::waits
