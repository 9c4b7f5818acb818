// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/address.hpp"

namespace mpiacq::elf {

/// A file that is mapped from its beginning and has executable mappings: a loaded ELF object.
struct loaded_object {
  target_address begin;  ///< of the mapping of the file's first bytes
  target_address end;    ///< of that mapping alone
  std::string path;      ///< without " (deleted)"
  std::string file;      ///< device and inode, which identify the file whatever its name
};

/// The loaded objects in the text of /proc/PID/maps, by address, including the vDSO. Malformed lines are left out.
[[nodiscard]] std::vector<loaded_object> loaded_objects_in(std::string_view maps);

}  // namespace mpiacq::elf
