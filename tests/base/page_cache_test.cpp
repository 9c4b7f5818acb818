// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <array>

#include "catch.hpp"
#include "fake_memory.hpp"
#include "mpiacq/base/memory.hpp"

using namespace mpiacq;
using mpiacq::test::fake_memory;

namespace {
constexpr std::uint64_t first_page = 0x10000;

std::string counting(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i % 251);
  return bytes;
}

std::string read_text(memory_reader& memory, std::uint64_t address, std::size_t size) {
  std::vector<std::byte> bytes(size);
  memory_range range{target_address{address}, bytes};
  REQUIRE(memory.read_ranges({&range, 1}).has_value());
  return {reinterpret_cast<const char*>(bytes.data()), range.got};
}
}  // namespace

TEST_CASE("a page is read once, even if it is requested often") {
  fake_memory memory;
  const std::string bytes = counting(3 * read_page_size);
  memory.map(target_address{first_page}, bytes);
  page_cache cache(memory);
  CHECK(read_text(cache, first_page + 10, 20) == bytes.substr(10, 20));
  CHECK(read_text(cache, first_page + 100, 4) == bytes.substr(100, 4));
  CHECK(memory.calls == 1);
  CHECK(read_text(cache, first_page + read_page_size - 2, 4) == bytes.substr(read_page_size - 2, 4));
  CHECK(memory.calls == 2);
  CHECK(memory.bytes_read == 2 * read_page_size);
}

TEST_CASE("the missing pages of one request are read in one call, each page once") {
  fake_memory memory;
  const std::string bytes = counting(8 * read_page_size);
  memory.map(target_address{first_page}, bytes);
  page_cache cache(memory);
  std::array<std::array<std::byte, 8>, 6> into{};
  std::vector<memory_range> ranges;
  for (std::size_t i = 0; i < into.size(); ++i) {
    ranges.push_back({target_address{first_page + i / 2 * read_page_size * 2 + i}, into[i]});
  }
  REQUIRE(cache.read_ranges(ranges).has_value());
  CHECK(memory.calls == 1);
  CHECK(memory.ranges_read == 3);
  for (std::size_t i = 0; i < into.size(); ++i) {
    CHECK(ranges[i].got == 8);
    CHECK(std::to_integer<int>(into[i][0]) == static_cast<unsigned char>(bytes[i / 2 * read_page_size * 2 + i]));
  }
}

TEST_CASE("a page that cannot be read is remembered, and reads stop before it") {
  fake_memory memory;
  memory.map(target_address{first_page}, counting(read_page_size));
  page_cache cache(memory);
  CHECK(read_text(cache, first_page + read_page_size - 3, 10).size() == 3);
  CHECK(read_text(cache, first_page + read_page_size, 1).empty());
  CHECK(memory.calls == 1);
}

TEST_CASE("bulk data bypasses the cache in the same call") {
  fake_memory memory;
  const std::string bytes = counting(64 * read_page_size);
  memory.map(target_address{first_page}, bytes);
  page_cache cache(memory);
  std::vector<std::byte> bulk(32 * read_page_size);
  std::array<std::byte, 4> small{};
  std::array<memory_range, 2> ranges{memory_range{target_address{first_page + 1}, bulk},
                                     memory_range{target_address{first_page + 40 * read_page_size}, small}};
  REQUIRE(cache.read_ranges(ranges).has_value());
  CHECK(memory.calls == 1);
  CHECK(ranges[0].got == bulk.size());
  CHECK(std::to_integer<int>(bulk[5]) == static_cast<unsigned char>(bytes[6]));
  CHECK(ranges[1].got == 4);
  CHECK(read_text(cache, first_page, 8) == bytes.substr(0, 8));
  CHECK(memory.calls == 2);  // the bulk data was not cached
}

TEST_CASE("after forget, the next read sees what the target wrote") {
  fake_memory memory;
  memory.map(target_address{first_page}, std::string("old."));
  page_cache cache(memory);
  CHECK(read_text(cache, first_page, 4) == "old.");
  memory.map(target_address{first_page}, std::string("new."));
  CHECK(read_text(cache, first_page, 4) == "old.");
  cache.forget();
  CHECK(read_text(cache, first_page, 4) == "new.");
}

TEST_CASE("a full cache drops its older half") {
  fake_memory memory;
  const std::string bytes = counting(16 * read_page_size);
  memory.map(target_address{first_page}, bytes);
  page_cache cache(memory, 4);
  for (std::size_t page = 0; page < 5; ++page) (void)read_text(cache, first_page + page * read_page_size, 1);
  CHECK(memory.calls == 5);
  (void)read_text(cache, first_page + 4 * read_page_size, 1);
  (void)read_text(cache, first_page + 3 * read_page_size, 1);
  CHECK(memory.calls == 5);  // the two newer pages were kept
  CHECK(read_text(cache, first_page, 4) == bytes.substr(0, 4));
  CHECK(memory.calls == 6);
}

TEST_CASE("a failing reader's error is passed on and not remembered") {
  fake_memory memory;
  memory.map(target_address{first_page}, std::string("text"));
  page_cache cache(memory);
  memory.process_gone = true;
  std::array<std::byte, 4> bytes{};
  memory_range range{target_address{first_page}, bytes, 3};
  const auto read = cache.read_ranges({&range, 1});
  REQUIRE_FALSE(read.has_value());
  CHECK(read.error().code == error_code::process_gone);
  CHECK(range.got == 0);
  memory.process_gone = false;
  CHECK(read_text(cache, first_page, 4) == "text");
}

TEST_CASE("reads at the end of the address space stop there") {
  fake_memory memory;
  const std::uint64_t last_page = UINT64_MAX - read_page_size + 1;
  memory.map(target_address{last_page}, counting(read_page_size));
  page_cache cache(memory);
  CHECK(read_text(cache, UINT64_MAX - 3, 100).size() == 4);
  CHECK(read_text(cache, first_page, 0).empty());
}
