// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/base/abi.hpp"

namespace mpiacq {

namespace {
constexpr std::uint8_t elf_class_64 = 2;
constexpr std::uint8_t elf_data_big = 2;
}  // namespace

target_abi abi_of_elf(std::uint8_t elf_class, std::uint8_t elf_data, std::uint16_t machine) {
  target_abi abi;
  abi.order = elf_data == elf_data_big ? byte_order::big : byte_order::little;
  abi.elf_machine = machine;
  // On Linux int is 4 and long long 8 bytes everywhere; pointers, long and size_t follow the class, also for x32.
  const std::uint8_t word = elf_class == elf_class_64 ? 8 : 4;
  abi.pointer_size = word;
  abi.long_size = word;
  abi.size_t_size = word;
  return abi;
}

std::uint64_t decode_unsigned(std::span<const std::byte> bytes, byte_order order) {
  if (bytes.empty() || bytes.size() > 8) return 0;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::size_t from_most_significant = order == byte_order::big ? i : bytes.size() - 1 - i;
    value = value << 8 | std::to_integer<std::uint64_t>(bytes[from_most_significant]);
  }
  return value;
}

std::int64_t decode_signed(std::span<const std::byte> bytes, byte_order order) {
  const std::uint64_t value = decode_unsigned(bytes, order);
  if (bytes.empty() || bytes.size() >= 8) return static_cast<std::int64_t>(value);
  const unsigned unused_bits = 64 - 8 * static_cast<unsigned>(bytes.size());
  return static_cast<std::int64_t>(value << unused_bits) >> unused_bits;
}

void encode_integer(std::uint64_t value, byte_order order, std::span<std::byte> into) {
  for (std::size_t i = 0; i < into.size() && i < 8; ++i) {
    const std::size_t position = order == byte_order::big ? into.size() - 1 - i : i;
    into[position] = static_cast<std::byte>(value >> (8 * i) & 0xff);
  }
}

}  // namespace mpiacq
