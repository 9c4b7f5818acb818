// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Decodes just enough of three instruction sets to find the target of a call. The bytes need not be code: bytes that
// match no call are no call.
#include "watch/call_sites.hpp"

#include <array>
#include <span>

namespace mpiacq::check {

namespace {

using kind = call_site::kind;

constexpr std::uint16_t em_386 = 3;
constexpr std::uint16_t em_x86_64 = 62;
constexpr std::uint16_t em_aarch64 = 183;

constexpr unsigned byte_at(std::span<const std::byte> bytes, std::size_t i) {
  return std::to_integer<unsigned>(bytes[i]);
}

std::uint64_t signed_32(std::span<const std::byte> bytes) {
  return static_cast<std::uint64_t>(decode_signed(bytes.first(4), byte_order::little));
}

std::optional<target_address> pointer_at(memory_reader& memory, const target_abi& abi, std::uint64_t where) {
  auto value = read_pointer(memory, abi, target_address{where});
  return value ? std::optional(*value) : std::nullopt;
}

/// x86-64: [endbr64] [bnd] jmp *disp32(%rip). The slot holds the function itself once it has been called.
target_address past_x86_stub(memory_reader& memory, const target_abi& abi, target_address stub) {
  std::array<std::byte, 12> code{};
  if (abi.elf_machine != em_x86_64 || !read_exact(memory, stub, code)) return stub;
  const std::span bytes{code};
  std::size_t at = 0;
  if (byte_at(bytes, 0) == 0xf3 && byte_at(bytes, 1) == 0x0f && byte_at(bytes, 2) == 0x1e &&
      byte_at(bytes, 3) == 0xfa) {
    at = 4;
  }
  if (byte_at(bytes, at) == 0xf2) ++at;
  if (byte_at(bytes, at) != 0xff || byte_at(bytes, at + 1) != 0x25 || at + 6 > code.size()) return stub;
  const std::uint64_t slot = stub.value() + at + 6 + signed_32(bytes.subspan(at + 2));
  return pointer_at(memory, abi, slot).value_or(stub);
}

call_site x86_call(memory_reader& memory, const target_abi& abi, target_address return_address) {
  std::array<std::byte, 6> code{};
  if (!read_exact(memory, target_address{return_address.value() - code.size()}, code)) return {};
  const std::span bytes{code};
  const std::uint64_t mask = abi.pointer_size == 4 ? UINT32_MAX : UINT64_MAX;
  if (byte_at(bytes, 1) == 0xe8) {  // call rel32
    const std::uint64_t target = (return_address.value() + signed_32(bytes.subspan(2))) & mask;
    return {kind::known, past_x86_stub(memory, abi, target_address{target})};
  }
  if (abi.elf_machine == em_x86_64 && byte_at(bytes, 0) == 0xff && byte_at(bytes, 1) == 0x15) {  // call *disp32(%rip)
    const auto target = pointer_at(memory, abi, return_address.value() + signed_32(bytes.subspan(2)));
    return target ? call_site{kind::known, *target} : call_site{kind::unknown, {}};
  }
  // ff /2 with a register, or with memory at it and no, one or four bytes of displacement.
  const auto is_indirect = [&](std::size_t at, unsigned mode) {
    return byte_at(bytes, at) == 0xff && (byte_at(bytes, at + 1) & 0xf8U) == mode;
  };
  if (is_indirect(4, 0xd0) || is_indirect(4, 0x10) || is_indirect(3, 0x50) || is_indirect(0, 0x90)) {
    return {kind::unknown, {}};
  }
  return {};
}

std::uint32_t word_at(std::span<const std::byte> bytes, std::size_t i) {
  return static_cast<std::uint32_t>(decode_unsigned(bytes.subspan(4 * i, 4), byte_order::little));
}

constexpr std::uint64_t sign_extended(std::uint64_t value, unsigned bits) {
  const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
  return (value ^ sign) - sign;
}

/// [bti c] adrp x16, page; ldr x17, [x16, offset]
target_address past_aarch64_stub(memory_reader& memory, const target_abi& abi, target_address stub) {
  std::array<std::byte, 12> code{};
  if (!read_exact(memory, stub, code)) return stub;
  const std::span bytes{code};
  const std::size_t first = word_at(bytes, 0) == 0xd503245f ? 1 : 0;
  const std::uint32_t adrp = word_at(bytes, first);
  const std::uint32_t load = word_at(bytes, first + 1);
  if ((adrp & 0x9f00001fU) != 0x90000010U || (load & 0xffc003ffU) != 0xf9400211U) return stub;
  const std::uint64_t pages = sign_extended(((adrp >> 29) & 3U) | ((adrp >> 3) & 0x1ffffcU), 21);
  const std::uint64_t here = stub.value() + 4 * first;
  const std::uint64_t slot = (here & ~std::uint64_t{0xfff}) + (pages << 12) + (((load >> 10) & 0xfffU) << 3);
  return pointer_at(memory, abi, slot).value_or(stub);
}

call_site aarch64_call(memory_reader& memory, const target_abi& abi, target_address return_address) {
  std::array<std::byte, 4> code{};
  const target_address where{return_address.value() - code.size()};
  if (return_address.value() % 4 != 0 || !read_exact(memory, where, code)) return {};
  const std::uint32_t word = word_at(code, 0);
  if (word >> 26 == 0x25) {  // bl
    const target_address target{where.value() + (sign_extended(word & 0x3ffffffU, 26) << 2)};
    return {kind::known, past_aarch64_stub(memory, abi, target)};
  }
  const bool is_indirect = (word & 0xfffffc1fU) == 0xd63f0000U;  // blr
  return {is_indirect ? kind::unknown : kind::none, {}};
}

}  // namespace

std::optional<call_site> call_before(memory_reader& memory, const target_abi& abi, target_address return_address) {
  constexpr std::uint64_t longest_call = 16;
  if (return_address.value() < longest_call) return call_site{};
  switch (abi.elf_machine) {
    case em_386:
    case em_x86_64:
      return x86_call(memory, abi, return_address);
    case em_aarch64:
      return aarch64_call(memory, abi, return_address);
    default:
      return std::nullopt;
  }
}

}  // namespace mpiacq::check
