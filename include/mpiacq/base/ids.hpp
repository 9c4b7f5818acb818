// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// Numbers of processes, threads and users.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace mpiacq {

namespace detail {
/// A number that identifies something. It can be compared and hashed, and does not convert to other numbers.
template <class Tag>
class identity {
 public:
  constexpr identity() = default;
  constexpr explicit identity(std::int64_t value) : value_(value) {}
  [[nodiscard]] constexpr std::int64_t value() const { return value_; }
  friend constexpr auto operator<=>(identity, identity) = default;

 private:
  std::int64_t value_ = -1;
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

}  // namespace mpiacq

template <class Tag>
struct std::hash<mpiacq::detail::identity<Tag>> {
  std::size_t operator()(mpiacq::detail::identity<Tag> id) const noexcept {
    return std::hash<std::int64_t>{}(id.value());
  }
};
