// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "elf/file_symbol_table.hpp"

#include <algorithm>
#include <memory>

#include <elf.h>
#include <fmt/format.h>

#include "elf/name_spellings.hpp"
#include "errors/try.hpp"

namespace mpiacq::elf {

namespace {

// The piece is large enough that the cost of a call does not matter, and small enough for the processor's cache.
constexpr std::size_t piece_size = std::size_t{192} << 10;
// For a symbol table, or for its names: ten million symbols, which take less than a second.
constexpr std::uint64_t largest_table = std::uint64_t{256} << 20;
// A name is in a string table once, or a few times if longer names end in it.
constexpr std::size_t most_spellings = 65536;

result<void> check_size(const image& file, const section& table) {
  if (table.type == SHT_NOBITS) return {};
  if (table.size <= largest_table) return file.file().check_is_stored(table.offset, table.size);
  return fail(error{error_code::limit, fmt::format("{} has a symbol table of {} bytes, more than the {} that are read",
                                                   file.file().name(), table.size, largest_table)}
                  .on(file.file().name()));
}

result<std::vector<spelling>> find_spellings(const image& file, const section& strings,
                                             std::span<const std::string_view> names) {
  TRY(check_size(file, strings));
  spelling_search search{names};
  if (strings.type == SHT_NOBITS) return search.take();
  const std::size_t room = search.overlap() + piece_size;
  const auto buffer = std::make_unique_for_overwrite<std::byte[]>(room);
  std::size_t carried = 0;
  for (std::uint64_t done = 0; done < strings.size;) {
    const auto now = static_cast<std::size_t>(std::min<std::uint64_t>(room - carried, strings.size - done));
    const std::span<std::byte> next{buffer.get() + carried, now};
    TRY(file.file().read_whole(strings.offset + done, next));
    const std::span<const std::byte> piece{buffer.get(), carried + now};
    search.look(done - carried, piece, carried);
    if (search.count() > most_spellings) {
      return fail(error{error_code::limit, fmt::format("{} has the same names more than {} times in its symbol table, "
                                                       "which is not used",
                                                       file.file().name(), most_spellings)}
                      .on(file.file().name()));
    }
    done += now;
    carried = std::min(search.overlap(), piece.size());
    std::copy(piece.end() - static_cast<std::ptrdiff_t>(carried), piece.end(), buffer.get());
  }
  return search.take();
}

/// Compares every symbol of the table with the names at its offset.
class table_pass {
 public:
  table_pass(const std::vector<spelling>& spellings, const target_abi& abi,
             std::vector<std::optional<definition>>& found)
      : spellings_(spellings), abi_(abi), found_(found) {
    for (const spelling& s : spellings) offsets_.add(static_cast<std::uint32_t>(s.offset));
  }

  void look(std::span<const std::byte> records) {
    const std::size_t size = symbol_record_size(abi_);
    for (std::size_t at = 0; at + size <= records.size(); at += size) {
      const auto record = records.subspan(at, size);
      if (offsets_.may_have(symbol_name_offset(record, abi_))) offer(decode_symbol(record, abi_));
    }
  }

 private:
  void offer(const symbol_record& record) {
    auto candidate = std::lower_bound(spellings_.begin(), spellings_.end(), record.name,
                                      [](const spelling& s, std::uint64_t offset) { return s.offset < offset; });
    // Two equal names have the same offsets.
    for (; candidate != spellings_.end() && candidate->offset == record.name; ++candidate) {
      const auto defined = definition_in(record);
      auto& kept = found_[candidate->name];
      if (defined && (!kept || (kept->local && !defined->local))) kept = defined;
    }
  }

  const std::vector<spelling>& spellings_;
  const target_abi& abi_;
  std::vector<std::optional<definition>>& found_;
  number_filter offsets_;
};

}  // namespace

result<std::vector<std::optional<definition>>> find_in_symbol_table(image& file,
                                                                    std::span<const std::string_view> names) {
  std::vector<std::optional<definition>> found(names.size());
  const auto table = TRY(file.find_section(SHT_SYMTAB));
  if (!table) return found;
  const auto sections = TRY(file.sections());
  const std::size_t record_size = symbol_record_size(file.abi());
  if (table->entry_size != record_size || table->link >= sections.size()) {
    return fail(error{error_code::bad_format,
                      fmt::format("{} has a symbol table (.symtab) with entries of {} bytes and names in section {}",
                                  file.file().name(), table->entry_size, table->link)}
                    .on(file.file().name()));
  }
  TRY(check_size(file, *table));
  const auto spellings = TRY(find_spellings(file, sections[table->link], names));
  if (spellings.empty()) return found;  // no name occurs, so the table need not be read

  table_pass pass{spellings, file.abi(), found};
  const std::uint64_t whole = table->size / record_size * record_size;
  const std::size_t per_read = piece_size / record_size * record_size;
  const auto buffer = std::make_unique_for_overwrite<std::byte[]>(per_read);
  for (std::uint64_t done = 0; done < whole; done += per_read) {
    const std::span<std::byte> records{buffer.get(),
                                       static_cast<std::size_t>(std::min<std::uint64_t>(per_read, whole - done))};
    TRY(file.file().read_whole(table->offset + done, records));
    pass.look(records);
  }
  return found;
}

}  // namespace mpiacq::elf
