// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "arch/unwind_arch.hpp"
#include "tables/table_bytes.hpp"

/// The records of `.eh_frame` (Linux Standard Base, "Exception Frames"; DWARF 5, 6.4), checked before use. Positions
/// are relative to the beginning of their segment.
namespace mpiacq::unwinding {

/// Larger than any record that a compiler makes for a function.
inline constexpr std::size_t largest_record = 65536;

/// The encoding of a pointer (DW_EH_PE_*): the lower half is the format, the upper half the base.
using pointer_encoding = std::uint8_t;
/// Whether the encoding has a fixed size and is absolute or relative to its own position. Addresses of functions have
/// such encodings.
[[nodiscard]] bool is_plain(pointer_encoding encoding);
/// Whether the pointer is relative to its own position, so that its bytes do not depend on the load address.
[[nodiscard]] bool moves_along(pointer_encoding encoding);
/// Bytes of such a pointer if an address has `word_size` bytes. 0: its size is not fixed.
[[nodiscard]] std::size_t encoded_size(pointer_encoding encoding, std::size_t word_size);

/// The code that one record covers, and its properties.
struct frame_record {
  std::uint64_t position = 0;  ///< of the FDE
  target_address begin;        ///< of the code that it covers
  target_address end;          ///< behind it
  bool signal_frame = false;   ///< the code that a signal handler returns to ('S')
};

/// A CIE or an FDE before decoding: its kind, and its bytes behind its length.
struct raw_record {
  std::uint64_t position = 0;
  std::uint64_t next = 0;              ///< the position of the next record
  std::vector<std::byte> bytes;        ///< from the CIE pointer on
  std::optional<std::uint64_t> cie{};  ///< of an FDE: the position of its CIE
};

/// The record that begins at `position`. Empty: the end mark, bytes that are no record, or a record in the 64-bit
/// format of DWARF, which no compiler writes into loaded tables.
[[nodiscard]] std::optional<raw_record> record_at(table_bytes& tables, table_source& source, std::uint64_t position);

/// The contents of a CIE that apply to its FDEs.
struct common_information {
  const architecture* machine = nullptr;  ///< the kind of code that the records describe; never null
  std::uint64_t code_alignment = 0;
  std::int64_t data_alignment = 0;
  std::uint8_t return_address = 0;  ///< the number of its register
  pointer_encoding pointers = 0;
  bool sized_augmentation = false;
  bool signal_frame = false;
  std::span<const std::byte> program;  ///< into the record
};

/// Empty: the record is no CIE, or has an unknown part.
[[nodiscard]] std::optional<common_information> decode_common(const architecture& machine, const raw_record& record);

/// The code that an FDE covers, without its program. Empty: the addresses cannot be decoded.
[[nodiscard]] std::optional<frame_record> decode_range(const raw_record& record, const common_information& common,
                                                       const table_source& source);

/// An FDE and its CIE. Their bounds and both their programs have been checked.
struct checked_frame {
  frame_record covers;
  raw_record fde;
  raw_record cie;
  common_information common;           ///< refers to `cie`
  std::span<const std::byte> program;  ///< refers to `fde`
};
/// The records of the FDE that begins at `position`.
[[nodiscard]] std::optional<checked_frame> checked_frame_at(const architecture& machine, table_bytes& tables,
                                                            table_source& source, std::uint64_t position);

}  // namespace mpiacq::unwinding
