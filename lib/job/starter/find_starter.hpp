// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/job/job.hpp"
#include "mpiacq/process/process_symbols.hpp"

namespace mpiacq {

/// The starter that somebody means who names a process.
struct found_starter {
  process_id pid;
  std::string how;  ///< one sentence where it is another process than the one named; empty where it is that one
  interface_kind interface = interface_kind::mpir;
  /// It was searched for, and had this user then. Whoever takes hold of it looks again: its number may have become
  /// another user's since.
  std::optional<user_id> user = {};
};

/// Why a process that was searched for is not to be taken for the starter any more, now that its user is `now`.
[[nodiscard]] result<void> still_has_user(const found_starter& found, user_id now);

/// `named` itself where it defines the interface and is no rank by its environment, or has a table; where it is a
/// forked copy of a starter that has a table, that starter. Else, of all processes of this node that have the user of
/// `named` and may be looked at: the starter whose table lists it (its parents first), or one that it has started
/// (`named` is a wrapper). Nothing is stopped. Debug files are looked for as `search` says, from a server only those of
/// `named`. Errors: not_found (no such process; no starter: what it is and where its starter may be). A process that
/// has gone is given back, for the attach to say so.
///
/// That is MPIR. A process with MPI2DD leads to all of its job (mpi2dd_starter.hpp), and is taken for that first,
/// unless `choice` is another.
[[nodiscard]] result<found_starter> find_starter(process_id named, const debug_file_search& search,
                                                 std::optional<interface_kind> choice = {});

/// "4242 (/usr/bin/app)"
[[nodiscard]] std::string with_executable(process_id pid);
/// Its parent, that one's parent, and so on.
[[nodiscard]] std::vector<process_id> ancestors_of(process_id pid);
[[nodiscard]] std::vector<process_id> processes_of_this_node();

}  // namespace mpiacq
