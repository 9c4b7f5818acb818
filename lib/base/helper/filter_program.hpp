// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include <linux/filter.h>
#include <linux/seccomp.h>

namespace mpiacq::base {

/// Builds a seccomp(2) program that judges each system call. It compares the lower 32 bits of arguments: all compared
/// arguments are flags and numbers that the kernel takes as ints.
class filter_program {
 public:
  static constexpr std::uint32_t trap = SECCOMP_RET_TRAP;
  static constexpr std::uint32_t allow_rest = SECCOMP_RET_ALLOW;

  /// System calls of another architecture (32-bit ones) end the process at once.
  explicit filter_program(std::uint32_t audit_arch);

  void allow(std::int32_t call);
  void allow_without_bits(std::int32_t call, unsigned argument, std::uint32_t bits);
  void allow_if_equal(std::int32_t call, unsigned argument, std::initializer_list<std::uint32_t> values);
  void refuse(std::int32_t call, int errno_value);
  void trap_always(std::int32_t call);
  void trap_with_bits(std::int32_t call, unsigned argument, std::uint32_t bits);
  /// Completes the program. `rest` is the action for a call that no rule decided.
  [[nodiscard]] std::vector<sock_filter> finish(std::uint32_t rest) &&;

 private:
  /// Adds a rule: `body` runs for this call, and must return an action. Other calls skip it.
  void on(std::int32_t call, std::initializer_list<sock_filter> body);

  std::vector<sock_filter> program_;
};

/// Installs the filter permanently, for this thread and all that it starts. Returns 0 or an errno.
[[nodiscard]] int install_filter(std::vector<sock_filter> program);

}  // namespace mpiacq::base
