// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elf/elf_image.hpp"

namespace mpiacq::elf {

/// The functions in the symbol tables of one module, by address.
class function_symbols {
 public:
  /// Reads the table of a type: SHT_SYMTAB or SHT_DYNSYM. The result is empty if the file has none. Errors: bad_format,
  /// limit, system.
  [[nodiscard]] static result<function_symbols> read(image& file, std::uint32_t type);
  /// Adds the functions of another table. A function that is in both counts once.
  void add(function_symbols&& other);

  [[nodiscard]] bool empty() const { return functions_.empty(); }

  /// The name, as in the table, of the function that contains the instruction at a link-time address; empty if none is
  /// known. Valid as long as this object.
  [[nodiscard]] std::optional<std::string_view> find(std::uint64_t address) const;
  /// The name of the function that begins at the address.
  [[nodiscard]] std::optional<std::string_view> beginning_at(std::uint64_t address) const;

 private:
  struct function {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;  ///< `begin` if the table has no size
    std::uint32_t name = 0;
    std::uint32_t section = 0;
    std::uint16_t rank = 0;  ///< among the names of one address: the lowest is preferred
  };

  void take(const symbol_record& record);
  void sort();
  [[nodiscard]] std::string_view name_of(const function& f) const;
  [[nodiscard]] const function* best_at(std::size_t& last, std::uint64_t address) const;

  std::vector<function> functions_;           ///< by address, the better name first
  std::vector<std::uint64_t> furthest_ends_;  ///< the largest end of each function and all before it
  std::vector<std::byte> names_;
  std::vector<section> sections_;
};

/// The name of the function that a stub of the procedure linkage table at a link-time address jumps to: by the slot
/// that its jump reads, and the relocation that fills that slot. Empty if there is no stub, and for machines other than
/// x86-64. The result does not refer to the file.
[[nodiscard]] std::optional<std::string> function_of_stub(image& file, std::uint64_t address);

}  // namespace mpiacq::elf
