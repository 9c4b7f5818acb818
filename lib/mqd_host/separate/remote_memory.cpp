// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "separate/remote_memory.hpp"

#include <algorithm>
#include <cstring>

#include "errors/try.hpp"

namespace mpiacq::mqd_host {

namespace {

constexpr std::uint64_t window_pages = shared_area::window_bytes / read_page_size;
constexpr std::uint64_t first_ahead = 4;
constexpr std::size_t most_pages = 1U << 14U;  // 64 MiB; beyond that, all pages are dropped

}  // namespace

result<bool> remote_memory::read(std::uint64_t address, std::span<std::byte> into) {
  if (into.size() > UINT64_MAX - address) return false;
  while (!into.empty()) {
    const std::uint64_t offset = address % read_page_size;
    const std::size_t some = std::min<std::size_t>(into.size(), read_page_size - offset);
    auto from = TRY(page_at(address - offset));
    if (from->got < offset + some) return false;
    std::memcpy(into.data(), from->bytes.get() + offset, some);
    into = into.subspan(some);
    address += some;
  }
  return true;
}

result<const remote_memory::page*> remote_memory::page_at(std::uint64_t address) {
  if (address == last_address_) return last_;
  auto found = pages_.find(address);
  if (found == pages_.end()) {
    TRY(fetch(address));
    found = pages_.find(address);
  }
  last_address_ = address;
  last_ = &found->second;
  return last_;
}

std::uint64_t remote_memory::pages_to_fetch(std::uint64_t address) {
  ahead_ = address == expected_ ? std::min(2 * ahead_, window_pages) : first_ahead;
  const std::uint64_t to_the_end = (UINT64_MAX - address) / read_page_size + 1;
  std::uint64_t count = 1;
  while (count < std::min(ahead_, to_the_end) && !pages_.contains(address + count * read_page_size)) ++count;
  return count;
}

result<void> remote_memory::fetch(std::uint64_t address) {
  if (pages_.size() >= most_pages) {
    pages_.clear();
    last_address_ = no_page;
  }
  const std::uint64_t count = pages_to_fetch(address);
  const auto got = TRY(tool_.ask(memory_request{address, static_cast<std::uint32_t>(count * read_page_size)}));
  std::uint64_t left = std::min<std::uint64_t>(got, count * read_page_size);
  for (std::uint64_t i = 0; i < count; ++i) {
    page& here = pages_[address + i * read_page_size];
    here.got = std::min<std::uint64_t>(left, read_page_size);
    left -= here.got;
    if (here.got > 0) {
      here.bytes = std::make_unique_for_overwrite<std::byte[]>(read_page_size);
      std::memcpy(here.bytes.get(), area_.window.data() + i * read_page_size, here.got);
    }
    // After the first page that is not whole, the answer says nothing about the next ones.
    if (here.got < read_page_size) break;
  }
  expected_ = address + count * read_page_size;
  return {};
}

}  // namespace mpiacq::mqd_host
