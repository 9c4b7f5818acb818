// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the kernel says a process has mapped, for those who make more than one thing of it.
#pragma once

#include <string>

#include "mpiacq/error.hpp"
#include "mpiacq/ids.hpp"

namespace mpiacq {

/// The text of /proc/PID/maps. The kernel writes it anew for each reading, which takes longer than all that is made of
/// it: `unwind_modules_in` and `code_map::in` share one.
/// Errors: process_gone (also for one that has ended and was not waited for), permission, system.
[[nodiscard]] result<std::string> read_process_maps(process_id process);

}  // namespace mpiacq
