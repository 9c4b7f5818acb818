// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace mpiacq::pmix {

/// The version in what PMIx says of itself: "5.0.7a1" in "OpenPMIx 5.0.7a1 (PMIx Standard: 5.1, ...)", in "OpenPMIx
/// 4.2.2, repo rev: ..." and in "5.0.7a1". Empty if no word begins with a number and a point.
[[nodiscard]] std::string version_in(std::string_view text);

}  // namespace mpiacq::pmix
