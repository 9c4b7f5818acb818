// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "string_pool.hpp"

namespace mpiacq {

namespace {
// Strings that were made to collide may stand twice in the pool; they cannot make it slow.
constexpr std::size_t longest_search = 64;
constexpr std::size_t smallest_table = 1024;

std::uint64_t load(const char* bytes, std::size_t count) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes, count);
  return value;
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  a = (a ^ b) * 0x9fb21c651e98df25U;
  return a ^ (a >> 32);
}

std::uint32_t hash_of(std::string_view text) {
  std::uint64_t hash = text.size() * 0x9e3779b97f4a7c15U;
  const char* next = text.data();
  std::size_t left = text.size();
  for (; left >= 8; left -= 8, next += 8) hash = mix(hash, load(next, 8));
  if (left > 0) hash = mix(hash, load(next, left));
  hash *= 0x9e3779b97f4a7c15U;
  return static_cast<std::uint32_t>(hash >> 32);
}
}  // namespace

string_pool::string_pool(std::size_t identifiers) {
  entry* fresh = identifiers == 0 ? nullptr : entries_.extend(identifiers);
  for (std::size_t i = 0; i < identifiers; ++i) new (fresh + i) entry();
}

void string_pool::add(std::uint32_t id, std::string_view text) {
  if (last_ != none && this->text(entries_[last_]) == text) {  // a copy for each rank is common
    entries_[id] = entries_[last_];
    return;
  }
  if (slots_.size() < 2 * (kept_ + 1)) grow();
  const std::uint32_t hash = hash_of(text);
  slot* at = find(hash, text);
  if (at != nullptr && at->id != none) {
    entries_[id] = entries_[at->id];
    last_ = id;
    return;
  }
  entries_[id] = {bytes_.size(), static_cast<std::uint32_t>(text.size()), id};
  bytes_.append(text.data(), text.size());
  ++kept_;
  last_ = id;
  if (at != nullptr) *at = {hash, id};
}

/// The slot that holds `text`, or the empty one where it belongs, or null where the search became too long.
string_pool::slot* string_pool::find(std::uint32_t hash, std::string_view text) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  for (std::size_t i = 0; i < longest_search; ++i, at = (at + 1) & mask) {
    slot& s = slots_[at];
    if (s.id == none || (s.hash == hash && this->text(entries_[s.id]) == text)) return &s;
  }
  return nullptr;
}

void string_pool::grow() {
  std::vector<slot> old = std::move(slots_);
  slots_.assign(old.empty() ? smallest_table : 4 * old.size(), slot{});
  const std::size_t mask = slots_.size() - 1;
  for (const slot& s : old) {
    if (s.id == none) continue;
    std::size_t at = s.hash & mask;
    for (std::size_t i = 0; i < longest_search; ++i, at = (at + 1) & mask) {
      if (slots_[at].id == none) {
        slots_[at] = s;
        break;
      }
    }
  }
}

}  // namespace mpiacq
