// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "elf/dynamic_symbols.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <elf.h>
#include <fmt/format.h>

#include "errors/try.hpp"

namespace mpiacq::elf {

namespace {

/// Chains have a few symbols. A longer chain is broken or hostile.
constexpr std::size_t max_chain_steps = 4096;
constexpr std::size_t links_per_read = 32;
constexpr std::size_t gnu_link_size = 4;

tl::unexpected<error> malformed(std::string sentence) {
  return fail(error_code::bad_format, std::move(sentence));
}

/// Reads many small pieces of target memory in one call. All pieces must be readable.
class piece_batch {
 public:
  void add(target_address address, std::size_t size) {
    ranges_.push_back({address, {}, 0});
    sizes_.push_back(size);
    total_ += size;
  }

  result<void> read(memory_reader& memory) {
    bytes_.resize(total_);
    std::size_t begin = 0;
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      ranges_[i].into = std::span{bytes_}.subspan(begin, sizes_[i]);
      begin += sizes_[i];
    }
    if (ranges_.empty()) return {};
    if (auto read = memory.read_ranges(ranges_); !read) return read;
    for (const memory_range& range : ranges_) {
      if (range.got == range.into.size()) continue;
      const target_address where = range.address + range.got;
      return fail(error{error_code::unreadable_memory,
                        fmt::format("its symbol tables lead to {:#x}, where there is no memory", where.value())}
                      .at(where));
    }
    return {};
  }

  [[nodiscard]] std::span<const std::byte> operator[](std::size_t i) const { return ranges_[i].into; }

 private:
  std::vector<memory_range> ranges_;
  std::vector<std::size_t> sizes_;
  std::vector<std::byte> bytes_;
  std::size_t total_ = 0;
};

}  // namespace

std::uint32_t gnu_hash(std::string_view name) {
  std::uint32_t h = 5381;
  for (const char c : name) h = h * 33 + static_cast<unsigned char>(c);
  return h;
}

std::uint32_t system_v_hash(std::string_view name) {
  std::uint32_t h = 0;
  for (const char c : name) {
    h = (h << 4) + static_cast<unsigned char>(c);
    const std::uint32_t high = h & 0xf0000000U;
    h = (h ^ (high >> 24)) & ~high;
  }
  return h;
}

std::optional<definition> definition_in(const symbol_record& record) {
  if (record.section == SHN_UNDEF) return std::nullopt;
  definition d{record.value, record.size, symbol_kind::other, record.section == SHN_ABS, false};
  d.local = ELF64_ST_BIND(record.info) == STB_LOCAL;
  switch (ELF64_ST_TYPE(record.info)) {
    case STT_OBJECT:
    case STT_COMMON:
      d.kind = symbol_kind::data;
      return d;
    case STT_FUNC:
    case STT_GNU_IFUNC:
      d.kind = symbol_kind::function;
      return d;
    case STT_NOTYPE:
      return d;
    default:
      return std::nullopt;
  }
}

struct dynamic_symbols::lookup {
  std::string_view name;
  std::uint32_t hash = 0;
  std::uint64_t link = 0;  ///< the current symbol index of the chain; 0 ends a chain
  bool at_end = false;     ///< GNU: the last link of the chain has been read
  std::optional<definition> found{};
};

target_address dynamic_symbols::symbol_address(std::uint64_t index) const {
  return symbols_ + index * symbol_record_size(abi_);
}

result<dynamic_symbols> dynamic_symbols::read(memory_reader& memory, const target_abi& abi,
                                              const dynamic_section& section) {
  dynamic_symbols table;
  table.abi_ = abi;
  if (!section.symbols || !section.strings || (!section.gnu_hash && !section.hash)) return table;
  if (section.symbol_size != 0 && section.symbol_size != symbol_record_size(abi)) {
    return malformed(fmt::format("its dynamic symbols are {} bytes each", section.symbol_size));
  }
  table.symbols_ = *section.symbols;
  table.strings_ = *section.strings;
  table.strings_size_ = section.strings_size;
  result<void> header;
  if (section.gnu_hash) {
    table.buckets_ = *section.gnu_hash;
    header = table.read_gnu_header(memory);
  } else {
    table.buckets_ = *section.hash;
    header = table.read_system_v_header(memory);
  }
  if (!header) return fail(std::move(header).error());
  return table;
}

