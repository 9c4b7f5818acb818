// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpiacq/error.hpp"
#include "mpiacq/ids.hpp"

namespace mpiacq {

/// The starter that somebody means who names a process.
struct found_starter {
  process_id pid;
  std::string how;  ///< one sentence where it is another process than the one named; empty where it is that one
};

/// `named` itself where it defines the interface and is no rank by its environment, or has a table. Else, of all
/// processes of this node that may be looked at: the starter whose table lists it (its parents first), or one that it
/// has started (`named` is a wrapper). Nothing is stopped. Errors: not_found (no such process; no starter: what it
/// is and where its starter may be), permission.
[[nodiscard]] result<found_starter> find_starter(process_id named);

}  // namespace mpiacq
