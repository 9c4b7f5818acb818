// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "elf/name_spellings.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace mpiacq::elf {

namespace {

std::uint32_t tail_of(const char* end) {
  std::uint32_t tail = 0;
  std::memcpy(&tail, end - sizeof tail, sizeof tail);
  return tail;
}

}  // namespace

spelling_search::spelling_search(std::span<const std::string_view> names) : names_(names) {
  for (const std::string_view name : names) {
    longest_ = std::max(longest_, name.size());
    if (name.size() >= tail_size) {
      tails_.add(tail_of(name.data() + name.size()));
    } else if (!name.empty()) {
      has_short_ = true;
    }
  }
}

void spelling_search::look(std::uint64_t offset, std::span<const std::byte> piece, std::size_t seen) {
  const char* const begin = reinterpret_cast<const char*>(piece.data());
  const char* const end = begin + piece.size();
  for (const char* at = begin + seen; at < end; ++at) {
    at = static_cast<const char*>(std::memchr(at, '\0', static_cast<std::size_t>(end - at)));
    if (at == nullptr) return;
    const auto before = static_cast<std::size_t>(at - begin);
    if (has_short_ || (before >= tail_size && tails_.may_have(tail_of(at)))) try_all(offset, {begin, before});
  }
}

void spelling_search::try_all(std::uint64_t offset, std::string_view before_end) {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (names_[i].empty() || !before_end.ends_with(names_[i])) continue;
    found_.push_back({offset + before_end.size() - names_[i].size(), i});
  }
}

std::vector<spelling> spelling_search::take() {
  std::stable_sort(found_.begin(), found_.end(),
                   [](const spelling& a, const spelling& b) { return a.offset < b.offset; });
  return std::exchange(found_, {});
}

}  // namespace mpiacq::elf
