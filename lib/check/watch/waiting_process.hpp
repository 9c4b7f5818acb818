// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mpiacq/base/address.hpp"
#include "mpiacq/base/ids.hpp"

/// What /proc says of a process of this node, which is not touched. Everything is read anew at each call.
namespace mpiacq::check {

/// A file's bytes up to a limit; empty where it cannot be read.
[[nodiscard]] std::string file_text(const std::string& path, std::size_t limit = 65536);

struct process_state {
  char letter = 0;              ///< 'R', 'S', 'T', 't', 'Z' ...
  target_address stack_begins;  ///< where its stack pointer stood when it began; 0 where that may not be read
};
/// Empty where there is no such process. A zombie is one: its letter is 'Z'.
[[nodiscard]] std::optional<process_state> state_of(process_id pid);

/// Where a thread that does not run is: /proc/PID/syscall.
struct resting_thread {
  target_address stack;
};
/// Empty while it runs on a processor, and where that may not be read.
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

/// What a process has mapped to be executed. Empty where that may not be read.
[[nodiscard]] std::vector<code_range> executable_memory_of(process_id pid);

[[nodiscard]] std::string executable_of(process_id pid);
/// What it was started with: variables of its environment. Empty where that may not be read.
[[nodiscard]] std::map<std::string, std::string> environment_of(process_id pid);
/// argv. Empty where that may not be read.
[[nodiscard]] std::vector<std::string> arguments_of(process_id pid);
/// All processes of this node that can be seen from here.
[[nodiscard]] std::vector<process_id> all_processes();

}  // namespace mpiacq::check
