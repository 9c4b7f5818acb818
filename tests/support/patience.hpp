// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace mpiacq::test {

/// How long a test waits for what must come. A test waits as long as this only where something is wrong: a machine with
/// much other work takes ten times as long for everything as a quiet one.
inline constexpr std::chrono::seconds patience{120};

/// The bound for what must come by itself and not because a limit of minutes is over. A quiet machine needs a second.
inline constexpr std::chrono::seconds soon{60};

}  // namespace mpiacq::test
