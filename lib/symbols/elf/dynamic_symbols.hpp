// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "elf/dynamic_section.hpp"
#include "elf/elf_records.hpp"
#include "mpiacq/base/memory.hpp"
#include "mpiacq/process/symbols.hpp"

namespace mpiacq::elf {

/// A symbol that a module defines.
struct definition {
  std::uint64_t value = 0;
  std::uint64_t size = 0;
  symbol_kind kind = symbol_kind::other;
  bool absolute = false;
  bool local = false;
};

/// The definition in a symbol table's record; empty if the record defines nothing with an address (undefined,
/// thread-local, a section or a file name).
[[nodiscard]] std::optional<definition> definition_in(const symbol_record& record);

/// A module's dynamic symbols, looked up by `.gnu.hash` or `.hash` in its loaded image. A look-up reads a few bytes for
/// each name, and one word for a name that the module lacks (the hash table's Bloom filter). All names of a call pass
/// each stage together, so the number of reads does not grow with their number.
class dynamic_symbols {
 public:
  /// Reads the table's header. The table is empty if the section has no symbols or no hash table. Errors: bad_format,
  /// unreadable_memory, and those of the reader.
  [[nodiscard]] static result<dynamic_symbols> read(memory_reader& memory, const target_abi& abi,
                                                    const dynamic_section& section);

  /// The definitions in the order of `names`. Errors as `read`.
  [[nodiscard]] result<std::vector<std::optional<definition>>> find(memory_reader& memory,
                                                                    std::span<const std::string_view> names) const;

 private:
  enum class style : std::uint8_t { none, gnu, system_v };
  struct lookup;

  result<void> read_gnu_header(memory_reader& memory);
  result<void> read_system_v_header(memory_reader& memory);
  result<void> find_by_gnu_hash(memory_reader& memory, std::vector<lookup>& lookups) const;
  result<void> find_by_system_v_hash(memory_reader& memory, std::vector<lookup>& lookups) const;
  result<void> keep_possible(memory_reader& memory, std::vector<lookup*>& active) const;
  result<void> read_first_links(memory_reader& memory, std::vector<lookup*>& active) const;
  result<void> walk_chains(memory_reader& memory, std::vector<lookup*>& active) const;
  result<void> compare(memory_reader& memory, std::span<lookup*> candidates) const;
  [[nodiscard]] target_address symbol_address(std::uint64_t index) const;

  target_abi abi_;
  style style_ = style::none;
  target_address symbols_;
  target_address strings_;
  std::uint64_t strings_size_ = 0;
  std::size_t hash_word_ = 4;  ///< bytes of a word of `.hash`
  target_address buckets_;
  std::uint64_t bucket_count_ = 0;
  target_address chains_;
  std::uint64_t chain_count_ = 0;  ///< System V only
  // GNU only:
  target_address bloom_;
  std::uint64_t bloom_words_ = 0;
  unsigned bloom_shift_ = 0;
  std::uint64_t first_hashed_ = 0;
};

/// The two hash functions.
[[nodiscard]] std::uint32_t gnu_hash(std::string_view name);
[[nodiscard]] std::uint32_t system_v_hash(std::string_view name);

}  // namespace mpiacq::elf
