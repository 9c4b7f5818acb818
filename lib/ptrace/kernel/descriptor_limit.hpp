// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace mpiacq::tracing {

/// Lets this process have more descriptors than it was given, as far as it may without rights of its own, and gives how
/// many those are. Programs that it launches must not see that: restore_descriptor_limit.
[[nodiscard]] std::size_t raise_descriptor_limit();

/// What the limit was. Between fork and exec: only a system call.
void restore_descriptor_limit();

}  // namespace mpiacq::tracing
