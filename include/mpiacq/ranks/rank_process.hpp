// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// A rank as its process table names it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "mpiacq/base/ids.hpp"

namespace mpiacq {

/// One rank as its process table names it.
struct rank_process {
  entry_index entry;  ///< its entry in the process table
  process_id pid;
  std::string executable;  ///< its path; empty if no table names it: then it is not compared
  /// Its rank in its world, which its launcher's variables should give. Empty: the same number as `entry`.
  std::optional<rank_number> rank = {};
  std::string name = {};  ///< for people; empty: its number
  /// The starter's user (process_table::user). A process of another user is not this rank: mpiacq does not hold, read
  /// or write it. Empty: the process may have any user, because the caller has chosen it.
  std::optional<user_id> user = {};
};
/// The name of a rank for people: "3", or "1:3" in a job with several worlds.
[[nodiscard]] std::string name_of(const rank_process& rank);

}  // namespace mpiacq
