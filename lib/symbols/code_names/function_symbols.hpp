// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elf/elf_image.hpp"

namespace mpiacq::elf {

/// The functions of symbol tables of one module, by address.
class function_symbols {
 public:
  /// Reads the table of a type: SHT_SYMTAB or SHT_DYNSYM. Gives an empty one where the file has none.
  /// Errors: bad_format, limit, system.
  [[nodiscard]] static result<function_symbols> read(image& file, std::uint32_t type);
  /// Adds the functions of another table. What both have counts once.
  void add(function_symbols&& other);

  [[nodiscard]] bool empty() const { return functions_.empty(); }

  /// The name, as it stands in the table, of the function that the instruction at a link-time address belongs to; empty
  /// where none is known to. It lives as long as this.
  [[nodiscard]] std::optional<std::string_view> find(std::uint64_t address) const;
  /// The same of the function that begins there.
  [[nodiscard]] std::optional<std::string_view> beginning_at(std::uint64_t address) const;

 private:
  struct function {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;  ///< `begin` where the table gives no size
    std::uint32_t name = 0;
    std::uint32_t section = 0;
    std::uint16_t rank = 0;  ///< among those of one address: the lowest is the one to show
  };

  void take(const symbol_record& record);
  void sort();
  [[nodiscard]] std::string_view name_of(const function& f) const;
  [[nodiscard]] const function* best_at(std::size_t& last, std::uint64_t address) const;

  std::vector<function> functions_;           ///< by address, the better name first
  std::vector<std::uint64_t> furthest_ends_;  ///< of each function and all before it
  std::vector<std::byte> names_;
  std::vector<section> sections_;
};

/// The name of the function that a stub of the procedure linkage table at a link-time address jumps to: by the slot
/// that its jump reads, and the relocation that fills that slot. Empty where there is no stub, and for machines other
/// than x86-64. Lives in nothing of the file.
[[nodiscard]] std::optional<std::string> function_of_stub(image& file, std::uint64_t address);

}  // namespace mpiacq::elf
