// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "columns/string_pool.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace mpiacq {

namespace {
// Strings with deliberate hash collisions may be stored twice, but they cannot make the pool slow.
constexpr std::size_t longest_probe = 64;
constexpr std::size_t recent_slots = 1024;
// The hash table of one part should fit into the second-level cache, and the ends of all parts into the first.
constexpr std::size_t strings_a_part = 2048;
constexpr std::size_t most_parts = 2048;
constexpr std::size_t largest_block = std::size_t{4} << 20;

template <class Word>
std::uint64_t load(const char* bytes) {
  Word value = 0;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

/// The last 1 to 8 bytes of a text as a number, read as words that may overlap. Reading byte by byte stalls the
/// processor.
std::uint64_t load_tail(std::string_view text, std::size_t left) {
  const char* end = text.data() + text.size();
  if (text.size() >= 8) return load<std::uint64_t>(end - 8);
  if (left >= 4) return load<std::uint32_t>(text.data()) << 32 | load<std::uint32_t>(end - 4);
  return load<std::uint8_t>(text.data()) << 16 | load<std::uint8_t>(text.data() + left / 2) << 8 |
         load<std::uint8_t>(end - 1);
}

/// The size of a hash table for this many strings.
std::size_t slots_for(std::size_t strings) {
  return std::bit_ceil(2 * strings + 1);
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  a = (a ^ b) * 0x9fb21c651e98df25U;
  return a ^ (a >> 32);
}

/// Two independent sums, so that their multiplications run in parallel.
std::uint32_t hash_of(std::string_view text) {
  std::uint64_t even = text.size() * 0x9e3779b97f4a7c15U, odd = 0x2545f4914f6cdd1dU;
  const char* next = text.data();
  std::size_t left = text.size();
  for (; left > 16; left -= 16, next += 16) {
    even = mix(even, load<std::uint64_t>(next));
    odd = mix(odd, load<std::uint64_t>(next + 8));
  }
  if (left > 8) {
    even = mix(even, load<std::uint64_t>(next));
    left -= 8;
  }
  if (left > 0) odd = mix(odd, load_tail(text, left));
  return static_cast<std::uint32_t>((mix(even, odd) * 0x9e3779b97f4a7c15U) >> 32);
}
}  // namespace

void text_blocks::begin_block(std::size_t bytes) {
  const std::size_t size = std::max(bytes, next_size_);
  next_size_ = std::min(2 * next_size_, largest_block);
  std::unique_ptr<char, release> block(static_cast<char*>(allocate_large(size)));
  if (block == nullptr) throw std::bad_alloc();
  end_ = block.get();
  left_ = size;
  blocks_.push_back(std::move(block));
}

string_pool::string_pool(std::size_t identifiers) {
  if (identifiers == 0) return;
  entries_.reserve(identifiers);
  entries_.extend(identifiers);
  recent_.resize(recent_slots);
  const std::size_t count = std::min(std::bit_ceil(identifiers / strings_a_part + 1), most_parts);
  for (auto& sizes : sizes_of_parts_) sizes.resize(count);
  shift_to_part_ = 32 - std::countr_zero(count);
}

void string_pool::add(std::uint32_t id, std::string_view text) {
  const std::uint32_t hash = hash_of(text);
  hashed& recent = recent_[hash % recent_slots];
  // Tables often have one copy for each rank.
  if (recent.hash == hash && recent.id != none && text_of(recent.id) == text) {
    entries_[id] = {nullptr, 0, recent.id};
    return;
  }
  recent = {hash, id};
  char* at = texts_.next(text.size());
  if (at == nullptr) {
    texts_.begin_block(text.size());
    at = texts_.next(text.size());
  }
  std::memcpy(at, text.data(), text.size());
  texts_.take(text.size());
  entries_[id] = {at, static_cast<std::uint32_t>(text.size()), hash};
  ++sizes_of_parts_[half_of(id)][part_of(hash)];
  ++kept_;
  kept_bytes_ += text.size();
}

void string_pool::finish(ordered_worker& helper, column<target_address> spare) {
  recent_ = {};
  parts all = part_by_hash(helper, std::move(spare));
  // Memory for both halves is allocated first: no allocation may fail here while the other thread uses the pool.
  std::array<std::vector<std::uint32_t>, 2> slots;
  for (auto& room : slots) room.reserve(slots_for(all.largest));
  shared odd;
  helper.add([&] { odd = share_in_parts(all, 1, slots[1]); });
  const shared even = share_in_parts(all, 0, slots[0]);
  helper.finish();
  all.strings.drop();
  kept_ -= even.strings + odd.strings;
  kept_bytes_ -= even.bytes + odd.bytes;
  twice_bytes_ += even.bytes + odd.bytes;
  if (twice_bytes_ > kept_bytes_ / 4) gather();
}

string_pool::shared string_pool::share_in_parts(const parts& all, std::size_t first,
                                                std::vector<std::uint32_t>& slots) {
  shared found;
  for (std::size_t part = first; part < all.ends.size(); part += 2) {
    const std::uint32_t begin = part == 0 ? 0 : all.ends[part - 1];
    const shared here = share_equal(all.strings.span().subspan(begin, all.ends[part] - begin), slots);
    found.strings += here.strings;
    found.bytes += here.bytes;
  }
  return found;
}

/// From here on, `same_as` has the meaning of its name, and no hash.
string_pool::parts string_pool::part_by_hash(ordered_worker& helper, column<target_address> spare) {
  parts all;
  halves places = std::exchange(sizes_of_parts_, {});
  all.ends.reserve(places[0].size());
  std::uint32_t end = 0;
  for (std::size_t part = 0; part < places[0].size(); ++part) {
    const std::uint32_t begin = end;
    for (auto& half : places) end += std::exchange(half[part], end);
    all.largest = std::max<std::size_t>(all.largest, end - begin);
    all.ends.push_back(end);
  }
  all.strings = std::move(spare).reused_for<hashed>();
  all.strings.reserve(kept_);
  hashed* out = all.strings.extend(kept_);
  helper.add([&] { put_half(1, places[1], out); });
  put_half(0, places[0], out);
  helper.finish();
  return all;
}

void string_pool::put_half(std::size_t half, std::vector<std::uint32_t>& places, hashed* out) {
  const std::size_t middle = entries_.size() / 2;
  const std::size_t end = half == 0 ? middle : entries_.size();
  for (std::size_t i = half == 0 ? 0 : middle; i < end; ++i) {
    entry& e = entries_[i];
    if (e.text == nullptr) continue;
    const auto id = static_cast<std::uint32_t>(i);
    out[places[part_of(e.same_as)]++] = {e.same_as, id};
    e.same_as = id;
  }
}

/// Equal strings have equal hashes, so they are in one part.
string_pool::shared string_pool::share_equal(std::span<const hashed> part, std::vector<std::uint32_t>& slots) {
  shared found;
  slots.assign(slots_for(part.size()), 0);  // the index in the part + 1; 0 in empty slots
  const std::size_t mask = slots.size() - 1;
  for (std::uint32_t i = 0; i < part.size(); ++i) {
    std::size_t at = part[i].hash & mask;
    for (std::size_t searched = 0; searched < longest_probe; ++searched, at = (at + 1) & mask) {
      if (slots[at] == 0) {
        slots[at] = i + 1;
        break;
      }
      const hashed& other = part[slots[at] - 1];
      if (other.hash != part[i].hash || text_of(other.id) != text_of(part[i].id)) continue;
      const std::uint32_t length = entries_[part[i].id].length;
      entries_[part[i].id] = {nullptr, 0, other.id};
      ++found.strings;
      found.bytes += length;
      break;
    }
  }
  return found;
}

/// Most of the blocks' contents are no longer needed. Moves the rest into new blocks.
void string_pool::gather() {
  text_blocks fresh;
  fresh.begin_block(kept_bytes_);
  for (entry& e : entries_.span()) {
    if (e.text == nullptr) continue;
    char* at = fresh.next(e.length);
    std::memcpy(at, e.text, e.length);
    fresh.take(e.length);
    e.text = at;
  }
  texts_ = std::move(fresh);
  twice_bytes_ = 0;
}

std::uint32_t string_pool::kept_as(const column<entry>& entries, std::uint32_t id) {
  // Two steps: `id` may equal a recent string, which in turn equals an earlier one.
  const std::uint32_t same = entries[id].same_as;
  return same == none ? none : entries[same].same_as;
}

}  // namespace mpiacq
