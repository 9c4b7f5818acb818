// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The outcome of holding a rank.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"

namespace mpiacq {

/// The outcome of holding one rank.
enum class hold_state : std::uint8_t {
  held,           ///< all its threads are stopped
  gone,           ///< it has ended
  replaced,       ///< the process with its pid is another one, which was left alone
  not_permitted,  ///< the system refuses, or the process belongs to another user than the starter; `why` says which
  busy,           ///< another tracer has the process; `why` names the tracer
  failed,         ///< any other reason
};
/// "held", "gone", "replaced", "not-permitted", "busy", "failed"
[[nodiscard]] std::string_view name(hold_state state);

/// One rank after an attempt to hold it.
struct rank_hold {
  entry_index entry;  ///< its entry in the process table
  process_id pid;
  hold_state state = hold_state::failed;
  /// Why the rank is not held. For a rank that is held: empty, or timed_out with the thread that does not stop because
  /// it waits in the kernel or in vfork.
  std::optional<error> why;
};

/// The outcome that an error of `tracer::attach` means.
[[nodiscard]] hold_state state_of_failure(const error& why);

}  // namespace mpiacq
