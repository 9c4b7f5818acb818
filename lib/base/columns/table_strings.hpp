// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "columns/column.hpp"
#include "columns/string_pool.hpp"
#include "mpiacq/base/memory.hpp"
#include "mpiacq/job/process_table.hpp"

namespace mpiacq {

/// The strings of a table's columns. The columns first hold numbers of addresses (`address_ids`). `read` reads the
/// string at each address once, and `renumber` replaces the numbers by those of distinct strings.
class table_strings {
 public:
  static constexpr std::uint32_t none = string_pool::none;

  struct failure {
    field_fault fault = field_fault::unreadable;
    target_address stopped_at;
  };

  /// Calls `take_addresses`, if set, when each address has its string: the addresses are not used afterwards, so their
  /// memory can be reused. Errors: only those of `read_ranges`.
  [[nodiscard]] result<void> read(memory_reader& memory, std::span<const target_address> addresses,
                                  const string_limits& limits,
                                  const std::function<column<target_address>()>& take_addresses = {});
  /// As `read`, for strings that are already here. The number of each is its index.
  void take(std::span<const std::string_view> texts);
  /// Whether an address has no string.
  [[nodiscard]] bool has_failures() const { return !failures_.empty(); }
  /// Why the address with this number has no string; null if it has one. To be called before `renumber`.
  [[nodiscard]] const failure* failure_of(std::uint32_t id);
  [[nodiscard]] bool saw_empty() const { return saw_empty_; }
  /// Whether the address with this number has an empty string. To be called before `renumber`.
  [[nodiscard]] bool is_empty(std::uint32_t id) const;
  /// Numbers of addresses without a string become `none`. Values that are no numbers of addresses (`none`, or a mark of
  /// the caller's) stay.
  void renumber(std::initializer_list<column<std::uint32_t>*> columns);

  // The following functions can be called after `renumber`.
  [[nodiscard]] std::size_t size() const { return strings_.size(); }
  [[nodiscard]] std::string_view operator[](std::uint32_t number) const {
    return {strings_[number].text, strings_[number].length};
  }

 private:
  void keep(const visited_string& s);
  void keep_text(std::uint32_t id, std::string_view text);

  string_pool pool_{0};
  column<string_pool::entry> strings_;
  text_blocks texts_;
  bool saw_empty_ = false;
  std::vector<failure> failures_;  // indexed by the note of a pool entry without a string
};

}  // namespace mpiacq
