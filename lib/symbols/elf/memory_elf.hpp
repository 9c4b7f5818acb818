// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "elf/elf_records.hpp"

namespace mpiacq::elf {

/// An ELF file in memory that is made of sections, for libelf to read. The process that owns the file on the disk
/// cannot change or truncate this copy.
class memory_elf {
 public:
  struct part {
    std::string name;
    section header;  ///< its type, flags, link, info and entry size; the size is that of `contents`
  };

  /// Lays the file out and writes its headers. Section numbers begin with 0, so the first part must be the empty one
  /// (SHT_NULL). `type` is the ELF type. The names are in a section of their own behind the last part.
  memory_elf(const target_abi& abi, std::uint16_t type, std::vector<part> parts);

  /// The space for a section's contents; the caller fills it in.
  [[nodiscard]] std::span<std::byte> contents(std::size_t number);
  [[nodiscard]] const std::vector<part>& parts() const { return parts_; }
  /// The whole file. Its address does not change when this object is moved.
  [[nodiscard]] std::span<std::byte> bytes() { return {bytes_.get(), size_}; }

 private:
  void write_file_header(std::uint16_t type, std::uint64_t table);
  void write_section_headers(std::uint64_t table, std::span<const std::uint32_t> names);

  target_abi abi_;
  std::vector<part> parts_;
  std::size_t size_ = 0;
  std::unique_ptr<std::byte[]> bytes_;
};

}  // namespace mpiacq::elf
