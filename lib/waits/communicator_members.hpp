// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "mpiacq/queues/group_members.hpp"

namespace mpiacq::waits {

/// Marks "none" among places of reports and of communicators.
inline constexpr std::uint32_t nowhere = UINT32_MAX;

/// A rank that has a communicator: its number in the job, and the place of the communicator in its report.
struct communicator_user {
  std::uint32_t number = nowhere;
  std::uint32_t report = nowhere;
  std::uint32_t place = nowhere;  ///< of the communicator in the report; `nowhere`: only the rank's call shows it
};

/// The members of a communicator by their ranks in it. A group may be long, and many communicators may share one. So
/// this class refers to the list of the report, and holds only the ranks whose reports have the communicator.
class communicator_members {
 public:
  communicator_members() = default;
  explicit communicator_members(group_members group) : group_(std::move(group)) {}

  /// The number of known members.
  [[nodiscard]] std::size_t size() const;
  /// The number in the job of a member; -1 if it is not known.
  [[nodiscard]] std::int64_t operator[](std::size_t rank) const;
  /// The user with this rank; null if no report has the communicator for it.
  [[nodiscard]] const communicator_user* user(std::size_t rank) const;
  /// Adds a user. False if the rank has a user already or is not in the group.
  [[nodiscard]] bool add(std::uint32_t rank, const communicator_user& user);
  /// Whether these are the members of the group, in its order.
  [[nodiscard]] bool are(const group_members& group) const;

  /// Calls `visit(rank, number)` for each member whose number in the job is known, in order.
  template <class Visit>
  void for_each_known(Visit visit) const {
    if (group_.size() == 0) {
      for (const auto& [rank, user] : users_) visit(rank, std::int64_t{user.number});
      return;
    }
    for (std::size_t rank = 0; rank < group_.size(); ++rank) {
      if (const std::int64_t number = (*this)[rank]; number >= 0) visit(rank, number);
    }
  }

 private:
  group_members group_;                             ///< empty: no report has one
  std::map<std::size_t, communicator_user> users_;  ///< by rank in the communicator
};

[[nodiscard]] bool have_a_member_in_common(const communicator_members& a, const communicator_members& b);

}  // namespace mpiacq::waits
