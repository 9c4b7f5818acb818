// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include <linux/filter.h>
#include <linux/seccomp.h>

namespace mpiacq::mqd_host {

/// A program of seccomp(2) that looks at one system call after the other. Arguments are looked at by their lower 32
/// bits: all that is asked of here are flags and numbers which the kernel takes for ints.
class filter_program {
 public:
  static constexpr std::uint32_t trap = SECCOMP_RET_TRAP;
  static constexpr std::uint32_t allow_rest = SECCOMP_RET_ALLOW;

  /// Calls of another kind of program (32-bit ones) end the process at once.
  explicit filter_program(std::uint32_t audit_arch);

  void allow(std::int32_t call);
  void allow_without_bits(std::int32_t call, unsigned argument, std::uint32_t bits);
  void allow_if_equal(std::int32_t call, unsigned argument, std::initializer_list<std::uint32_t> values);
  void refuse(std::int32_t call, int errno_value);
  void trap_always(std::int32_t call);
  void trap_with_bits(std::int32_t call, unsigned argument, std::uint32_t bits);
  /// With what becomes of a call that has not been decided.
  [[nodiscard]] std::vector<sock_filter> finish(std::uint32_t rest) &&;

 private:
  /// For this call the following `body` runs, which must decide; for others it is passed over.
  void on(std::int32_t call, std::initializer_list<sock_filter> body);

  std::vector<sock_filter> program_;
};

/// 0 or an errno. For this thread and all that it starts, for good.
[[nodiscard]] int install_filter(std::vector<sock_filter> program);

}  // namespace mpiacq::mqd_host
