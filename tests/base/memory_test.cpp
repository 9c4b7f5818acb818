// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/base/memory.hpp"

#include "catch.hpp"
#include "fake_memory.hpp"

using namespace mpiacq;
using mpiacq::test::fake_memory;

TEST_CASE("a string that ends on the last mapped byte is read") {
  fake_memory memory;
  std::string page(read_page_size, 'x');
  page.replace(page.size() - 4, 4, std::string("abc\0", 4));
  memory.map(target_address{0x10000}, page);
  const auto text = read_c_string(memory, target_address{0x10000 + read_page_size - 4}, 100);
  REQUIRE(text.has_value());
  CHECK(*text == "abc");
}

TEST_CASE("a string that crosses a page is read whole") {
  fake_memory memory;
  memory.map(target_address{0x10000}, std::string(2 * read_page_size, 'y'));
  memory.map(target_address{0x10000 + 2 * read_page_size}, std::string("end\0", 4));
  const auto text = read_c_string(memory, target_address{0x10000 + 2 * read_page_size - 3}, 100);
  REQUIRE(text.has_value());
  CHECK(*text == "yyyend");
}

TEST_CASE("a string that runs off mapped memory is an error with the address") {
  fake_memory memory;
  memory.map(target_address{0x10000}, std::string(read_page_size, 'z'));
  const auto text = read_c_string(memory, target_address{0x10ff0}, 100);
  REQUIRE_FALSE(text.has_value());
  CHECK(text.error().code == error_code::unreadable_memory);
  CHECK(text.error().address == target_address{0x11000});
}

TEST_CASE("the limit of a string is its length without the terminator") {
  fake_memory memory;
  memory.map(target_address{0x10000}, std::string("12345\0", 6));
  CHECK(read_c_string(memory, target_address{0x10000}, 5).value() == "12345");
  const auto text = read_c_string(memory, target_address{0x10000}, 4);
  REQUIRE_FALSE(text.has_value());
  CHECK(text.error().code == error_code::limit);
}

TEST_CASE("the error of an exact read has the address where the memory ends") {
  fake_memory memory;
  memory.map(target_address{0x1000}, "abcd");
  std::array<std::byte, 8> bytes{};
  const auto read = read_exact(memory, target_address{0x1000}, bytes);
  REQUIRE_FALSE(read.has_value());
  CHECK(read.error().address == target_address{0x1004});
}
