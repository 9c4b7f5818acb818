// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "rules/frame_records.hpp"

#include <array>
#include <utility>

#include "rules/call_frame_reader.hpp"
#include "rules/frame_program.hpp"

namespace mpiacq::unwinding {

namespace {

constexpr std::size_t length_size = 4;
constexpr std::size_t pointer_to_cie_size = 4;

// DW_EH_PE_*
constexpr pointer_encoding format_mask = 0x0f;
constexpr pointer_encoding base_mask = 0x70;
constexpr pointer_encoding from_zero = 0x00;
constexpr pointer_encoding from_its_place = 0x10;
constexpr pointer_encoding indirect = 0x80;
constexpr pointer_encoding omitted = 0xff;
constexpr pointer_encoding is_signed = 0x08;

std::uint64_t read_pointer_bits(record_reader& reader, const common_information& common) {
  const pointer_encoding encoding = common.pointers;
  const std::size_t size = encoded_size(encoding, common.machine->word_size);
  return (encoding & is_signed) != 0 ? static_cast<std::uint64_t>(reader.signed_fixed(size)) : reader.fixed(size);
}

/// The position of the first byte behind the length.
std::uint64_t body(const raw_record& record) {
  return record.position + length_size;
}

/// Decodes one letter of the augmentation string, whose data is next. False: the letter is unknown.
bool take_augmentation(char letter, record_reader& reader, common_information& common) {
  switch (letter) {
    case 'R':
      common.pointers = reader.byte();
      return true;
    case 'P': {
      // The personality routine is not used here. Its pointer must be skipped.
      const pointer_encoding encoding = reader.byte();
      if (encoding == omitted) return true;
      const std::size_t size = encoded_size(encoding, common.machine->word_size);
      if (size == 0) return false;
      reader.skip(size);
      return true;
    }
    case 'L':
      (void)reader.byte();
      return true;
    case 'S':
      common.signal_frame = true;
      return true;
    case 'B':  // aarch64: return addresses are signed with the other key
      return true;
    default:
      return false;
  }
}

}  // namespace

std::size_t encoded_size(pointer_encoding encoding, std::size_t word_size) {
  switch (encoding & format_mask & ~is_signed) {
    case 0x00:  // a native address
      return word_size;
    case 0x04:
      return 8;
    case 0x02:
      return 2;
    case 0x03:
      return 4;
    default:
      return 0;
  }
}

bool is_plain(pointer_encoding encoding) {
  const auto base = static_cast<pointer_encoding>(encoding & base_mask);
  return encoding != omitted && (encoding & indirect) == 0 && encoded_size(encoding, 8) != 0 &&
         (base == from_zero || base == from_its_place);
}

bool moves_along(pointer_encoding encoding) {
  return (encoding & base_mask) == from_its_place;
}

std::optional<raw_record> record_at(table_bytes& tables, table_source& source, std::uint64_t position) {
  std::array<std::byte, length_size + pointer_to_cie_size> head{};
  if (!tables.read(source, position, head)) return std::nullopt;
  record_reader reader{head};
  const std::uint64_t length = reader.fixed(length_size);
  const std::uint64_t to_cie = reader.fixed(pointer_to_cie_size);
  if (length < pointer_to_cie_size || length > largest_record) return std::nullopt;
  raw_record record{position, position + length_size + length, std::vector<std::byte>(length)};
  if (!tables.read(source, body(record), record.bytes)) return std::nullopt;
  if (to_cie == 0) return record;
  if (to_cie > body(record)) return std::nullopt;
  record.cie = body(record) - to_cie;
  return record;
}

std::optional<common_information> decode_common(const architecture& machine, const raw_record& record) {
  if (record.cie) return std::nullopt;
  record_reader reader{record.bytes};
  reader.skip(pointer_to_cie_size);
  const std::uint8_t version = reader.byte();
  if (version != 1 && version != 3) return std::nullopt;
  const std::string_view augmentation = reader.c_string();
  common_information common;
  common.machine = &machine;
  common.code_alignment = reader.uleb();
  common.data_alignment = reader.sleb();
  // libunwind uses this number as an index without checking it.
  const std::uint64_t return_address = version == 1 ? reader.byte() : reader.uleb();
  if (return_address >= machine.register_count) return std::nullopt;
  common.return_address = static_cast<std::uint8_t>(return_address);
  if (augmentation.starts_with('z')) {
    common.sized_augmentation = true;
    const std::uint64_t size = reader.uleb();
    if (!reader.good() || size > reader.rest().size()) return std::nullopt;
    record_reader data{reader.rest().first(static_cast<std::size_t>(size))};
    for (const char letter : augmentation.substr(1)) {
      if (!take_augmentation(letter, data, common)) return std::nullopt;
    }
    // libunwind continues behind the data that it knows, not behind the stated size.
    if (!data.good() || !data.at_end()) return std::nullopt;
    reader.skip(size);
  } else if (!augmentation.empty()) {
    return std::nullopt;
  }
  if (!reader.good() || !is_plain(common.pointers)) return std::nullopt;
  common.program = reader.rest();
  return common;
}

std::optional<frame_record> decode_range(const raw_record& record, const common_information& common,
                                         const table_source& source) {
  if (!record.cie) return std::nullopt;
  record_reader reader{record.bytes};
  reader.skip(pointer_to_cie_size);
  const target_address here = source.begin + body(record) + reader.position();
  std::uint64_t begin = read_pointer_bits(reader, common);
  if ((common.pointers & base_mask) == from_its_place) begin += here.value();
  begin &= common.machine->mask();
  // The size has the format of the address, but is not relative.
  const std::uint64_t size = read_pointer_bits(reader, common) & common.machine->mask();
  const auto end = target_address{begin}.checked_add(size);
  if (!reader.good() || !end || size == 0) return std::nullopt;
  return frame_record{record.position, target_address{begin}, *end, common.signal_frame};
}

namespace {

/// The parts of an FDE's program; empty if the record is inconsistent.
std::optional<std::span<const std::byte>> own_program(const raw_record& record, const common_information& common) {
  record_reader reader{record.bytes};
  reader.skip(pointer_to_cie_size + 2 * encoded_size(common.pointers, common.machine->word_size));
  if (common.sized_augmentation) reader.skip(reader.uleb());
  if (!reader.good()) return std::nullopt;
  return reader.rest();
}

}  // namespace

std::optional<checked_frame> checked_frame_at(const architecture& machine, table_bytes& tables, table_source& source,
                                              std::uint64_t position) {
  auto record = record_at(tables, source, position);
  if (!record || !record->cie) return std::nullopt;
  auto cie = record_at(tables, source, *record->cie);
  if (!cie) return std::nullopt;
  const auto common = decode_common(machine, *cie);
  if (!common) return std::nullopt;
  const auto covers = decode_range(*record, *common, source);
  if (!covers) return std::nullopt;
  const auto program = own_program(*record, *common);
  if (!program) return std::nullopt;
  program_check check{machine, common->pointers};
  if (!check.accepts(common->program) || !check.accepts(*program) || !check.defines_cfa()) return std::nullopt;
  return checked_frame{*covers, std::move(*record), std::move(*cie), *common, *program};
}

}  // namespace mpiacq::unwinding