result<void> dynamic_symbols::read_gnu_header(memory_reader& memory) {
  std::array<std::byte, 16> header{};
  if (auto read = read_exact(memory, buckets_, header); !read) return read;
  const auto word = [&](std::size_t i) { return decode_unsigned(std::span{header}.subspan(4 * i, 4), abi_.order); };
  bucket_count_ = word(0);
  first_hashed_ = word(1);
  bloom_words_ = word(2);
  bloom_shift_ = static_cast<unsigned>(word(3));
  if (bloom_words_ == 0 || (bloom_words_ & (bloom_words_ - 1)) != 0 || bloom_shift_ >= 32) {
    return malformed(
        fmt::format("its .gnu.hash has a Bloom filter of {} words and a shift of {}", bloom_words_, bloom_shift_));
  }
  bloom_ = buckets_ + header.size();
  buckets_ = bloom_ + bloom_words_ * abi_.pointer_size;
  chains_ = buckets_ + bucket_count_ * gnu_link_size;
  style_ = bucket_count_ == 0 ? style::none : style::gnu;
  return {};
}

result<void> dynamic_symbols::read_system_v_header(memory_reader& memory) {
  // By the specification the words have 32 bits; 64-bit Alpha and s390 use 64.
  const bool wide = abi_.pointer_size == 8 && (abi_.elf_machine == EM_S390 || abi_.elf_machine == EM_ALPHA);
  hash_word_ = wide ? 8 : 4;
  std::array<std::byte, 16> space{};
  const auto header = std::span{space}.first(2 * hash_word_);
  if (auto read = read_exact(memory, buckets_, header); !read) return read;
  bucket_count_ = decode_unsigned(header.first(hash_word_), abi_.order);
  chain_count_ = decode_unsigned(header.last(hash_word_), abi_.order);
  if (bucket_count_ > UINT32_MAX || chain_count_ > UINT32_MAX) {
    return malformed(fmt::format("its .hash claims to have {} buckets and {} symbols", bucket_count_, chain_count_));
  }
  buckets_ = buckets_ + header.size();
  chains_ = buckets_ + bucket_count_ * hash_word_;
  style_ = bucket_count_ == 0 ? style::none : style::system_v;
  return {};
}

result<std::vector<std::optional<definition>>> dynamic_symbols::find(memory_reader& memory,
                                                                     std::span<const std::string_view> names) const {
  std::vector<std::optional<definition>> found(names.size());
  if (style_ == style::none) return found;
  std::vector<lookup> lookups;
  lookups.reserve(names.size());
  for (const std::string_view name : names) {
    lookups.push_back({name, style_ == style::gnu ? gnu_hash(name) : system_v_hash(name)});
  }
  TRY(style_ == style::gnu ? find_by_gnu_hash(memory, lookups) : find_by_system_v_hash(memory, lookups));
  for (std::size_t i = 0; i < names.size(); ++i) found[i] = lookups[i].found;
  return found;
}

result<void> dynamic_symbols::find_by_gnu_hash(memory_reader& memory, std::vector<lookup>& lookups) const {
  std::vector<lookup*> active;
  for (lookup& l : lookups) active.push_back(&l);
  if (auto done = keep_possible(memory, active); !done) return done;
  if (auto done = read_first_links(memory, active); !done) return done;
  for (const lookup* l : active) {
    if (l->link != 0 && l->link < first_hashed_) {
      return malformed(fmt::format("its .gnu.hash puts symbol {} into a bucket, but hashes only those from {} on",
                                   l->link, first_hashed_));
    }
  }
  std::erase_if(active, [](const lookup* l) { return l->link == 0; });
  return walk_chains(memory, active);
}

/// Keeps only the names that the Bloom filter does not exclude.
result<void> dynamic_symbols::keep_possible(memory_reader& memory, std::vector<lookup*>& active) const {
  const unsigned bits = abi_.pointer_size * 8U;
  piece_batch words;
  for (const lookup* l : active) {
    words.add(bloom_ + (l->hash / bits & (bloom_words_ - 1)) * abi_.pointer_size, abi_.pointer_size);
  }
  if (auto read = words.read(memory); !read) return read;
  std::vector<lookup*> possible;
  for (std::size_t i = 0; i < active.size(); ++i) {
    const std::uint64_t word = decode_unsigned(words[i], abi_.order);
    const std::uint32_t h = active[i]->hash;
    if ((word >> (h % bits) & word >> ((h >> bloom_shift_) % bits) & 1) != 0) possible.push_back(active[i]);
  }
  active = std::move(possible);
  return {};
}

result<void> dynamic_symbols::read_first_links(memory_reader& memory, std::vector<lookup*>& active) const {
  piece_batch heads;
  for (const lookup* l : active) heads.add(buckets_ + l->hash % bucket_count_ * hash_word_, hash_word_);
  if (auto read = heads.read(memory); !read) return read;
  for (std::size_t i = 0; i < active.size(); ++i) active[i]->link = decode_unsigned(heads[i], abi_.order);
  return {};
}

