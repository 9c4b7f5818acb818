// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/base/abi.hpp"

#include <array>

#include "catch.hpp"

using namespace mpiacq;

TEST_CASE("integers are decoded in the target's order and width") {
  const std::array bytes{std::byte{0xfe}, std::byte{0xff}, std::byte{0xff}, std::byte{0x80}};
  CHECK(decode_unsigned(bytes, byte_order::little) == 0x80fffffeU);
  CHECK(decode_unsigned(bytes, byte_order::big) == 0xfeffff80U);
  CHECK(decode_signed(std::span{bytes}.first(2), byte_order::little) == -2);
  CHECK(decode_signed(std::span{bytes}.first(1), byte_order::big) == -2);
  CHECK(decode_unsigned({}, byte_order::little) == 0);
}

TEST_CASE("an encoded integer decodes to itself") {
  for (const auto order : {byte_order::little, byte_order::big}) {
    for (const std::size_t size : {1U, 2U, 4U, 8U}) {
      std::array<std::byte, 8> bytes{};
      encode_integer(0x42, order, std::span{bytes}.first(size));
      CHECK(decode_unsigned(std::span{bytes}.first(size), order) == 0x42);
    }
  }
}

TEST_CASE("the C types of a target follow its ELF header") {
  const target_abi s390x = abi_of_elf(2, 2, 22);
  CHECK(s390x.pointer_size == 8);
  CHECK(s390x.order == byte_order::big);
  const target_abi x32 = abi_of_elf(1, 1, 62);
  CHECK(x32.pointer_size == 4);
  CHECK(x32.long_size == 4);
  CHECK(x32.long_long_size == 8);
}
