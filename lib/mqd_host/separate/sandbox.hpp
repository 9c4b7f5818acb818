// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the separate process takes from itself before foreign code runs in it. lib/mqd_host/README.md says what is left,
// and why.
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

/// This process becomes that user, for good, without any group but the user's own. 0 or an errno.
[[nodiscard]] int become(uid_t user, gid_t group);

/// Before the library is loaded: limits, no capabilities, no new privileges, and a filter that lets through what the
/// loader and the C library need, files for reading among it. A system call that it refuses stands in `refused` and
/// ends the process with SIGSYS. Gives what this kernel could not do, as sentences.
[[nodiscard]] std::vector<std::string> enter_sandbox(const queue_limits& limits, std::atomic<std::int32_t>& refused);

/// When it is loaded: no files any more, and no new code.
void close_sandbox();

/// "socket"; empty for a number that has no name here.
[[nodiscard]] std::string_view system_call_name(std::int32_t number);

/// The part of the tables that differs by processor (sandbox_*.cpp).
struct system_call {
  std::int32_t number;
  std::string_view name;
};
struct sandbox_arch {
  std::uint32_t audit_arch;                      ///< AUDIT_ARCH_*
  std::span<const std::int32_t> allowed;         ///< beside those that every processor has
  std::span<const std::int32_t> looks_at_files;  ///< by path: refused with EACCES when the sandbox is closed
  std::optional<std::int32_t> open;              ///< open(2), where it is a call of its own
  std::span<const system_call> named;            ///< names of what is refused
};
extern const sandbox_arch this_arch;

}  // namespace mpiacq::mqd_host
