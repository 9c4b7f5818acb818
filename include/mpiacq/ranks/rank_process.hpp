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
  std::uint32_t rank = 0;  ///< the entry in the process table
  process_id pid;
  std::string executable;  ///< its path; empty if no table names it: then it is not compared
  /// The rank that its launcher's variables should give, if it is another number than `rank`: with several worlds, its
  /// rank in its world.
  std::optional<std::int64_t> told = {};
  std::string name = {};  ///< for people; empty: its number
  /// The starter's user (process_table::user). A process of another user is not this rank: mpiacq does not hold, read
  /// or write it. Empty: the process may have any user, because the caller has chosen it.
  std::optional<user_id> user = {};
};
/// The name of a rank for people: "3", or "1:3" in a job with several worlds.
[[nodiscard]] std::string name_of(const rank_process& rank);

}  // namespace mpiacq
