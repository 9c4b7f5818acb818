// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "columns/address_ids.hpp"
#include "table/procdesc.hpp"
#include "table/table_columns.hpp"

namespace mpiacq {

/// Turns descriptors as they stand in the target into columns, piece by piece. The string columns then hold numbers of
/// addresses, not yet those of strings. Each column numbers its own, so that one which goes through few addresses again
/// and again need not look for them among all those of the other.
class table_decoder {
 public:
  table_decoder(const descriptor& layout, process_table_columns& into) : d_(layout), into_(into) {}

  /// Room in the columns for so many.
  void reserve(std::size_t entries);
  /// Room for the addresses of so many entries, if they go on as those that were decoded.
  void reserve_addresses(std::size_t entries);
  /// `count` descriptors, the next of the table.
  void decode(const std::byte* piece, std::size_t count);

  /// After the last piece: the numbers of both columns become one sequence.
  void finish();

  /// By number, after `finish`.
  [[nodiscard]] std::span<const target_address> addresses() const { return addresses_.span(); }
  /// Gives them away: there are none left.
  [[nodiscard]] column<target_address> take_addresses() { return std::move(addresses_); }
  /// Whether a null pointer or a pid that cannot be one was among them.
  [[nodiscard]] bool saw_bad_fields() const {
    const bool first_is_null = into_.hosts.size() > 0 &&
                               (into_.hosts[0] == address_ids::null_id || into_.executables[0] == address_ids::null_id);
    return implausible_pids_ != 0 || host_ids_.saw_null() || executable_ids_.saw_null() || first_is_null;
  }

 private:
  template <byte_order Order, std::size_t PointerSize>
  void decode_pointers(const std::byte* piece, std::size_t count);
  template <byte_order Order, std::size_t PointerSize, class Pid, class ReadPid>
  void decode_entries(const std::byte* piece, std::size_t count, column<Pid>& pids, ReadPid read_pid);

  descriptor d_;
  process_table_columns& into_;
  address_ids host_ids_;
  address_ids executable_ids_;
  column<target_address> addresses_;
  address_ids::cursor host_;
  address_ids::cursor executable_;
  std::uint64_t last_host_ = 0;
  std::uint64_t last_executable_ = 0;
  std::size_t implausible_pids_ = 0;
};

}  // namespace mpiacq
