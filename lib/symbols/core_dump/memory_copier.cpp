// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "core_dump/memory_copier.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <unistd.h>

#include "errors/try.hpp"

namespace mpiacq::elf {

namespace {

constexpr std::size_t piece_of_memory = std::size_t{4} << 20;  // a multiple of all page sizes
constexpr std::size_t ranges_in_piece = 1024;
constexpr std::size_t window_of_pages = 65536;  // entries of the page map read at once

// Documentation/admin-guide/mm/pagemap.rst
constexpr std::uint64_t is_present = std::uint64_t{1} << 63;
constexpr std::uint64_t is_swapped = std::uint64_t{1} << 62;

}  // namespace

memory_copier::memory_copier(const process_folder& process, memory_reader& memory, sparse_file& into,
                             may_go_on between_pieces)
    : memory_(memory),
      into_(into),
      between_pieces_(std::move(between_pieces)),
      page_size_(static_cast<std::uint64_t>(std::max(::sysconf(_SC_PAGESIZE), 4096L))),
      buffer_(piece_of_memory) {
  if (auto map = process.open_file("pagemap")) page_map_ = std::move(*map);
}

/// The pages in use between two addresses that are at most `window_of_pages` pages apart.
std::vector<memory_copier::run> memory_copier::used_runs(std::uint64_t begin, std::uint64_t end) {
  entries_.resize(static_cast<std::size_t>((end - begin) / page_size_));
  const std::size_t size = entries_.size() * sizeof(std::uint64_t);
  ssize_t got = -1;
  do {
    got =
        ::pread(page_map_.get(), entries_.data(), size, static_cast<off_t>(begin / page_size_ * sizeof(std::uint64_t)));
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(size)) return {{begin, end}};
  std::vector<run> runs;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if ((entries_[i] & (is_present | is_swapped)) == 0) continue;
    const std::uint64_t page = begin + i * page_size_;
    if (!runs.empty() && runs.back().end == page) {
      runs.back().end += page_size_;
    } else {
      runs.push_back({page, page + page_size_});
    }
  }
  return runs;
}

result<std::uint64_t> memory_copier::copy(std::uint64_t begin, std::uint64_t end, std::uint64_t offset,
                                          bool skips_unused) {
  std::uint64_t done = begin;
  std::uint64_t from = begin;
  while (from < end) {
    std::uint64_t window_end = end;
    std::vector<run> runs{{from, end}};
    if (skips_unused && page_map_) {
      window_end = from + std::min(end - from, window_of_pages * page_size_);
      runs = used_runs(from, window_end);
    }
    const bool goes_on = TRY(copy_runs(runs, done, begin, offset));
    if (!goes_on) return done - begin;
    done = from = window_end;
  }
  return done - begin;
}

/// Copies runs in pieces that fit into the buffer. `done` becomes the end of what is copied. False: the copying ends.
result<bool> memory_copier::copy_runs(std::span<const run> runs, std::uint64_t& done, std::uint64_t begin,
                                      std::uint64_t offset) {
  std::vector<run> piece;
  std::size_t used = 0;
  const auto flush = [&]() -> result<bool> {
    const bool goes_on = TRY(between_pieces_());
    if (!goes_on) return false;
    TRY(read(piece));
    std::span<const std::byte> bytes{buffer_};
    for (const run& r : piece) {
      const auto size = static_cast<std::size_t>(r.end - r.begin);
      const std::size_t stored = TRY(into_.put_pages(offset + (r.begin - begin), bytes.first(size)));
      done = r.begin + stored;
      if (stored < size) return false;
      bytes = bytes.subspan(size);
    }
    piece.clear();
    used = 0;
    return true;
  };
  for (run left : runs) {
    while (left.begin < left.end) {
      const std::uint64_t size = std::min<std::uint64_t>(left.end - left.begin, buffer_.size() - used);
      piece.push_back({left.begin, left.begin + size});
      left.begin += size;
      used += static_cast<std::size_t>(size);
      if (used < buffer_.size() && piece.size() < ranges_in_piece) continue;
      const bool goes_on = TRY(flush());
      if (!goes_on) return false;
    }
  }
  return flush();
}

/// Reads runs into the buffer, one behind the other.
result<void> memory_copier::read(std::span<const run> runs) {
  std::vector<memory_range> ranges;
  ranges.reserve(runs.size());
  std::size_t used = 0;
  for (const run& r : runs) {
    const auto size = static_cast<std::size_t>(r.end - r.begin);
    ranges.push_back({target_address{r.begin}, std::span{buffer_}.subspan(used, size), 0});
    used += size;
  }
  if (ranges.empty()) return {};
  TRY(memory_.read_ranges(ranges));
  for (const memory_range& range : ranges) {
    const std::size_t whole = range.got / read_page_size * read_page_size;
    if (range.got < range.into.size()) {
      TRY(read_pages(range.address.value() + whole, range.into.subspan(whole)));
    }
  }
  return {};
}

/// Reads each page for itself, in one call, because a page among them cannot be read.
result<void> memory_copier::read_pages(std::uint64_t begin, std::span<std::byte> into) {
  std::vector<memory_range> pages;
  pages.reserve(into.size() / read_page_size + 1);
  for (std::size_t at = 0; at < into.size(); at += read_page_size) {
    pages.push_back({target_address{begin + at}, into.subspan(at, std::min(read_page_size, into.size() - at)), 0});
  }
  TRY(memory_.read_ranges(pages));
  for (const memory_range& page : pages) {
    const auto missing = page.into.subspan(page.got);
    std::fill(missing.begin(), missing.end(), std::byte{0});
    unreadable_ += missing.size();
  }
  return {};
}

}  // namespace mpiacq::elf
