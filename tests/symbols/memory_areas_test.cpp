// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The kernel's lists of mappings, real and hostile ones.
#include "core_dump/memory_areas.hpp"

#include <fstream>

#include "catch.hpp"

using namespace mpiacq;
using elf::area_parser;
using elf::memory_area;
using elf::memory_areas;

namespace {

memory_areas parsed(std::string_view text, std::size_t piece = SIZE_MAX) {
  area_parser parser;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, piece);
    REQUIRE(parser.take(part));
    text.remove_prefix(part.size());
  }
  return parser.finish();
}

constexpr std::string_view sample =
    "5000-7000 rw-p 00001000 fe:01 77                         /a/b c (deleted)\n"
    "Size:                  8 kB\n"
    "Anonymous:             4 kB\n"
    "AnonHugePages:         8 kB\n"
    "Swap:                  4 kB\n"
    "SwapPss:               4 kB\n"
    "VmFlags: rd wr mr mw me dd ac \n"
    "7000-8000 r-xs 00000000 00:05 0                          /SYSV00000000 (deleted)\n"
    "Anonymous:             0 kB\n"
    "VmFlags: rd ex ht \n"
    "9000-a000 r--p 00000000 00:00 0                          [vvar]\n"
    "VmFlags: rd pf io\n"
    "a000-b000 r-xp 00000000 00:00 0                          [vdso]\n"
    "b000-c000 ---p 00000000 fe:01 9                          /x\\012y\n";

}  // namespace

TEST_CASE("each field of a mapping is read, in whatever pieces the text comes") {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{64}, SIZE_MAX}) {
    const auto areas = parsed(sample, piece);
    REQUIRE(areas.all.size() == 5);
    CHECK(areas.has_details);
    CHECK(areas.dropped == 0);
    const memory_area& first = areas.all[0];
    CHECK(first.begin == 0x5000);
    CHECK(first.end == 0x7000);
    CHECK(first.offset == 0x1000);
    CHECK(first.written == 8192);
    CHECK(areas.names[first.name] == "/a/b c (deleted)");
    CHECK((first.is_readable && first.is_writable && !first.is_executable && !first.is_shared));
    CHECK((first.has_file && first.is_deleted && first.is_excluded && !first.is_device && !first.is_huge));
    const memory_area& segment = areas.all[1];
    CHECK((segment.is_shared && segment.has_file && segment.is_deleted && segment.is_huge && segment.is_executable));
    CHECK(segment.written == 0);
    CHECK((areas.all[2].is_kernels && areas.all[2].is_device && !areas.all[2].has_file));
    CHECK((areas.all[3].is_vdso && areas.all[3].name == memory_area::no_name));
    CHECK(areas.names[areas.all[4].name] == "/x\ny");
    CHECK_FALSE(areas.all[4].is_readable);
  }
}

TEST_CASE("lines that are no mappings, and mappings that overlap, are dropped and counted") {
  const auto areas = parsed(
      "5000-7000 rw-p 00000000 00:00 0 \n"
      "6000-8000 rw-p 00000000 00:00 0 \n"
      "Anonymous:  4 kB\n"  // of the dropped one
      "9000-8000 rw-p 00000000 00:00 0 \n"
      "9000-9001 rw-p 00000000 00:00 0 \n"
      "zzzz\n"
      "\n"
      "9000-a000 rw-p 00000000 00:00 \n"
      "fffffffffffff000-10000000000000000 rw-p 00000000 00:00 0 \n"
      "b000-c000 rw-p 00000000 00:00 0");
  REQUIRE(areas.all.size() == 2);
  CHECK(areas.all[0].written == 0);
  CHECK(areas.all[1].begin == 0xb000);
  CHECK(areas.dropped == 6);
}

TEST_CASE("a line without end takes little memory") {
  area_parser parser;
  const std::string much(1U << 20, 'x');
  for (int i = 0; i < 64; ++i) REQUIRE(parser.take(much));
  REQUIRE(parser.take("\n5000-7000 rw-p 00000000 00:00 0 \n"));
  CHECK(parser.finish().all.size() == 1);
}

TEST_CASE("names beyond the bound are counted, and their mappings stay") {
  area_parser parser;
  std::string line(4000, 'n');
  constexpr std::size_t count = 10'000;  // 40 MB
  for (std::size_t i = 0; i < count; ++i) {
    char begin[128];
    std::snprintf(begin, sizeof begin, "%zx-%zx r--p 00000000 01:01 %zu /%zu", (i + 1) * 4096, (i + 2) * 4096, i + 1,
                  i);
    REQUIRE(parser.take(begin + line + "\n"));
  }
  const auto areas = parser.finish();
  CHECK(areas.all.size() == count);
  CHECK(areas.unnamed > 0);
  CHECK(areas.names.size() + areas.unnamed == count);
  CHECK(areas.all.back().has_file);
  CHECK(areas.all.back().name == memory_area::no_name);
}
