// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "text/signal_name.hpp"

#include <cstring>

#include <fmt/format.h>

namespace mpiacq::base {

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

}  // namespace mpiacq::base
