// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mpiacq/base/address.hpp"
#include "mpiacq/base/ids.hpp"

/// The place of a process of this node in its program, from /proc. The process is not stopped. Each call reads again.
namespace mpiacq::check {

/// A file's bytes up to a limit; empty if it cannot be read.
[[nodiscard]] std::string file_text(const std::string& path, std::size_t limit = 65536);

/// The place of a thread that does not run, from /proc/PID/syscall.
struct resting_thread {
  target_address stack;
};
/// Empty while the thread runs on a processor, and if the file cannot be read.
[[nodiscard]] std::optional<resting_thread> rests_at(process_id pid);

/// Code from one address on, its first byte excluded: a return address into a function is never its first byte, a
/// pointer to it always is.
struct code_range {
  target_address begin;
  std::uint64_t size = 0;
  [[nodiscard]] bool holds_return_address(std::uint64_t address) const {
    return address > begin.value() && address - begin.value() <= size;
  }
};

/// The executable mappings of a process; empty if they cannot be read.
[[nodiscard]] std::vector<code_range> executable_memory_of(process_id pid);

}  // namespace mpiacq::check
