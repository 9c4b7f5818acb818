// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include <sys/types.h>

#include "mpiacq/base/address.hpp"
#include "mpiacq/base/error.hpp"

namespace mpiacq::tracing {

/// The code and data of stopped processes, including read-only pages.
class code_memory {
 public:
  code_memory() = default;
  virtual ~code_memory() = default;
  code_memory(const code_memory&) = delete;
  code_memory& operator=(const code_memory&) = delete;

  /// Fills `into`. Errors: process_gone; timed_out: the memory does not answer in time; unreadable_memory.
  [[nodiscard]] virtual result<void> read(pid_t process, target_address address, std::span<std::byte> into) = 0;
  /// Writes all of `bytes`. Errors as for read.
  [[nodiscard]] virtual result<void> write(pid_t process, target_address address, std::span<const std::byte> bytes) = 0;

  /// Writes, reads back and compares. If a write only seemed to work, the breakpoint would never be hit.
  [[nodiscard]] result<void> write_and_verify(pid_t process, target_address address, std::span<const std::byte> bytes);
  /// Whether the memory there holds exactly these bytes.
  [[nodiscard]] bool holds(pid_t process, target_address address, std::span<const std::byte> bytes);
};

/// The memory of processes on this machine, through /proc/PID/mem.
class proc_code_memory final : public code_memory {
 public:
  [[nodiscard]] result<void> read(pid_t process, target_address address, std::span<std::byte> into) override;
  [[nodiscard]] result<void> write(pid_t process, target_address address, std::span<const std::byte> bytes) override;
};

}  // namespace mpiacq::tracing
