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

/// Decodes the target's descriptors into columns, piece by piece. The string columns then hold numbers of addresses,
/// not yet of strings. Each column numbers its own addresses, so that a column with few addresses searches only those.
class table_decoder {
 public:
  table_decoder(const descriptor& layout, process_table_columns& into) : d_(layout), into_(into) {}

  /// Reserves room in the columns for so many entries.
  void reserve(std::size_t entries);
  /// Reserves room for the addresses of so many entries, by the share of distinct addresses so far.
  void reserve_addresses(std::size_t entries);
  /// Decodes the next `count` descriptors of the table.
  void decode(const std::byte* piece, std::size_t count);

  /// Merges the numbers of both columns into one sequence. Call it after the last piece.
  void finish();

  /// The addresses by number. Valid after `finish`.
  [[nodiscard]] std::span<const target_address> addresses() const { return addresses_.span(); }
  /// Moves the columns out of the decoder.
  [[nodiscard]] column<target_address> take_addresses() { return std::move(addresses_); }
  /// Whether an entry had a null pointer or an impossible pid.
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
