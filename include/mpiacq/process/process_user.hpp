// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"

/// Whose process it is. A process belongs to a job only if its user is the starter's user: a tool that runs as root
/// would otherwise stop, read and write whatever process a hostile starter lists.
namespace mpiacq {

/// The users that a process acts for (credentials(7)), as /proc/PID/status has them. A program without special rights
/// has the same user four times; a set-user-ID program has not.
struct process_users {
  user_id real;
  user_id effective;
  user_id saved;
  user_id file_system;

  /// The one user where all four are the same, else `no_user`. Also `no_user` where that number stands for every user
  /// that this program's user namespace does not know (user_namespaces(7), /proc/sys/kernel/overflowuid).
  [[nodiscard]] user_id only() const;
  /// "1000", or "1000 with the rights of user 0 (set-user-ID)".
  [[nodiscard]] std::string text() const;
  friend bool operator==(const process_users&, const process_users&) = default;
};
/// Out of the text of /proc/PID/status; empty where its line "Uid:" is missing or is not four numbers.
[[nodiscard]] std::optional<process_users> parse_process_users(std::string_view status);

/// The users of a process of this node. Thread: any. Errors: process_gone; system (the process may exist: this program
/// has no descriptor left, or /proc is not mounted).
[[nodiscard]] result<process_users> users_of(process_id pid);
/// The one user of a process; `no_user` where it has not one alone, or cannot be looked at.
[[nodiscard]] user_id user_of(process_id pid);

/// Why a process with these users is no rank of a starter that has `starters`; empty where it can be one. A starter
/// without one user of its own has no ranks. Error: permission. The message begins with "process PID belongs to user".
[[nodiscard]] std::optional<error> why_no_rank(process_id pid, const process_users& users, user_id starters);
/// The same of a process of this node, as it is now. Errors: as above, and those of `users_of`.
[[nodiscard]] std::optional<error> why_no_rank(process_id pid, user_id starters);

}  // namespace mpiacq
