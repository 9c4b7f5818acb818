// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The members of a communicator's group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace mpiacq {

/// The members of a communicator's group: for each rank of the communicator, the number of its process in the job.
/// Copies share one list, which never changes: each rank of a job reports the group of its world, which may be long.
/// Thread: any, several at a time.
class group_members {
 public:
  group_members() = default;
  /// The group with these members. Implicit, because it is the same list.
  group_members(std::vector<std::int64_t> numbers)
      : list_(std::make_shared<const std::vector<std::int64_t>>(std::move(numbers))) {}
  /// The group with these members.
  group_members(std::initializer_list<std::int64_t> numbers) : group_members(std::vector<std::int64_t>(numbers)) {}

  /// The members by rank. The reference is valid as long as a copy of this object.
  [[nodiscard]] const std::vector<std::int64_t>& numbers() const {
    static const std::vector<std::int64_t> none;
    return list_ ? *list_ : none;
  }
  /// The number of members.
  [[nodiscard]] std::size_t size() const { return numbers().size(); }
  /// The member with this rank, which is less than `size`.
  [[nodiscard]] std::int64_t operator[](std::size_t rank) const { return numbers()[rank]; }
  /// The first member.
  [[nodiscard]] auto begin() const { return numbers().begin(); }
  /// The end of the members.
  [[nodiscard]] auto end() const { return numbers().end(); }

  /// Identifies the list as long as an object shares it.
  [[nodiscard]] const void* list() const { return list_.get(); }
  /// Whether another object shares the list.
  [[nodiscard]] bool is_shared() const { return list_.use_count() > 1; }

  /// A hash: equal lists have equal hashes. Takes linear time.
  [[nodiscard]] std::size_t hash() const {
    std::size_t hash = size();
    for (const std::int64_t member : *this) hash = (hash ^ static_cast<std::size_t>(member)) * 1099511628211U;
    return hash;
  }

  friend bool operator==(const group_members& a, const group_members& b) {
    return a.list_ == b.list_ || a.numbers() == b.numbers();
  }

 private:
  std::shared_ptr<const std::vector<std::int64_t>> list_;
};

}  // namespace mpiacq
