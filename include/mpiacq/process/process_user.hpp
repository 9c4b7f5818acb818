// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The users of a process. A process belongs to a job only if its user is the starter's user: a tool that runs as root
/// would otherwise stop, read and write any process that a hostile starter lists.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"

namespace mpiacq {

/// The users that a process acts for (credentials(7)), as /proc/PID/status shows them. In a program without special
/// rights all four are the same; in a set-user-ID program they differ.
struct process_users {
  user_id real;
  user_id effective;
  user_id saved;
  user_id file_system;

  /// The one user if all four are the same, else `no_user`. Also `no_user` if the number stands for all users that
  /// this program's user namespace does not know (user_namespaces(7), /proc/sys/kernel/overflowuid).
  [[nodiscard]] user_id only() const;
  /// "1000", or "1000 with the rights of user 0 (set-user-ID)".
  [[nodiscard]] std::string text() const;
  friend bool operator==(const process_users&, const process_users&) = default;
};
/// The users in the text of /proc/PID/status; empty if its line "Uid:" is missing or does not have four numbers.
[[nodiscard]] std::optional<process_users> parse_process_users(std::string_view status);

/// The users of a process of this node, as they are now. Thread: any. Errors: process_gone; limit (this program has no
/// file descriptor left, and the process may exist); permission; system.
[[nodiscard]] result<process_users> users_of(process_id pid);
/// The one user of a process; `no_user` if it has several, or if they cannot be read.
[[nodiscard]] user_id user_of(process_id pid);

/// Why a process with these users cannot be a rank of a starter whose user is `starters`; empty if it can be one. A
/// starter that acts for several users has no ranks. Error: permission. The message begins with "process PID belongs to
/// user".
[[nodiscard]] std::optional<error> why_no_rank(process_id pid, const process_users& users, user_id starters);
/// The same for a process of this node, as it is now. Errors: permission, and those of `users_of`.
[[nodiscard]] std::optional<error> why_no_rank(process_id pid, user_id starters);

}  // namespace mpiacq