/// GNU: a chain is a run of hash values, one for each symbol of a bucket; the lowest bit marks the last one.
result<void> dynamic_symbols::walk_chains(memory_reader& memory, std::vector<lookup*>& active) const {
  for (std::size_t steps = 0; !active.empty(); steps += links_per_read) {
    if (steps >= max_chain_steps) return malformed("its .gnu.hash has a chain without an end");
    std::vector<memory_range> ranges;
    std::vector<std::byte> links(active.size() * links_per_read * gnu_link_size);
    for (std::size_t i = 0; i < active.size(); ++i) {
      const std::size_t size = links_per_read * gnu_link_size;
      ranges.push_back(
          {chains_ + (active[i]->link - first_hashed_) * gnu_link_size, std::span{links}.subspan(i * size, size), 0});
    }
    if (auto read = memory.read_ranges(ranges); !read) return read;
    for (std::size_t i = 0; i < active.size(); ++i) {
      lookup& l = *active[i];
      const std::uint64_t first = l.link;
      const std::size_t there = ranges[i].got / gnu_link_size;
      for (std::size_t j = 0; j < there && !l.at_end && !l.found; ++j) {
        const auto value = static_cast<std::uint32_t>(
            decode_unsigned(ranges[i].into.subspan(j * gnu_link_size, gnu_link_size), abi_.order));
        l.at_end = (value & 1) != 0;
        l.link = first + j + 1;
        if ((value | 1) != (l.hash | 1)) continue;
        std::array<lookup*, 1> candidate{&l};
        l.link = first + j;
        if (auto compared = compare(memory, candidate); !compared) return compared;
        l.link = first + j + 1;
      }
      // A chain near the end of a mapping may be shorter than the read; only its own links must be readable.
      if (!l.at_end && !l.found && there < links_per_read) {
        const target_address where = ranges[i].address + ranges[i].got;
        return fail(error{error_code::unreadable_memory,
                          fmt::format("its .gnu.hash has a chain that runs out of memory at {:#x}", where.value())}
                        .at(where));
      }
    }
    std::erase_if(active, [](const lookup* l) { return l->at_end || l->found; });
  }
  return {};
}

/// System V: a bucket names a symbol; the chain word of each symbol names the next symbol with the same hash, up to 0.
result<void> dynamic_symbols::find_by_system_v_hash(memory_reader& memory, std::vector<lookup>& lookups) const {
  std::vector<lookup*> active;
  for (lookup& l : lookups) active.push_back(&l);
  if (auto done = read_first_links(memory, active); !done) return done;
  for (std::size_t steps = 0;; ++steps) {
    std::erase_if(active, [](const lookup* l) { return l->link == 0 || l->found; });
    if (active.empty()) return {};
    if (steps >= std::min<std::uint64_t>(chain_count_, max_chain_steps)) {
      return malformed("its .hash has a chain without an end");
    }
    for (const lookup* l : active) {
      if (l->link >= chain_count_) {
        return malformed(fmt::format("its .hash leads to symbol {} of {}", l->link, chain_count_));
      }
    }
    if (auto compared = compare(memory, active); !compared) return compared;
    std::erase_if(active, [](const lookup* l) { return l->found.has_value(); });
    piece_batch next;
    for (const lookup* l : active) next.add(chains_ + l->link * hash_word_, hash_word_);
    if (auto read = next.read(memory); !read) return read;
    for (std::size_t i = 0; i < active.size(); ++i) active[i]->link = decode_unsigned(next[i], abi_.order);
  }
}

/// Reads the symbol that each candidate's `link` names, and sets `found` if it defines the name.
result<void> dynamic_symbols::compare(memory_reader& memory, std::span<lookup*> candidates) const {
  piece_batch records;
  for (const lookup* l : candidates) records.add(symbol_address(l->link), symbol_record_size(abi_));
  if (auto read = records.read(memory); !read) return read;

  struct comparison {
    lookup* of;
    definition defined;
  };
  std::vector<comparison> comparisons;
  piece_batch spellings;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const symbol_record record = decode_symbol(records[i], abi_);
    const std::size_t size = candidates[i]->name.size() + 1;
    if (record.name >= strings_size_) {
      return malformed(fmt::format("its symbol {} has its name at {:#x} of a table of {:#x} bytes", candidates[i]->link,
                                   record.name, strings_size_));
    }
    if (size > strings_size_ - record.name) continue;  // the last name of the table is shorter
    const auto defined = definition_in(record);
    if (!defined) continue;
    comparisons.push_back({candidates[i], *defined});
    spellings.add(strings_ + record.name, size);
  }
  if (auto read = spellings.read(memory); !read) return read;
  for (std::size_t i = 0; i < comparisons.size(); ++i) {
    const std::string_view name = comparisons[i].of->name;
    const auto spelling = spellings[i];
    if (std::memcmp(spelling.data(), name.data(), name.size()) == 0 && spelling[name.size()] == std::byte{0}) {
      comparisons[i].of->found = comparisons[i].defined;
    }
  }
  return {};
}

}  // namespace mpiacq::elf
