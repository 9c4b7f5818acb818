// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "elf/elf_image.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <elf.h>
#include <fmt/format.h>

#include "errors/try.hpp"

namespace mpiacq::elf {

namespace {

/// No file that a linker wrote has tables anywhere near as large.
constexpr std::uint64_t max_sections = 1U << 17;
constexpr std::uint64_t max_section_names = 16U << 20;
constexpr std::size_t max_section_name = 256;  // of the sections that are searched for
constexpr std::uint64_t max_segments = 4096;
constexpr std::uint64_t max_segments_of_core = 1U << 20;  // one segment for each mapping of the process
constexpr std::size_t max_segment_record = 256;
constexpr std::uint64_t max_note_bytes = 1U << 20;  // of one file, for all notes that may contain a build id
constexpr std::uint64_t max_build_id = 64;          // linkers write 8, 16 or 20 bytes
constexpr std::size_t max_link_bytes = 4096;

tl::unexpected<error> malformed(const input_file& file, const std::string& sentence) {
  return fail(error{error_code::bad_format, fmt::format("{} {}", file.name(), sentence)}.on(file.name()));
}

/// Why a file without an ELF header cannot be used, as the rest of a sentence.
std::string what_it_is_instead(std::span<const std::byte> head) {
  if (head.empty()) return "is empty";
  const std::string_view text{reinterpret_cast<const char*>(head.data()), head.size()};
  if (text.starts_with("#!")) {
    std::string_view line =
        text.substr(2, text.find('\n') == std::string_view::npos ? text.size() : text.find('\n') - 2);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    return fmt::format("is a script for {}, not a program: name the program itself", line);
  }
  if (has_magic(head)) {
    return head.size() < largest_header_size ? "is truncated: it ends within its ELF header"
                                             : "has an ELF header of an unknown class or byte order";
  }
  return "is not an ELF file";
}

/// Whether the string that begins at an offset of the table is `name`.
bool is_string_at(std::span<const std::byte> table, std::uint64_t offset, std::string_view name) {
  if (offset >= table.size() || table.size() - offset <= name.size()) return false;
  const auto there = table.subspan(static_cast<std::size_t>(offset), name.size() + 1);
  return std::memcmp(there.data(), name.data(), name.size()) == 0 && there[name.size()] == std::byte{0};
}

std::string_view string_at(std::span<const std::byte> table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  const auto* begin = reinterpret_cast<const char*>(table.data()) + offset;
  const std::size_t room = table.size() - static_cast<std::size_t>(offset);
  const auto* end = static_cast<const char*>(std::memchr(begin, 0, room));
  return end == nullptr ? std::string_view{} : std::string_view{begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

std::vector<segment> decode_segments(std::span<const std::byte> table, std::size_t stride, const target_abi& abi) {
  std::vector<segment> segments;
  if (stride < segment_record_size(abi)) return segments;
  segments.reserve(table.size() / stride);
  for (; table.size() >= stride; table = table.subspan(stride)) segments.push_back(decode_segment(table, abi));
  return segments;
}

std::vector<std::byte> build_id_in_notes(std::span<const std::byte> notes, const target_abi& abi) {
  constexpr std::size_t note_header = 12;
  constexpr std::string_view owner{"GNU\0", 4};
  const auto padded = [](std::uint64_t size) { return (size + 3) & ~std::uint64_t{3}; };
  while (notes.size() >= note_header) {
    const std::uint64_t name_size = decode_unsigned(notes.subspan(0, 4), abi.order);
    const std::uint64_t data_size = decode_unsigned(notes.subspan(4, 4), abi.order);
    const std::uint64_t type = decode_unsigned(notes.subspan(8, 4), abi.order);
    const std::uint64_t data_begin = note_header + padded(name_size);
    if (data_begin + data_size > notes.size()) return {};
    const std::string_view name{reinterpret_cast<const char*>(notes.data()) + note_header,
                                static_cast<std::size_t>(name_size)};
    if (type == NT_GNU_BUILD_ID && name == owner) {
      const auto id = notes.subspan(static_cast<std::size_t>(data_begin), static_cast<std::size_t>(data_size));
      if (id.size() > max_build_id) return {};
      return {id.begin(), id.end()};
    }
    notes = notes.subspan(std::min(notes.size(), static_cast<std::size_t>(data_begin + padded(data_size))));
  }
  return {};
}

result<image> image::open(input_file file) {
  std::array<std::byte, 256> head{};
  auto got = TRY(file.read_some(0, head));
  const auto bytes = std::span{head}.first(got);
  const auto header = decode_header(bytes);
  if (!header) return malformed(file, what_it_is_instead(bytes));
  image opened{std::move(file), *header};
  TRY(opened.read_segments());
  return opened;
}

result<void> image::read_segments() {
  if (header_.segment_count == 0) return {};
  if (header_.segment_size < segment_record_size(abi()) || header_.segment_size > max_segment_record) {
    return malformed(file_, fmt::format("has program headers of {} bytes", header_.segment_size));
  }
  std::uint64_t count = header_.segment_count;
  if (count == PN_XNUM) {  // the true number did not fit, and is in the first section header
    auto table = TRY(sections());
    if (table.empty())
      return malformed(file_,
                       "has too many program headers for its ELF header and no section header with their number");
    count = table.front().info;
  }
  const std::uint64_t most = header_.type == ET_CORE ? max_segments_of_core : max_segments;
  if (count > most) return malformed(file_, fmt::format("claims to have {} program headers", count));
  auto table = TRY(file_.read(header_.segments_offset, count * header_.segment_size));
  segments_ = decode_segments(table, header_.segment_size, abi());
  return {};
}

const segment* image::find_segment(std::uint32_t type) const {
  const auto found = std::find_if(segments_.begin(), segments_.end(), [&](const segment& s) { return s.type == type; });
  return found == segments_.end() ? nullptr : &*found;
}

result<std::span<const section>> image::sections() {
  if (!sections_read_) {
    TRY(read_sections());
    sections_read_ = true;
  }
  return std::span<const section>{sections_};
}

result<void> image::read_sections() {
  if (header_.sections_offset == 0) return {};
  const std::size_t record = section_record_size(abi());
  if (header_.section_size != record) {
    return malformed(file_, fmt::format("has section headers of {} bytes", header_.section_size));
  }
  std::uint64_t count = header_.section_count;
  std::uint64_t names = header_.section_names;
  if (count == 0 || names == SHN_XINDEX) {  // the true numbers did not fit, and are in the first section header
    auto first = TRY(file_.read(header_.sections_offset, record));
    const section zero = decode_section(first, abi());
    if (count == 0) count = zero.size;
    if (names == SHN_XINDEX) names = zero.link;
  }
  if (count > max_sections) return malformed(file_, fmt::format("claims to have {} sections", count));
  auto table = TRY(file_.read(header_.sections_offset, count * record));
  std::vector<section> read;
  read.reserve(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    read.push_back(decode_section(std::span{table}.subspan(i * record), abi()));
  }
  if (names < read.size() && read[static_cast<std::size_t>(names)].type != SHT_NOBITS) {
    const section& strings = read[static_cast<std::size_t>(names)];
    if (strings.size > max_section_names) {
      return malformed(file_, fmt::format("claims to have {} bytes of section names", strings.size));
    }
    auto text = TRY(contents(strings));
    section_names_ = std::move(text);
  }
  sections_ = std::move(read);
  return {};
}

result<std::optional<section>> image::find_section(std::string_view name) {
  auto all = TRY(sections());
  for (const section& s : all) {
    if (is_string_at(section_names_, s.name, name)) return s;
  }
  return std::nullopt;
}

result<std::optional<section>> image::find_section(std::uint32_t type) {
  auto all = TRY(sections());
  for (const section& s : all) {
    if (s.type == type) return s;
  }
  return std::nullopt;
}

std::string_view image::name_of(const section& s) const {
  if (s.name >= section_names_.size()) return {};
  const auto table = std::span{section_names_}.subspan(s.name);
  return string_at(table.first(std::min(table.size(), max_section_name)), 0);
}

result<std::vector<std::byte>> image::contents(const section& of) const {
  if (of.type == SHT_NOBITS) return std::vector<std::byte>{};
  return file_.read(of.offset, of.size);
}

std::vector<std::byte> image::build_id() {
  std::uint64_t left = max_note_bytes;
  const auto search = [&](std::uint64_t offset, std::uint64_t size) {
    if (size > left) return std::vector<std::byte>{};
    left -= size;
    const auto notes = file_.read(offset, size);
    return notes ? build_id_in_notes(*notes, abi()) : std::vector<std::byte>{};
  };
  for (const segment& s : segments_) {
    if (s.type != PT_NOTE) continue;
    if (auto id = search(s.offset, s.file_size); !id.empty()) return id;
  }
  // A separate debug file has no contents of segments, only the note section.
  const auto all = sections();
  if (!all) return {};
  for (const section& s : *all) {
    if (s.type != SHT_NOTE) continue;
    if (auto id = search(s.offset, s.size); !id.empty()) return id;
  }
  return {};
}

std::optional<debug_link> image::separate_debug_file() {
  const auto found = find_section(".gnu_debuglink");
  if (!found || !*found || (*found)->size > max_link_bytes) return std::nullopt;
  const auto bytes = contents(**found);
  if (!bytes) return std::nullopt;
  // The name, its terminator, padding to four bytes, then the CRC.
  const std::string_view name = string_at(*bytes, 0);
  const std::size_t crc_at = (name.size() + 1 + 3) & ~std::size_t{3};
  if (name.empty() || name.find('/') != std::string_view::npos || bytes->size() < crc_at + 4) return std::nullopt;
  const std::uint64_t crc = decode_unsigned(std::span{*bytes}.subspan(crc_at, 4), abi().order);
  return debug_link{std::string(name), static_cast<std::uint32_t>(crc)};
}

}  // namespace mpiacq::elf
