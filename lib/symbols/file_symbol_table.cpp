// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "file_symbol_table.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>

#include <elf.h>
#include <fmt/format.h>

namespace mpiacq::elf {

namespace {

/// Where a wanted name stands in the string table. Linkers let names share their tails, so that one name can stand at
/// several places.
struct spelling {
  std::uint64_t offset = 0;
  std::size_t name = 0;  ///< its index
};

std::vector<spelling> find_spellings(std::span<const std::byte> strings, std::span<const std::string_view> names) {
  const std::string_view text{reinterpret_cast<const char*>(strings.data()), strings.size()};
  std::vector<spelling> spellings;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) continue;
    std::string terminated{names[i]};
    terminated += '\0';
    const std::boyer_moore_horspool_searcher searcher{terminated.begin(), terminated.end()};
    for (auto where = text.begin();; ++where) {
      where = std::search(where, text.end(), searcher);
      if (where == text.end()) break;
      spellings.push_back({static_cast<std::uint64_t>(where - text.begin()), i});
    }
  }
  std::sort(spellings.begin(), spellings.end(),
            [](const spelling& a, const spelling& b) { return a.offset < b.offset; });
  return spellings;
}

/// Offers every symbol of the table to those names that are spelt where its name is.
class table_pass {
 public:
  table_pass(const std::vector<spelling>& spellings, std::vector<std::optional<definition>>& found)
      : spellings_(spellings), found_(found) {}

  void offer(const symbol_record& record) {
    auto candidate = std::lower_bound(spellings_.begin(), spellings_.end(), record.name,
                                      [](const spelling& s, std::uint64_t offset) { return s.offset < offset; });
    // The same offset can spell a name that was asked for twice.
    for (; candidate != spellings_.end() && candidate->offset == record.name; ++candidate) {
      const auto defined = definition_in(record);
      auto& kept = found_[candidate->name];
      if (defined && (!kept || (kept->local && !defined->local))) kept = defined;
    }
  }

 private:
  const std::vector<spelling>& spellings_;
  std::vector<std::optional<definition>>& found_;
};

}  // namespace

result<std::vector<std::optional<definition>>> find_in_symbol_table(image& file,
                                                                    std::span<const std::string_view> names) {
  std::vector<std::optional<definition>> found(names.size());
  const auto table = file.find_section(SHT_SYMTAB);
  if (!table) return fail(table.error());
  if (!*table) return found;
  const auto sections = file.sections();
  if (!sections) return fail(sections.error());
  const std::size_t record_size = symbol_record_size(file.abi());
  if ((*table)->entry_size != record_size || (*table)->link >= sections->size()) {
    return fail(error{error_code::bad_format,
                      fmt::format("{} has a symbol table (.symtab) with entries of {} bytes and names in section {}",
                                  file.file().name(), (*table)->entry_size, (*table)->link)}
                    .on(file.file().name()));
  }
  const auto strings = file.contents((*sections)[(*table)->link]);
  if (!strings) return fail(strings.error());
  const auto spellings = find_spellings(*strings, names);
  if (spellings.empty()) return found;  // the table itself need not be read

  table_pass pass{spellings, found};
  constexpr std::size_t records_per_read = 8192;
  const std::uint64_t count = (*table)->size / record_size;
  for (std::uint64_t first = 0; first < count; first += records_per_read) {
    const std::uint64_t now = std::min<std::uint64_t>(records_per_read, count - first);
    const auto records = file.file().read((*table)->offset + first * record_size, now * record_size);
    if (!records) return fail(records.error());
    for (std::size_t i = 0; i < now; ++i) {
      pass.offer(decode_symbol(std::span{*records}.subspan(i * record_size, record_size), file.abi()));
    }
  }
  return found;
}

}  // namespace mpiacq::elf
