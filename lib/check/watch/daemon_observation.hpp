// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpiacq/base/ids.hpp"
#include "mpiacq/check/check_observations.hpp"

namespace mpiacq::check {

/// The processes of this node that run the file `path` (a script: whose first argument it is), and how many of them
/// were given just these arguments. Others may run the same program.
[[nodiscard]] daemon_seen look_for(const std::string& path, const std::vector<std::string>& arguments, user_id user);

}  // namespace mpiacq::check
