// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "core/core_notes.hpp"
#include "core/core_places.hpp"
#include "elf/elf_image.hpp"
#include "mpiacq/base/memory.hpp"

namespace mpiacq::elf {

/// A core's memory: the dumped pieces, and other pieces if the mapped files still have them.
class core_memory final : public memory_reader {
 public:
  /// All of these must outlive this object.
  core_memory(const image& core, const core_notes& notes, const core_places& places, std::vector<error>& problems);

  [[nodiscard]] result<void> read_ranges(std::span<memory_range> ranges) override;

  /// The program's file, for a core without a list of mapped files.
  void set_program(std::shared_ptr<image> file, target_address bias);

 private:
  /// A PT_LOAD of the core.
  struct piece {
    std::uint64_t begin = 0;
    std::uint64_t dumped = 0;  ///< the number of bytes in the core; the bytes behind them are not dumped
    std::uint64_t size = 0;
    std::uint64_t offset = 0;  ///< in the core
    bool is_writable = false;
  };

  [[nodiscard]] const piece* piece_at(std::uint64_t address) const;
  [[nodiscard]] result<std::size_t> read_once(std::uint64_t address, std::span<std::byte> into);
  [[nodiscard]] result<std::size_t> read_mapped(std::uint64_t address, std::span<std::byte> into);
  [[nodiscard]] result<std::size_t> read_program(std::uint64_t address, std::span<std::byte> into) const;
  [[nodiscard]] image* file_of(const core_mapping& mapping);
  [[nodiscard]] std::shared_ptr<image> open_file_of(const core_mapping& mapping);
  void note_end_of_core();

  const image& core_;
  const core_notes& notes_;
  const core_places& places_;
  std::vector<error>& problems_;
  std::vector<piece> pieces_;  ///< by address; they do not overlap
  std::shared_ptr<image> program_;
  std::uint64_t program_bias_ = 0;
  /// by `core_mapping::loading`; null: the wrong file
  std::unordered_map<std::uint32_t, std::shared_ptr<image>> files_;
};

}  // namespace mpiacq::elf
