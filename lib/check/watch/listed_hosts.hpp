// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "mpiacq/check/check_observations.hpp"

namespace mpiacq::check {

/// Whether each name is, or has, an address. The system's own look-ups (getaddrinfo) can hang: those that have no
/// answer in time are left as `no_answer`.
[[nodiscard]] std::vector<host_seen> translate(const std::vector<std::string>& names, std::chrono::milliseconds limit);

}  // namespace mpiacq::check
