// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <deque>
#include <unordered_map>

#include "memory/pages.hpp"

namespace mpiacq {

namespace {
constexpr std::size_t largest_cached_range = 16 * read_page_size;

bool is_cached(const memory_range& range) {
  return range.into.size() <= largest_cached_range;
}
}  // namespace

struct page_cache::state {
  struct page {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t got = 0;
  };
  memory_reader& behind;
  std::size_t max_pages;
  std::unordered_map<std::uint64_t, page> pages;
  std::deque<std::uint64_t> by_age;  // oldest first

  /// Lists the pages of `range` that are not cached, and adds each one without bytes.
  void add_missing(const memory_range& range, std::vector<std::uint64_t>& missing) {
    if (range.into.empty()) return;
    const std::uint64_t first = page_of(range.address.value());
    const std::uint64_t last =
        page_of(range.address.checked_add(range.into.size() - 1).value_or(target_address{UINT64_MAX}).value());
    for (std::uint64_t address = first;; address += read_page_size) {
      auto [at, is_new] = pages.try_emplace(address);
      if (is_new) {
        at->second.bytes = std::make_unique_for_overwrite<std::byte[]>(read_page_size);
        missing.push_back(address);
      }
      if (address == last) return;
    }
  }

  void copy_out(memory_range& range) {
    range.got = 0;
    while (range.got < range.into.size()) {
      const auto where = range.address.checked_add(range.got);
      if (!where) return;  // the end of the address space
      const page& from = pages.at(page_of(where->value()));
      const std::size_t offset = where->value() % read_page_size;
      if (from.got <= offset) return;
      const std::size_t count = std::min(from.got - offset, range.into.size() - range.got);
      std::memcpy(range.into.data() + range.got, from.bytes.get() + offset, count);
      range.got += count;
    }
  }

  void drop_oldest_half() {
    const std::size_t keep = max_pages / 2;
    while (by_age.size() > keep) {
      pages.erase(by_age.front());
      by_age.pop_front();
    }
  }
};

page_cache::page_cache(memory_reader& behind, std::size_t max_pages)
    : state_(std::make_unique<state>(state{behind, max_pages, {}, {}})) {}
page_cache::~page_cache() = default;

result<void> page_cache::read_ranges(std::span<memory_range> ranges) {
  std::vector<std::uint64_t> missing;
  for (const memory_range& range : ranges) {
    if (is_cached(range)) state_->add_missing(range, missing);
  }
  std::vector<memory_range> wanted;
  for (const std::uint64_t address : missing) {
    wanted.push_back({target_address{address}, {state_->pages.at(address).bytes.get(), read_page_size}});
  }
  for (const memory_range& range : ranges) {
    if (!is_cached(range)) wanted.push_back({range.address, range.into});
  }
  if (!wanted.empty()) {
    if (auto read = state_->behind.read_ranges(wanted); !read) {
      for (const std::uint64_t address : missing) state_->pages.erase(address);
      for (memory_range& range : ranges) range.got = 0;
      return read;
    }
  }
  for (std::size_t i = 0; i < missing.size(); ++i) {
    state_->pages.at(missing[i]).got = wanted[i].got;
    state_->by_age.push_back(missing[i]);
  }
  std::size_t bulk = missing.size();
  for (memory_range& range : ranges) {
    if (is_cached(range)) {
      state_->copy_out(range);
    } else {
      range.got = wanted[bulk++].got;
    }
  }
  if (state_->by_age.size() > state_->max_pages) state_->drop_oldest_half();
  return {};
}

void page_cache::forget() {
  state_->pages.clear();
  state_->by_age.clear();
}

}  // namespace mpiacq
