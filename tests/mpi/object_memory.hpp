// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "catch.hpp"
#include "fake_target.hpp"

namespace mpiacq::test {

/// The memory of a process, into which a test writes the members of objects.
struct object_memory {
  fake_memory memory;

  void put(std::uint64_t where, std::uint64_t value, std::size_t size = 8) {
    std::vector<std::byte> bytes(size);
    encode_integer(value, byte_order::little, bytes);
    REQUIRE(memory.write(target_address{where}, bytes));
  }
};

}  // namespace mpiacq::test
