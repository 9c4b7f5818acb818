// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// Core files of ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpiacq/base/ids.hpp"
#include "mpiacq/ranks/rank_results.hpp"
#include "mpiacq/ranks/rank_selection.hpp"

namespace mpiacq {

/// Which core files `rank_group::write_cores` writes, and where.
struct rank_core_options {
  rank_selection ranks = {};  ///< among those of the group that are held
  /// The folder on the node of each rank; an absolute path. It is made if it does not exist. The folder above it must
  /// exist.
  std::string folder = {};
  std::uint64_t most_bytes = std::uint64_t{64} << 30U;  ///< the largest core file
};

/// A core file of one rank.
struct rank_core {
  entry_index entry;
  std::string host;         ///< the node with the file; empty: this node
  std::string path;         ///< "FOLDER/core.RANK.PID"
  std::uint64_t bytes = 0;  ///< its size
  /// Bytes of the rank that are missing in the file, because they could not be read, or because of `most_bytes`.
  std::uint64_t unread = 0;
};

/// The core files of a group. A file that could not be written to its end does not exist.
struct rank_cores {
  std::vector<rank_core> written;
  std::vector<refused_ranks> refused;  ///< all other ranks of the question
};

}  // namespace mpiacq
