// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "communicator_members.hpp"

#include <algorithm>
#include <vector>

namespace mpiacq::waits {

namespace {

/// A queue library may return any number.
bool is_known(std::int64_t number) {
  return number >= 0 && number < std::int64_t{nowhere};
}

}  // namespace

std::size_t communicator_members::size() const {
  if (group_.size() > 0) return group_.size();
  return users_.empty() ? 0 : users_.rbegin()->first + 1;
}

const communicator_user* communicator_members::user(std::size_t rank) const {
  const auto found = users_.find(rank);
  return found == users_.end() ? nullptr : &found->second;
}

std::int64_t communicator_members::operator[](std::size_t rank) const {
  if (rank < group_.size() && is_known(group_[rank])) return group_[rank];
  const communicator_user* known = user(rank);
  return known == nullptr ? -1 : std::int64_t{known->number};
}

bool communicator_members::add(std::uint32_t rank, const communicator_user& user) {
  if (group_.size() > 0 && rank >= group_.size()) return false;
  return users_.try_emplace(rank, user).second;
}

bool communicator_members::are(const group_members& group) const {
  if (group_.size() > 0 && group_.list() == group.list()) return true;
  if (size() != group.size()) return false;
  for (std::size_t rank = 0; rank < group.size(); ++rank) {
    if ((*this)[rank] != group[rank]) return false;
  }
  return true;
}

bool have_a_member_in_common(const communicator_members& a, const communicator_members& b) {
  const communicator_members& fewer = a.size() < b.size() ? a : b;
  const communicator_members& more = a.size() < b.size() ? b : a;
  std::vector<std::int64_t> numbers;
  fewer.for_each_known([&](std::size_t, std::int64_t number) { numbers.push_back(number); });
  std::sort(numbers.begin(), numbers.end());
  bool found = false;
  more.for_each_known([&](std::size_t, std::int64_t number) {
    found = found || std::binary_search(numbers.begin(), numbers.end(), number);
  });
  return found;
}

}  // namespace mpiacq::waits
