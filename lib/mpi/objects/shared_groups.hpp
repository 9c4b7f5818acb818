// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "mpiacq/queues/message_queues.hpp"

namespace mpiacq {

/// Gives equal groups of the ranks of a node one list, and bounds the length of all lists together.
class shared_groups {
 public:
  /// At most this number of members is kept.
  static constexpr std::size_t most_members = std::size_t{1} << 21U;

  /// A group that does not fit beside the earlier ones is left out.
  void share(queue_communicator& one) {
    share(one.group);
    share(one.remote_group);
  }

 private:
  void share(std::optional<group_members>& group);

  std::vector<group_members> seen_;
  std::size_t members_ = 0;
};

}  // namespace mpiacq
