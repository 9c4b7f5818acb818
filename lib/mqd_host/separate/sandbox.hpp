// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the separate process gives up before foreign code runs in it. lib/mqd_host/README.md says what remains, and why.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "mpiacq/queues/message_queues.hpp"

namespace mpiacq::mqd_host {

/// To be called before the library is loaded: sets limits, drops capabilities and new privileges, and installs a filter
/// that allows what the loader and the C library need, such as reading files. The filter stores the number of a refused
/// system call in `refused` and ends the process with SIGSYS. Returns sentences about what this kernel lacks.
[[nodiscard]] std::vector<std::string> enter_sandbox(const queue_limits& limits, std::atomic<std::int32_t>& refused);

/// To be called once the library is loaded: refuses further files and new code.
void close_sandbox();

/// "socket"; empty for a number without an entry in the tables.
[[nodiscard]] std::string_view system_call_name(std::int32_t number);

/// The part of the tables that differs by architecture (sandbox_*.cpp).
struct system_call {
  std::int32_t number;
  std::string_view name;
};
struct sandbox_arch {
  std::uint32_t audit_arch;                      ///< AUDIT_ARCH_*
  std::span<const std::int32_t> allowed;         ///< in addition to the calls of every architecture
  std::span<const std::int32_t> looks_at_files;  ///< calls with a path: the closed sandbox refuses them with EACCES
  std::optional<std::int32_t> open;              ///< open(2), if the architecture has it
  std::span<const system_call> named;            ///< names of refused calls, for messages
};
extern const sandbox_arch this_arch;

}  // namespace mpiacq::mqd_host
