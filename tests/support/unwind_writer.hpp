// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Handmade unwind tables, valid and invalid: one module whose tables begin at `tables_at` and whose code begins at
// `code_at`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "mpiacq/base/abi.hpp"
#include "mpiacq/process/unwind_modules.hpp"

namespace mpiacq::test {

class unwind_writer {
 public:
  static constexpr std::uint64_t tables_at = 0x10000;
  static constexpr std::uint64_t code_at = 0x20000;
  static constexpr std::uint64_t module_end = 0x30000;
  using program = std::vector<std::uint8_t>;

  /// The rules of a compiler's CIE on x86-64: the CFA is rsp + 8, with the return address below it.
  static program usual_start() { return {0x0c, 7, 8, 0x90, 1}; }

  /// Adds the CIE of the functions that follow.
  unwind_writer& cie(const program& start = usual_start(), std::string_view augmentation = "zR") {
    cie_ = records_.size();
    program body{0, 0, 0, 0, 1};
    body.insert(body.end(), augmentation.begin(), augmentation.end());
    body.insert(body.end(), {0, 1, 0x78, 16, 1, 0x1b});  // ends the string; alignments, rip, DW_EH_PE_pcrel | sdata4
    body.insert(body.end(), start.begin(), start.end());
    record(body);
    return *this;
  }

  /// Adds a function of `size` bytes, `offset` bytes behind `code_at`.
  unwind_writer& function(std::uint32_t offset, std::uint32_t size, const program& rules) {
    functions_.push_back({offset, records_.size()});
    const std::size_t at = records_.size();
    program body(4 + 4 + 4 + 1);
    body.insert(body.end(), rules.begin(), rules.end());
    record(body);
    put(at + 4, static_cast<std::uint32_t>(at + 4 - cie_));
    put(at + 12, size);
    return *this;
  }

  /// Adds any bytes in place of a record, or behind the last one.
  unwind_writer& raw(const program& bytes) {
    records_.insert(records_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  /// Changes four bytes of the records.
  void put(std::size_t at, std::uint32_t value) {
    for (std::size_t i = 0; i < 4; ++i) records_[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
  }
  [[nodiscard]] std::size_t record_of(std::size_t function) const { return functions_[function].second; }

  enum class header : std::uint8_t { with_table, without_table, none };

  /// The segment with the tables, and the module as a process would describe it.
  [[nodiscard]] std::pair<std::vector<std::byte>, unwind_module> finish(header kind = header::with_table) const {
    program all;
    const auto word = [&all](std::uint64_t value) {
      for (std::size_t i = 0; i < 4; ++i) all.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
    };
    const bool has_table = kind == header::with_table;
    const std::size_t header_size = kind == header::none ? 0 : has_table ? 12 + 8 * functions_.size() : 8;
    if (kind != header::none) {
      all = has_table ? program{1, 0x1b, 0x03, 0x3b} : program{1, 0x1b, 0xff, 0xff};
      word(header_size - 4);
    }
    if (has_table) {
      word(functions_.size());
      for (const auto& [offset, record] : functions_) {
        word(code_at + offset - tables_at);
        word(header_size + record);
      }
    }
    const std::size_t records_at = all.size();
    all.insert(all.end(), records_.begin(), records_.end());
    for (const auto& [offset, record] : functions_) {
      const std::size_t place = records_at + record + 8;
      const std::uint64_t distance = code_at + offset - (tables_at + place);
      for (std::size_t i = 0; i < 4; ++i) all[place + i] = static_cast<std::uint8_t>(distance >> (8 * i));
    }
    all.resize(all.size() + 4);  // the end mark
    return {bytes(all), module_of(kind, header_size, all.size())};
  }

 private:
  void record(program body) {
    while (body.size() % 8 != 4) body.push_back(0);
    const auto size = static_cast<std::uint32_t>(body.size());
    const std::size_t at = records_.size();
    records_.resize(at + 4);
    put(at, size);
    records_.insert(records_.end(), body.begin(), body.end());
  }

  static std::vector<std::byte> bytes(const program& of) {
    const auto* first = reinterpret_cast<const std::byte*>(of.data());
    return {first, first + of.size()};
  }

  static unwind_module module_of(header kind, std::size_t header_size, std::size_t size) {
    unwind_module m;
    m.file = std::make_shared<const unwind_file>(unwind_file{"made.so", {}, {}});
    m.bias = m.begin = m.tables_begin = target_address{tables_at};
    m.end = target_address{module_end};
    m.tables_end = target_address{tables_at + size};
    if (kind == header::none) {
      m.eh_frame = m.tables_begin;
      m.eh_frame_size = size;
    } else {
      m.eh_frame_hdr = m.tables_begin;
      m.eh_frame_hdr_size = header_size;
    }
    return m;
  }

  program records_;
  std::size_t cie_ = 0;
  std::vector<std::pair<std::uint32_t, std::size_t>> functions_;
};

}  // namespace mpiacq::test
