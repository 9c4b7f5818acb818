// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The text of /proc/PID/smaps. The first byte of the input is the size of the pieces in which it comes.
#include "core_dump/memory_areas.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

using namespace mpiacq::elf;

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

memory_areas parsed(std::string_view text, std::size_t piece) {
  area_parser parser;
  while (!text.empty()) {
    const auto part = text.substr(0, piece);
    check(parser.take(part));
    text.remove_prefix(part.size());
  }
  return parser.finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const memory_areas whole = parsed(text, SIZE_MAX);
  const memory_areas pieces = parsed(text, std::size_t{data[0]} + 1);
  check(whole.all.size() == pieces.all.size() && whole.names == pieces.names && whole.dropped == pieces.dropped);
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < whole.all.size(); ++i) {
    const memory_area& area = whole.all[i];
    check(area.begin >= end && area.end > area.begin && area.written <= area.size());
    check(area.name == memory_area::no_name || area.name < whole.names.size());
    check(area.written == pieces.all[i].written && area.begin == pieces.all[i].begin);
    end = area.end;
  }
  return 0;
}
