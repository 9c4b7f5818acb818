// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "string_pool.hpp"

#include <bit>
#include <cstring>

namespace mpiacq {

namespace {
// Strings that were made to collide may stand twice in the pool; they cannot make it slow.
constexpr std::size_t longest_probe = 64;
constexpr std::size_t smallest_index = 1024;
constexpr std::size_t largest_block = std::size_t{4} << 20;

template <class Word>
std::uint64_t load(const char* bytes) {
  Word value = 0;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

/// The last 1 to 8 bytes of a text as a number, by whole words that may overlap: putting it together byte by byte
/// stalls.
std::uint64_t load_tail(std::string_view text, std::size_t left) {
  const char* end = text.data() + text.size();
  if (text.size() >= 8) return load<std::uint64_t>(end - 8);
  if (left >= 4) return load<std::uint32_t>(text.data()) << 32 | load<std::uint32_t>(end - 4);
  return load<std::uint8_t>(text.data()) << 16 | load<std::uint8_t>(text.data() + left / 2) << 8 |
         load<std::uint8_t>(end - 1);
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  a = (a ^ b) * 0x9fb21c651e98df25U;
  return a ^ (a >> 32);
}

std::uint32_t hash_of(std::string_view text) {
  std::uint64_t hash = text.size() * 0x9e3779b97f4a7c15U;
  const char* next = text.data();
  std::size_t left = text.size();
  for (; left > 8; left -= 8, next += 8) hash = mix(hash, load<std::uint64_t>(next));
  if (left > 0) hash = mix(hash, load_tail(text, left));
  hash *= 0x9e3779b97f4a7c15U;
  return static_cast<std::uint32_t>(hash >> 32);
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
  grow(smallest_index);
}

/// Texts are put at the end of the block at once, and sorted out some at a time: by then their places in the hash
/// table have come into the processor's cache.
void string_pool::add(std::uint32_t id, std::string_view text) {
  ++added_;
  if (is_like_last(text)) {  // a copy for each rank is common
    entries_[id] = {nullptr, 0, last_};
    return;
  }
  char* at = texts_.next(text.size());
  if (at == nullptr || pending_count_ == batch) {
    flush();
    at = texts_.next(text.size());
    if (at == nullptr) {
      texts_.begin_block(text.size());
      at = texts_.next(text.size());
    }
  }
  std::memcpy(at, text.data(), text.size());
  texts_.take(text.size());
  const std::uint32_t hash = hash_of(text);
  __builtin_prefetch(&slots_[hash & (slots_.size() - 1)], 1);
  last_ = id;
  last_text_ = {at, text.size()};
  pending_[pending_count_++] = {id, hash, last_text_};
}

bool string_pool::is_like_last(std::string_view text) const {
  return last_ != none && last_text_ == text;
}

void string_pool::flush() {
  if (pending_count_ == 0) return;
  if (slots_.size() < 2 * (kept_ + batch)) {
    // Where nearly all strings were different so far, the others will be too: one step instead of many.
    const bool mostly_own = kept_ >= added_ / 2;
    grow(std::max(4 * slots_.size(), mostly_own ? std::bit_ceil(2 * (entries_.size() + batch)) : 0));
  }
  char* end = const_cast<char*>(pending_[0].text.data());  // NOLINT: into our own block
  for (std::size_t i = 0; i < pending_count_; ++i) {
    const auto& [id, hash, text] = pending_[i];
    slot* at = find(hash, text);
    if (at != nullptr && at->id != none) {
      entries_[id] = {nullptr, 0, at->id};
      if (id == last_) last_text_ = {entries_[at->id].text, entries_[at->id].length};
      continue;
    }
    if (end != text.data()) std::memmove(end, text.data(), text.size());
    entries_[id] = {end, static_cast<std::uint32_t>(text.size()), id};
    if (id == last_) last_text_ = {end, text.size()};
    end += text.size();
    ++kept_;
    if (at != nullptr) *at = {hash, id};
  }
  texts_.give_back(end);
  pending_count_ = 0;
}

std::uint32_t string_pool::kept_as(const column<entry>& entries, std::uint32_t id) {
  // Two steps: one like the string before it, which was like an earlier one.
  const std::uint32_t same = entries[id].same_as;
  return same == none ? none : entries[same].same_as;
}

/// The slot that holds `text`, or the empty one where it belongs, or null where the search became too long.
string_pool::slot* string_pool::find(std::uint32_t hash, std::string_view text) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  for (std::size_t i = 0; i < longest_probe; ++i, at = (at + 1) & mask) {
    slot& s = slots_[at];
    if (s.id == none) return &s;
    if (s.hash == hash && std::string_view{entries_[s.id].text, entries_[s.id].length} == text) return &s;
  }
  return nullptr;
}

void string_pool::grow(std::size_t slots) {
  column<slot> old = std::move(slots_);
  slots_ = {};
  slots_.reserve(slots);
  std::uninitialized_fill_n(slots_.extend(slots), slots, slot{});
  const std::size_t mask = slots - 1;
  for (const slot& s : old.span()) {
    if (s.id == none) continue;
    std::size_t at = s.hash & mask;
    for (std::size_t i = 0; i < longest_probe; ++i, at = (at + 1) & mask) {
      if (slots_[at].id == none) {
        slots_[at] = s;
        break;
      }
    }
  }
}

}  // namespace mpiacq
