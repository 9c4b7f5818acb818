// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "tables/module_table.hpp"

#include <algorithm>
#include <array>

#include "rules/call_frame_reader.hpp"
#include "rules/row_evaluation.hpp"

namespace mpiacq::unwinding {

namespace {

// `.eh_frame_hdr` (Linux Standard Base, "DWARF Exception Header Encoding") as linkers write it.
constexpr std::uint64_t header_fixed_size = 4;
constexpr pointer_encoding count_as_written = 0x03;  // DW_EH_PE_udata4
constexpr pointer_encoding table_as_written = 0x3b;  // DW_EH_PE_datarel | DW_EH_PE_sdata4: relative to the header
constexpr std::uint64_t entry_size = 8;              // one address of a function, one of its record

/// More functions than the largest programs have; the limit bounds the cost of false records.
constexpr std::size_t most_scanned = std::size_t{1} << 22;

std::uint64_t size_of_tables(const unwind_module& m) {
  return m.tables_end > m.tables_begin ? m.tables_end - m.tables_begin : 0;
}

std::uint64_t sign_extended(std::uint64_t low) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(low)));
}

}  // namespace

module_table::module_table(const architecture& machine, const unwind_module& facts)
    : machine_(machine), bytes_(size_of_tables(facts)) {
  if (!facts.eh_frame_hdr.is_null()) {
    header_ = facts.eh_frame_hdr - facts.tables_begin;
    header_size_ = facts.eh_frame_hdr_size;
  } else if (!facts.eh_frame.is_null()) {
    records_ = facts.eh_frame - facts.tables_begin;
    records_size_ = facts.eh_frame_size;
  }
}

std::optional<module_table::index> module_table::read_header(table_source& source) {
  std::array<std::byte, header_fixed_size + 8 + 4> head{};
  if (header_size_ < header_fixed_size + 4) return index{};
  const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(head.size(), header_size_));
  if (!bytes_.read(source, header_, std::span{head}.first(size))) return std::nullopt;
  record_reader reader{std::span{head}.first(size)};
  const std::uint8_t version = reader.byte();
  const pointer_encoding records = reader.byte();
  const pointer_encoding count = reader.byte();
  const pointer_encoding table = reader.byte();
  if (version != 1 || !is_plain(records)) return index{};
  const std::uint64_t here = header_ + reader.position();
  const std::size_t pointer_size = encoded_size(records, machine_.word_size);
  const std::uint64_t value = pointer_size == 4 ? sign_extended(reader.fixed(4)) : reader.fixed(pointer_size);
  if (count == count_as_written && table == table_as_written) {
    const std::uint64_t entries = reader.fixed(4);
    const std::uint64_t first = header_ + reader.position();
    const std::uint64_t room = (header_size_ - std::min<std::uint64_t>(reader.position(), header_size_)) / entry_size;
    if (reader.good() && entries > 0) return index{first, std::min(entries, room)};
  }
  // A header without a table points to the records, relative to itself or by an address.
  const std::uint64_t position = (records & 0x70) != 0 ? here + value : value - source.begin.value();
  return scan(source, position, bytes_.size());
}

module_table::index module_table::scan(table_source& source, std::uint64_t position, std::uint64_t end) {
  index found;
  std::optional<raw_record> cie;
  std::optional<common_information> common;
  while (position < std::min(end, bytes_.size()) && found.scanned.size() < most_scanned) {
    const auto record = record_at(bytes_, source, position);
    if (!record) break;
    position = record->next;
    if (!record->cie) continue;
    if (!cie || cie->position != *record->cie) {
      cie = record_at(bytes_, source, *record->cie);
      common = cie ? decode_common(machine_, *cie) : std::nullopt;
    }
    if (!common) continue;
    const auto frame = decode_range(*record, *common, source);
    if (frame) found.scanned.push_back({frame->begin - source.begin, frame->position});
  }
  std::sort(found.scanned.begin(), found.scanned.end(), [&](const index::entry& a, const index::entry& b) {
    return source.begin + a.code < source.begin + b.code;
  });
  return found;
}

/// The first caller reads the header. If the process of this caller cannot provide it, a later caller tries again.
const module_table::index* module_table::known_index(table_source& source) {
  if (const index* known = published_.load(std::memory_order_acquire)) return known;
  const std::lock_guard lock{indexing_};
  if (const index* known = published_.load(std::memory_order_relaxed)) return known;
  std::optional<index> made =
      header_size_ != 0 ? read_header(source) : std::optional{scan(source, records_, records_ + records_size_)};
  if (!made || source.failure || source.unreadable) return nullptr;
  index_ = std::make_unique<const index>(std::move(*made));
  published_.store(index_.get(), std::memory_order_release);
  return index_.get();
}

/// The position of the record of the last entry that does not begin behind `pc`.
std::optional<std::uint64_t> module_table::search_table(table_source& source, const index& in, target_address pc) {
  const target_address base = source.begin + header_;
  const auto wanted = static_cast<std::int64_t>(pc - base);
  std::optional<std::uint64_t> position;
  std::uint64_t low = 0;
  std::uint64_t high = in.count;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    std::array<std::byte, entry_size> entry{};
    if (!bytes_.read(source, in.table + middle * entry_size, entry)) return std::nullopt;
    record_reader reader{entry};
    if (wanted < reader.signed_fixed(4)) {
      high = middle;
    } else {
      position = header_ + static_cast<std::uint64_t>(reader.signed_fixed(4));
      low = middle + 1;
    }
  }
  return position;
}

std::optional<std::uint64_t> module_table::position_for(table_source& source, target_address pc) {
  const index* in = known_index(source);
  if (in == nullptr) return std::nullopt;
  if (in->count != 0) return search_table(source, *in, pc);
  const auto behind =
      std::upper_bound(in->scanned.begin(), in->scanned.end(), pc,
                       [&](target_address a, const index::entry& e) { return a < source.begin + e.code; });
  return behind == in->scanned.begin() ? std::nullopt : std::optional(std::prev(behind)->position);
}

const known_frame* module_table::find(table_source& source, target_address pc, known_frame& room) {
  const std::uint64_t code = pc - source.begin;
  const known_frame* known = known_.find(code);
  if (known != nullptr && known->holds_at(source.begin)) return known;
  const auto position = position_for(source, pc);
  if (!position) return nullptr;
  const auto frame = checked_frame_at(machine_, bytes_, source, *position);
  if (!frame || pc < frame->covers.begin || pc >= frame->covers.end) return nullptr;
  room = {code, source.begin, moves_along(frame->common.pointers), frame->covers,
          evaluate_row(*frame, pc - frame->covers.begin)};
  const known_frame* kept = known == nullptr ? known_.add(room) : nullptr;
  return kept != nullptr && kept->holds_at(source.begin) ? kept : &room;
}

std::optional<module_table::whole_row> module_table::row_at(table_source& source, const known_frame& found,
                                                            target_address pc) {
  auto frame = checked_frame_at(machine_, bytes_, source, found.covers.position);
  if (!frame || pc < frame->covers.begin || pc >= frame->covers.end) return std::nullopt;
  auto row = evaluate_whole_row(*frame, pc - frame->covers.begin);
  if (!row) return std::nullopt;
  return whole_row{std::move(*frame), *row};
}

}  // namespace mpiacq::unwinding
