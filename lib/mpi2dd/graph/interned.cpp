// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "graph/interned.hpp"

#include <chrono>
#include <cstring>
#include <functional>

namespace mpiacq::mpi2dd {

namespace {

std::uint64_t seed() {
  static const std::uint64_t value = [] {
    static const char anchor = 0;  // its address differs in each run
    const auto now = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
    return reinterpret_cast<std::uintptr_t>(&anchor) * 0x9e3779b97f4a7c15U ^ now;
  }();
  return value;
}

std::uint32_t hash_of(std::string_view text) {
  std::uint64_t hash = scatter(text.size());
  for (; text.size() >= 8; text.remove_prefix(8)) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), sizeof word);
    hash = scatter(hash ^ word);
  }
  std::uint64_t tail = 0;
  if (!text.empty()) std::memcpy(&tail, text.data(), text.size());
  return static_cast<std::uint32_t>(scatter(hash ^ tail) >> 32);
}

constexpr std::size_t smallest_table = 64;

}  // namespace

std::uint64_t scatter(std::uint64_t value) {
  value ^= seed();
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

/// The slot that holds `text`, or the empty one where it belongs.
std::size_t interned_strings::slot_of(std::string_view text, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  for (; slots_[at] != 0; at = (at + 1) & mask) {
    const entry& e = entries_[slots_[at] - 1];
    if (e.hash == hash && std::string_view{e.text, e.length} == text) break;
  }
  return at;
}

std::uint32_t interned_strings::number(std::string_view text) {
  if (slots_.size() < 2 * (entries_.size() + 1)) grow();
  const std::uint32_t hash = hash_of(text);
  const std::size_t at = slot_of(text, hash);
  if (slots_[at] != 0) return slots_[at] - 1;
  char* copy = texts_.next(text.size());
  if (copy == nullptr) {
    texts_.begin_block(text.size());
    copy = texts_.next(text.size());
  }
  if (!text.empty()) std::memcpy(copy, text.data(), text.size());
  texts_.take(text.size());
  entries_.push_back({copy, static_cast<std::uint32_t>(text.size()), hash});
  slots_[at] = static_cast<std::uint32_t>(entries_.size());
  return slots_[at] - 1;
}

std::optional<std::uint32_t> interned_strings::find(std::string_view text) const {
  if (slots_.empty()) return std::nullopt;
  const std::uint32_t found = slots_[slot_of(text, hash_of(text))];
  return found == 0 ? std::nullopt : std::optional{found - 1};
}

void interned_strings::grow() {
  slots_.assign(std::max(smallest_table, 4 * slots_.size()), 0);
  const std::size_t mask = slots_.size() - 1;
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    std::size_t at = entries_[i].hash & mask;
    while (slots_[at] != 0) at = (at + 1) & mask;
    slots_[at] = i + 1;
  }
}

namespace {
std::size_t hash_of(std::uint32_t host, std::int32_t pid) {
  return static_cast<std::size_t>(scatter(std::uint64_t{host} << 32 | static_cast<std::uint32_t>(pid)));
}
}  // namespace

std::size_t process_index::slot_of(const column<std::uint32_t>& hosts, const column<std::int32_t>& pids,
                                   std::uint32_t host, std::int32_t pid) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash_of(host, pid) & mask;
  for (; slots_[at] != 0; at = (at + 1) & mask) {
    const std::uint32_t process = slots_[at] - 1;
    if (pids[process] == pid && hosts[process] == host) break;
  }
  return at;
}

std::uint32_t process_index::find_or_add(const column<std::uint32_t>& hosts, const column<std::int32_t>& pids,
                                         std::uint32_t host, std::int32_t pid, std::uint32_t otherwise) {
  if (slots_.size() < 2 * (count_ + 1)) grow(hosts, pids);
  const std::size_t at = slot_of(hosts, pids, host, pid);
  if (slots_[at] == 0) {
    slots_[at] = otherwise + 1;
    ++count_;
  }
  return slots_[at] - 1;
}

std::optional<std::uint32_t> process_index::find(const column<std::uint32_t>& hosts, const column<std::int32_t>& pids,
                                                 std::uint32_t host, std::int32_t pid) const {
  if (slots_.empty()) return std::nullopt;
  const std::uint32_t found = slots_[slot_of(hosts, pids, host, pid)];
  return found == 0 ? std::nullopt : std::optional{found - 1};
}

void process_index::grow(const column<std::uint32_t>& hosts, const column<std::int32_t>& pids) {
  std::vector<std::uint32_t> old(std::max(smallest_table, 2 * slots_.size()), 0);
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const std::uint32_t entered : old) {
    if (entered == 0) continue;
    std::size_t at = hash_of(hosts[entered - 1], pids[entered - 1]) & mask;
    while (slots_[at] != 0) at = (at + 1) & mask;
    slots_[at] = entered;
  }
}

}  // namespace mpiacq::mpi2dd
