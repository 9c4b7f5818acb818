// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The agents of a test on this machine.
#pragma once

#include <cstdlib>

#include "run_command.hpp"

namespace mpiacq::test {

/// The agents that run now: their file is what they are called by.
inline std::size_t agents_running() {
  const auto found = run_command({"pgrep", "-c", "-f", "^" MPIACQ_AGENT});
  return static_cast<std::size_t>(std::atoi(found.out.c_str()));
}

}  // namespace mpiacq::test
