// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The number of a Slurm job.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mpiacq {

/// A job of Slurm, or one step of it, by the numbers that `squeue` shows. Thread: a value.
struct slurm_job {
  std::uint32_t id = 0;
  std::optional<std::uint32_t> step = {};  ///< empty: the only step with ranks on this node

  /// Reads "42" or "42.0". Empty: the text is something else.
  [[nodiscard]] static std::optional<slurm_job> parse(std::string_view text);
  /// "42" or "42.0"
  [[nodiscard]] std::string text() const;
  friend bool operator==(const slurm_job&, const slurm_job&) = default;
};

}  // namespace mpiacq
