// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace mpiacq::test {

/// How long a test waits for an event that must come. The whole time passes only if something is wrong. A machine with
/// much other work can be ten times slower than an idle one.
inline constexpr std::chrono::seconds patience{120};

/// The limit for an event that must come by itself, and not because a limit of minutes has passed. An idle machine
/// needs a second.
inline constexpr std::chrono::seconds soon{60};

}  // namespace mpiacq::test
