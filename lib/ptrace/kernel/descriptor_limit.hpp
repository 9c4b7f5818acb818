// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace mpiacq::tracing {

/// Raises the descriptor limit of this process as far as it may without rights of its own, and gives the limit. The
/// programs that it launches must not inherit that: restore_descriptor_limit.
[[nodiscard]] std::size_t raise_descriptor_limit();

/// Sets the limit to what this process was given. Allowed between fork and exec.
void restore_descriptor_limit();

}  // namespace mpiacq::tracing
