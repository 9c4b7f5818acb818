// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpiacq/base/address.hpp"
#include "mpiacq/process/registers.hpp"

namespace mpiacq::tool {

struct named_register {
  std::string name;
  target_address value;
};
/// The general registers with the names of their architecture, the program counter first.
[[nodiscard]] std::vector<named_register> named_registers(const thread_registers& registers);

}  // namespace mpiacq::tool
