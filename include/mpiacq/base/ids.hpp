// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// Numbers of processes, threads and users, of the entries of a process table, and of ranks.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace mpiacq {

namespace detail {
/// A number that identifies something. It can be compared and hashed, and does not convert to other numbers.
template <class Tag, class Value = std::int64_t>
class identity {
 public:
  constexpr identity() = default;
  constexpr explicit identity(Value value) : value_(value) {}
  [[nodiscard]] constexpr Value value() const { return value_; }
  friend constexpr auto operator<=>(identity, identity) = default;

 private:
  Value value_ = -1;
};
}  // namespace detail

/// The pid of a process on the node where it runs (Linux: the thread group id). It has 64 bits, because a starter may
/// publish pids of other nodes in a wider field than the pid_t of this host (MPIR 1.1, 9.2). -1: no process.
using process_id = detail::identity<struct process_id_tag>;

/// One thread of a process on this node (Linux: the task id). -1: no thread.
using thread_id = detail::identity<struct thread_id_tag>;

/// A user, by number (credentials(7)).
using user_id = detail::identity<struct user_id_tag>;
/// -1: no user. A process that acts for several users has no user of its own.
inline constexpr user_id no_user{};

/// A row of the process table of a job. Entries are counted from 0 over all worlds. With MPIR the number of an entry is
/// the rank of its process (MPIR 1.1, 9.4); with MPI2DD `rank_names` has the rank.
class entry_index {
 public:
  /// The first entry.
  constexpr entry_index() = default;
  /// The entry at this place. A table has fewer than 2^32 entries.
  constexpr explicit entry_index(std::size_t place) : value_(static_cast<std::uint32_t>(place)) {}
  /// The number of the entry.
  [[nodiscard]] constexpr std::uint32_t value() const { return value_; }
  friend constexpr auto operator<=>(entry_index, entry_index) = default;

 private:
  std::uint32_t value_ = 0;
};

/// The entries from 0 to `count` - 1, for a loop.
class entry_range {
 public:
  /// A place in the loop.
  class iterator {
   public:
    /// The entry at this place.
    constexpr explicit iterator(std::size_t place) : place_(place) {}
    /// The entry.
    constexpr entry_index operator*() const { return entry_index{place_}; }
    /// The next entry.
    constexpr iterator& operator++() {
      ++place_;
      return *this;
    }
    friend constexpr bool operator==(iterator, iterator) = default;

   private:
    std::size_t place_;
  };

  /// These entries.
  constexpr explicit entry_range(std::size_t count) : count_(count) {}
  /// The first entry.
  [[nodiscard]] constexpr iterator begin() const { return iterator{0}; }
  /// Behind the last entry.
  [[nodiscard]] constexpr iterator end() const { return iterator{count_}; }

 private:
  std::size_t count_;
};

/// The number of a process in its world: its rank in MPI_COMM_WORLD. -1: no rank.
using rank_number = detail::identity<struct rank_number_tag, std::int32_t>;

}  // namespace mpiacq

template <class Tag, class Value>
struct std::hash<mpiacq::detail::identity<Tag, Value>> {
  std::size_t operator()(mpiacq::detail::identity<Tag, Value> id) const noexcept {
    return std::hash<Value>{}(id.value());
  }
};

template <>
struct std::hash<mpiacq::entry_index> {
  std::size_t operator()(mpiacq::entry_index entry) const noexcept { return std::hash<std::uint32_t>{}(entry.value()); }
};
