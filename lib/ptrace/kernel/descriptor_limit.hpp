// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace mpiacq::tracing {

/// Raises the descriptor limit of this process as far as an unprivileged process may, and returns the limit. Programs
/// that it launches must not inherit this: see restore_descriptor_limit.
[[nodiscard]] std::size_t raise_descriptor_limit();

/// Restores the limit that this process started with. Allowed between fork and exec.
void restore_descriptor_limit();

}  // namespace mpiacq::tracing
