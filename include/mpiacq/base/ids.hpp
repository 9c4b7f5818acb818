// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace mpiacq {

namespace detail {
/// A number that is an identity: it compares and hashes, and converts to nothing by itself.
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

/// A process, by its number on the node where it runs (Linux: the thread group id). 64 bits because a starter may
/// publish pids of other nodes in a wider field than this host's pid_t (MPIR 1.1, 9.2). -1 names no process.
using process_id = detail::identity<struct process_id_tag>;

/// One thread of a process on this node (Linux: the task id). -1 names no thread.
using thread_id = detail::identity<struct thread_id_tag>;

/// A user, by number (credentials(7)).
using user_id = detail::identity<struct user_id_tag>;
/// -1: no user. A process that acts for more than one user has none of its own.
inline constexpr user_id no_user{};

}  // namespace mpiacq

template <class Tag>
struct std::hash<mpiacq::detail::identity<Tag>> {
  std::size_t operator()(mpiacq::detail::identity<Tag> id) const noexcept {
    return std::hash<std::int64_t>{}(id.value());
  }
};
