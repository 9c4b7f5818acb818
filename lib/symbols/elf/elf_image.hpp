// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elf/elf_records.hpp"
#include "elf/input_file.hpp"
#include "mpiacq/base/address.hpp"

namespace mpiacq::elf {

/// The contents of `.gnu_debuglink`: the debug file's name, and the CRC-32 of its contents.
struct debug_link {
  std::string name;
  std::uint32_t crc = 0;
};

/// An ELF file. Header and segments are read when it is opened, sections when they are first needed.
class image {
 public:
  /// Errors: bad_format; the sentence says what the file is instead.
  [[nodiscard]] static result<image> open(input_file file);

  [[nodiscard]] const input_file& file() const { return file_; }
  [[nodiscard]] const file_header& header() const { return header_; }
  [[nodiscard]] const target_abi& abi() const { return header_.abi; }
  [[nodiscard]] std::span<const segment> segments() const { return segments_; }
  /// The first segment of a type.
  [[nodiscard]] const segment* find_segment(std::uint32_t type) const;

  /// Errors: bad_format (a section table outside the file).
  [[nodiscard]] result<std::span<const section>> sections();
  /// Empty if there is no section of that name or type.
  [[nodiscard]] result<std::optional<section>> find_section(std::string_view name);
  [[nodiscard]] result<std::optional<section>> find_section(std::uint32_t type);
  /// The name of a section; empty if it has none, or if the name has no end.
  [[nodiscard]] std::string_view name_of(const section& s) const;
  [[nodiscard]] result<std::vector<std::byte>> contents(const section& of) const;

  /// Both are empty if the file has none, or if it cannot be read.
  [[nodiscard]] std::vector<std::byte> build_id();
  [[nodiscard]] std::optional<debug_link> separate_debug_file();

 private:
  image(input_file file, const file_header& header) : file_(std::move(file)), header_(header) {}
  [[nodiscard]] result<void> read_segments();
  [[nodiscard]] result<void> read_sections();

  input_file file_;
  file_header header_;
  std::vector<segment> segments_;
  bool sections_read_ = false;
  std::vector<section> sections_;
  std::vector<std::byte> section_names_;
};

/// The program headers at the start of `table`, `count` records each `stride` bytes apart.
[[nodiscard]] std::vector<segment> decode_segments(std::span<const std::byte> table, std::size_t stride,
                                                   const target_abi& abi);

/// The GNU build id in a series of notes; empty if there is none.
[[nodiscard]] std::vector<std::byte> build_id_in_notes(std::span<const std::byte> notes, const target_abi& abi);

}  // namespace mpiacq::elf
