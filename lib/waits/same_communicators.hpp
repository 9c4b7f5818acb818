// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Which communicators of which ranks are one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "communicator_members.hpp"
#include "mpiacq/queues/message_queues.hpp"
#include "mpiacq/ranks/rank_report.hpp"

namespace mpiacq::waits {

/// One communicator of the job, with what each rank that has it says.
struct shared_communicator {
  std::uint64_t id = 0;
  std::string_view name;   ///< of the first rank that has one for it
  std::uint64_t size = 0;  ///< as its members say it
  communicator_members members;
  /// Its operations name ranks of another group. Which one that is may not be known; then it is ambiguous too.
  bool is_inter = false;
  std::uint32_t remote = nowhere;
  std::optional<group_members> remote_group;  ///< as its members say it
  /// Several communicators may be under one hat: nobody can say who belongs to whom.
  bool ambiguous = false;
  bool used = false;  ///< somebody has an operation on it
};

struct shared_communicators {
  std::vector<shared_communicator> all;
  /// By place of the report, then of the communicator in it.
  std::vector<std::vector<std::uint32_t>> of;
  std::vector<std::string> doubts;

  /// The one that the ranks in an operation of this communicator are of; `nowhere` where nobody knows.
  [[nodiscard]] std::uint32_t peers_of(std::uint32_t number) const {
    return all[number].is_inter ? all[number].remote : number;
  }
};

[[nodiscard]] shared_communicators find_shared(std::span<const rank_report> ranks);

/// The number in the job of the other side of an operation on this communicator, where that is known.
[[nodiscard]] std::optional<std::uint32_t> number_of(const shared_communicators& shared, std::uint32_t communicator,
                                                     const peer& who);

}  // namespace mpiacq::waits
