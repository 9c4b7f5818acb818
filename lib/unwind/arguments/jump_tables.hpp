// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "arguments/code_outline.hpp"
#include "arguments/value_ranges.hpp"
#include "mpiacq/base/memory.hpp"
#include "mpiacq/process/unwind_modules.hpp"

namespace mpiacq::unwinding {

/// The memory of a module that its code does not change, as far as that is known: its code, and the segment with its
/// unwind tables, in which compilers' constants are, too. Addresses are offsets in the module.
class constant_memory {
 public:
  constant_memory(memory_reader& memory, const unwind_module& module) : memory_(memory), module_(module) {}

  [[nodiscard]] std::uint64_t module_begin() const { return module_.begin.value(); }
  [[nodiscard]] bool is_code(std::uint64_t offset) const {
    return is_in(offset, 1, module_.code_begin, module_.code_end);
  }
  [[nodiscard]] bool is_constant(std::uint64_t offset, std::size_t size) const {
    return is_in(offset, size, module_.tables_begin, module_.tables_end) ||
           is_in(offset, size, module_.code_begin, module_.code_end);
  }
  /// Fills all of `into`. False: some of these bytes are not constant, or cannot be read.
  [[nodiscard]] bool read(std::uint64_t offset, std::span<std::byte> into);
  /// Set by a read that failed for the whole target.
  [[nodiscard]] std::optional<error>& failure() { return failure_; }

 private:
  [[nodiscard]] bool is_in(std::uint64_t offset, std::size_t size, target_address begin, target_address end) const {
    const std::uint64_t length = begin < end ? end - begin : 0;
    return size <= length && offset + module_begin() - begin.value() <= length - size;
  }

  memory_reader& memory_;
  const unwind_module& module_;
  std::optional<error> failure_;
};

/// A table of addresses, one of which a jump leads to. A `switch` has such a table.
struct jump_table {
  std::uint64_t begin = 0;              ///< the offset of the entry with index 0, even if there is no such entry
  std::uint8_t entry_size = 0;          ///< bytes
  bool is_signed = false;               ///< its entries are
  std::optional<std::uint64_t> base{};  ///< target = this offset + entry * `scale`; empty: entries are addresses
  std::uint64_t scale = 1;
  std::optional<value_ranges::range> indices{};  ///< empty: not known

  /// Entries are relative to the table itself. Compilers then let the table begin with index 0.
  [[nodiscard]] bool is_own_base() const { return base == begin && scale == 1 && entry_size == 4; }
};

/// The table from which a value was read. Empty: the value was made in another way.
[[nodiscard]] std::optional<jump_table> jump_table_of(value_graph& values, const value_ranges& ranges, value_id target,
                                                      std::uint64_t module_begin);

/// Adds the places to which the jumps of `code` through tables lead to its joins. False: some jump may lead elsewhere.
///
/// A table is read only if the code in front of the jump proves that its index is in bounds, or if the table's entries
/// are relative to the table. Then the table ends, at the latest, with the first entry that does not lead to an
/// instruction, or where another table begins. Bytes that are read beyond its end only add joins. `is_entered`: other
/// code jumps into this code, behind its beginning.
[[nodiscard]] bool follow_jump_tables(code_outline& code, constant_memory& memory, bool is_entered);

}  // namespace mpiacq::unwinding
