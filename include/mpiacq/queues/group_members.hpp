// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace mpiacq {

/// The members of a communicator's group: for each rank in it, the number of that process in the job. Copies share one
/// list, and the list never changes: each rank of a job reports the group of its world, which may be long. Any thread
/// may read a value, and its copies are independent.
class group_members {
 public:
  group_members() = default;
  group_members(std::vector<std::int64_t> numbers)  // implicit: it is the same list
      : list_(std::make_shared<const std::vector<std::int64_t>>(std::move(numbers))) {}
  group_members(std::initializer_list<std::int64_t> numbers) : group_members(std::vector<std::int64_t>(numbers)) {}

  [[nodiscard]] const std::vector<std::int64_t>& numbers() const {
    static const std::vector<std::int64_t> none;
    return list_ ? *list_ : none;
  }
  [[nodiscard]] std::size_t size() const { return numbers().size(); }
  [[nodiscard]] std::int64_t operator[](std::size_t rank) const { return numbers()[rank]; }
  [[nodiscard]] auto begin() const { return numbers().begin(); }
  [[nodiscard]] auto end() const { return numbers().end(); }

  /// Identifies the list, for as long as a value shares it.
  [[nodiscard]] const void* list() const { return list_.get(); }
  /// Whether another value has the same list.
  [[nodiscard]] bool is_shared() const { return list_.use_count() > 1; }

  /// Equal lists have equal hashes. Linear.
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
