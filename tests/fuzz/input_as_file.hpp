// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the targets share whose input is a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "mpiacq/process/symbols.hpp"

namespace mpiacq::fuzz {

/// The input as a file that a path leads to; memory only.
class input_as_file {
 public:
  input_as_file(const std::uint8_t* data, std::size_t size) : descriptor_(::memfd_create("input", MFD_CLOEXEC)) {
    if (descriptor_ < 0 || ::write(descriptor_, data, size) != static_cast<ssize_t>(size)) std::abort();
  }
  ~input_as_file() { ::close(descriptor_); }
  input_as_file(const input_as_file&) = delete;
  input_as_file& operator=(const input_as_file&) = delete;
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

/// Ends the target if a member is not within its structure.
inline void check_members(const structure_layout& layout) {
  for (const structure_member& m : layout.members) {
    if (m.offset > layout.size || m.size > layout.size - m.offset) std::abort();
  }
}

}  // namespace mpiacq::fuzz
