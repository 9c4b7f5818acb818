// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "helper/filter_program.hpp"

#include <bit>
#include <cerrno>
#include <cstddef>
#include <utility>

#include <sys/syscall.h>
#include <unistd.h>

namespace mpiacq::base {

namespace {

static_assert(std::endian::native == std::endian::little, "the lower half of an argument comes first");

constexpr std::uint32_t argument_at(unsigned argument) {
  return static_cast<std::uint32_t>(offsetof(seccomp_data, args)) + 8 * argument;
}

constexpr sock_filter load(std::uint32_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset);
}
constexpr sock_filter decide(std::uint32_t action) {
  return BPF_STMT(BPF_RET | BPF_K, action);
}
/// A jump's offset counts from the next instruction.
constexpr sock_filter if_equal(std::uint32_t value, std::uint8_t then, std::uint8_t otherwise) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, then, otherwise);
}
constexpr sock_filter if_any_bit(std::uint32_t bits, std::uint8_t then, std::uint8_t otherwise) {
  return BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, then, otherwise);
}

}  // namespace

filter_program::filter_program(std::uint32_t audit_arch) {
  program_.push_back(load(offsetof(seccomp_data, arch)));
  program_.push_back(if_equal(audit_arch, 1, 0));
  program_.push_back(decide(SECCOMP_RET_KILL_PROCESS));
  program_.push_back(load(offsetof(seccomp_data, nr)));
}

void filter_program::on(std::int32_t call, std::initializer_list<sock_filter> body) {
  program_.push_back(if_equal(static_cast<std::uint32_t>(call), 0, static_cast<std::uint8_t>(body.size())));
  program_.insert(program_.end(), body);
}

void filter_program::allow(std::int32_t call) {
  on(call, {decide(SECCOMP_RET_ALLOW)});
}

void filter_program::allow_without_bits(std::int32_t call, unsigned argument, std::uint32_t bits) {
  on(call, {load(argument_at(argument)), if_any_bit(bits, 0, 1), decide(SECCOMP_RET_TRAP), decide(SECCOMP_RET_ALLOW)});
}

void filter_program::allow_if_equal(std::int32_t call, unsigned argument, std::initializer_list<std::uint32_t> values) {
  // Two instructions for each value, between the load of the argument and the final return.
  program_.push_back(if_equal(static_cast<std::uint32_t>(call), 0, static_cast<std::uint8_t>(2 * values.size() + 2)));
  program_.push_back(load(argument_at(argument)));
  for (const std::uint32_t value : values) {
    program_.push_back(if_equal(value, 0, 1));
    program_.push_back(decide(SECCOMP_RET_ALLOW));
  }
  program_.push_back(decide(SECCOMP_RET_TRAP));
}

void filter_program::refuse(std::int32_t call, int errno_value) {
  on(call, {decide(SECCOMP_RET_ERRNO | (static_cast<std::uint32_t>(errno_value) & SECCOMP_RET_DATA))});
}

void filter_program::trap_always(std::int32_t call) {
  on(call, {decide(SECCOMP_RET_TRAP)});
}

void filter_program::trap_with_bits(std::int32_t call, unsigned argument, std::uint32_t bits) {
  on(call, {load(argument_at(argument)), if_any_bit(bits, 0, 1), decide(SECCOMP_RET_TRAP), decide(SECCOMP_RET_ALLOW)});
}

std::vector<sock_filter> filter_program::finish(std::uint32_t rest) && {
  program_.push_back(decide(rest));
  return std::move(program_);
}

int install_filter(std::vector<sock_filter> program) {
  const sock_fprog whole{static_cast<unsigned short>(program.size()), program.data()};
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &whole) == 0 ? 0 : errno;
}

}  // namespace mpiacq::base
