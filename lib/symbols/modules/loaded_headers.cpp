// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "modules/loaded_headers.hpp"

#include <algorithm>

#include <elf.h>

namespace mpiacq::elf {

namespace {

std::vector<segment> segments_in(std::span<const std::byte> page, const file_header& header) {
  const std::uint64_t size = std::uint64_t{header.segment_count} * header.segment_size;
  if (header.segments_offset > page.size() || size > page.size() - header.segments_offset) return {};
  const auto table = page.subspan(static_cast<std::size_t>(header.segments_offset), static_cast<std::size_t>(size));
  return decode_segments(table, header.segment_size, header.abi);
}

}  // namespace

loaded_headers headers_in(std::span<const std::byte> page, const target_abi& abi) {
  loaded_headers found;
  const auto header = decode_header(page);
  if (!header || header->abi != abi) return found;
  found.header = header;
  found.segments = segments_in(page, *header);
  for (const segment& s : found.segments) {
    if (s.type != PT_NOTE || s.offset > page.size() || s.file_size > page.size() - s.offset) continue;
    const auto notes = page.subspan(static_cast<std::size_t>(s.offset), static_cast<std::size_t>(s.file_size));
    found.build_id = build_id_in_notes(notes, abi);
    if (!found.build_id.empty()) break;
  }
  return found;
}

sameness compare(const loaded_headers& loaded, image& file) {
  if (loaded.header && loaded.header->abi != file.abi()) return sameness::different;
  const auto verdict = [](bool same) { return same ? sameness::same : sameness::different; };
  const auto id = file.build_id();
  if (!loaded.build_id.empty() && !id.empty()) return verdict(loaded.build_id == id);
  if (!loaded.header || loaded.segments.empty()) return sameness::unknown;
  return verdict(
      loaded.header->entry == file.header().entry &&
      std::equal(loaded.segments.begin(), loaded.segments.end(), file.segments().begin(), file.segments().end()));
}

}  // namespace mpiacq::elf
