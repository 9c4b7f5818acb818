// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Finds the communicators of different ranks that are the same communicator.
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

/// One communicator of the job, merged from the reports of its members.
struct shared_communicator {
  std::uint64_t id = 0;
  std::string_view name;   ///< from the first report that has a name for it
  std::uint64_t size = 0;  ///< from the reports of its members
  communicator_members members;
  /// An intercommunicator: its operations name ranks of another group. If that group is unknown, it is also ambiguous.
  bool is_inter = false;
  std::uint32_t remote = nowhere;
  std::optional<group_members> remote_group;  ///< from the reports of its members
  /// The reports may belong to several communicators, and nothing shows which member belongs to which one.
  bool ambiguous = false;
  bool used = false;       ///< a rank has an operation on it
  bool by_window = false;  ///< the ranks of a window, which has no id
};

struct shared_communicators {
  std::vector<shared_communicator> all;
  /// Numbers in `all`: by the place of the report, then by the place of the communicator in it.
  std::vector<std::vector<std::uint32_t>> of;
  /// The communicator that the call of a rank names (`rank_activity::on`), by the place of the report. `nowhere` if it
  /// is not known.
  std::vector<std::uint32_t> called;
  std::vector<std::string> doubts;

  /// The communicator to which the other ranks of an operation belong; `nowhere` if it is unknown.
  [[nodiscard]] std::uint32_t peers_of(std::uint32_t number) const {
    return all[number].is_inter ? all[number].remote : number;
  }
};

[[nodiscard]] shared_communicators find_shared(std::span<const rank_report> ranks);

/// The number in the job of the other rank of an operation on this communicator; empty if it is unknown.
[[nodiscard]] std::optional<std::uint32_t> number_of(const shared_communicators& shared, std::uint32_t communicator,
                                                     const peer& who);

}  // namespace mpiacq::waits
