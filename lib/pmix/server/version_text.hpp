// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace mpiacq::pmix {

/// The version in what PMIx says of itself: "5.0.7a1" in "OpenPMIx 5.0.7a1 (PMIx Standard: 5.1, ...)", in "OpenPMIx
/// 4.2.2, repo rev: ..." and in "5.0.7a1". Empty if no word begins with a number and a point.
[[nodiscard]] std::string version_in(std::string_view text);

/// The first number of the oldest version whose servers are asked.
inline constexpr int oldest_version_asked = 5;
/// Whether a server of this version is not asked: it could fail, and its job with it. Open MPI 4.1.4's mpirun
/// (PMIx 4.2.2) does not answer a tool, and ended with a segmentation fault when one had asked. False for a text
/// without a number.
[[nodiscard]] bool is_too_old_to_ask(const std::string& version);

}  // namespace mpiacq::pmix
