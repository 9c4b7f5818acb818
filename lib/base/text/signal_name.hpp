// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace mpiacq::base {

/// "SIGSEGV", or "signal 70" for one without a name.
[[nodiscard]] std::string signal_name(int signal);

}  // namespace mpiacq::base
