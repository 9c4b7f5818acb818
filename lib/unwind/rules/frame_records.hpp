// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "arch/unwind_arch.hpp"
#include "tables/table_bytes.hpp"

/// The records of `.eh_frame` (Linux Standard Base, "Exception Frames"; DWARF 5, 6.4), checked before anybody uses
/// them. Positions are counted from the beginning of the segment that they are in.
namespace mpiacq::unwinding {

/// Larger than any that a compiler makes for a function.
inline constexpr std::size_t largest_record = 65536;

/// How a pointer is written (DW_EH_PE_*): a format in the lower half, what it counts from in the upper.
using pointer_encoding = std::uint8_t;
/// Whether it is one of a fixed size that counts from 0 or from its own place: what functions' addresses are written
/// in.
[[nodiscard]] bool is_plain(pointer_encoding encoding);
/// Whether it counts from its own place, so that it says the same wherever its module is loaded.
[[nodiscard]] bool moves_along(pointer_encoding encoding);
/// Bytes of such a pointer, where an address has `word_size` bytes. 0: its size is not fixed.
[[nodiscard]] std::size_t encoded_size(pointer_encoding encoding, std::size_t word_size);

/// What one record covers and says.
struct frame_record {
  std::uint64_t position = 0;  ///< of the FDE
  target_address begin;        ///< of the code that it covers
  target_address end;          ///< behind it
  bool signal_frame = false;   ///< the code that a signal handler returns to ('S')
};

/// A CIE or an FDE as it stands: which of them it is, and its bytes behind its length.
struct raw_record {
  std::uint64_t position = 0;
  std::uint64_t next = 0;              ///< where the one behind it begins
  std::vector<std::byte> bytes;        ///< from the CIE pointer on
  std::optional<std::uint64_t> cie{};  ///< of an FDE: where its CIE begins
};

/// The record that begins at `position`. Empty: the end mark, or bytes that are no record, or one in the 64-bit format
/// of DWARF, which nobody makes for tables that are loaded.
[[nodiscard]] std::optional<raw_record> record_at(table_bytes& tables, table_source& source, std::uint64_t position);

/// What a CIE says of its FDEs.
struct common_information {
  const architecture* machine = nullptr;  ///< whose code the records describe; never null
  std::uint64_t code_alignment = 0;
  std::int64_t data_alignment = 0;
  std::uint8_t return_address = 0;  ///< the number of its register
  pointer_encoding pointers = 0;
  bool sized_augmentation = false;
  bool signal_frame = false;
  std::span<const std::byte> program;  ///< into the record
};

/// Empty: no CIE, or one with something in it that is not understood.
[[nodiscard]] std::optional<common_information> decode_common(const architecture& machine, const raw_record& record);

/// The code that an FDE covers, without its program. Empty: it cannot be told.
[[nodiscard]] std::optional<frame_record> decode_range(const raw_record& record, const common_information& common,
                                                       const table_source& source);

/// An FDE and its CIE with all that they lead to checked: their bounds, and both their programs.
struct checked_frame {
  frame_record covers;
  raw_record fde;
  raw_record cie;
  common_information common;           ///< refers to `cie`
  std::span<const std::byte> program;  ///< refers to `fde`
};
/// Those of the FDE that begins at `position`.
[[nodiscard]] std::optional<checked_frame> checked_frame_at(const architecture& machine, table_bytes& tables,
                                                            table_source& source, std::uint64_t position);

}  // namespace mpiacq::unwinding
