// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpiacq/base/error.hpp"

namespace mpiacq::tool {

// As in env(1), nohup(1) and timeout(1); every other status is the starter's own.
inline constexpr int status_ok = 0;
inline constexpr int status_clause_failed = 1;     ///< `check`: a starter violates a clause
inline constexpr int status_rank_failed = 1;       ///< a rank could not be examined, or a command of --each failed
inline constexpr int status_ended_by_watch = 124;  ///< `watch` has ended the job, as timeout(1) does
inline constexpr int status_tool_failed = 125;
inline constexpr int status_not_runnable = 126;
inline constexpr int status_not_found = 127;

/// The status if the starter could not be started.
[[nodiscard]] constexpr int status_of_failed_launch(error_code code) {
  switch (code) {
    case error_code::not_found:
      return status_not_found;
    case error_code::permission:
    case error_code::exec_failed:
      return status_not_runnable;
    default:
      return status_tool_failed;
  }
}

}  // namespace mpiacq::tool
