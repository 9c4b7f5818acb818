// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/address.hpp"

namespace mpiacq::elf {

/// A file that is mapped from its beginning, with code among what follows it: an ELF object that was loaded.
struct loaded_object {
  target_address begin;  ///< of the mapping of the file's beginning
  target_address end;    ///< of that one mapping
  std::string path;      ///< without " (deleted)"
  std::string file;      ///< device and inode: what file it is, whatever its name
};

/// Those in the text of /proc/PID/maps, by address; the vdso is one. Lines that cannot be read are left out.
[[nodiscard]] std::vector<loaded_object> loaded_objects_in(std::string_view maps);

}  // namespace mpiacq::elf
