// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "stack_copies.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace mpiacq {

namespace {

/// What most stacks fit in; reading it costs some microseconds. A mapping that ends earlier costs only what is there.
constexpr std::size_t copied_at_first = 64U << 10;
/// Of the stacks that are deeper, together. One that does not fit is walked while its process stands still.
constexpr std::size_t most_copied = 1U << 20;
/// Below its stack pointer a function may use so much without moving it (x86-64; no more anywhere).
constexpr std::uint64_t red_zone = 128;

target_address page_of(target_address address) {
  return target_address{address.value() & ~std::uint64_t{read_page_size - 1}};
}

}  // namespace

result<void> stack_copies::copy(std::span<const thread_registers> threads) {
  stacks_.resize(threads.size());
  copied_ = true;
  missed_ = false;
  std::vector<memory_range> wanted;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    const std::uint64_t sp = threads[i].sp.value();
    stacks_[i].begin = page_of(target_address{sp < red_zone ? 0 : sp - red_zone});
    stacks_[i].bytes.resize(copied_at_first);
    wanted.push_back({stacks_[i].begin, stacks_[i].bytes});
  }
  if (auto read = live_.read_ranges(wanted); !read) return read;
  std::size_t left = most_copied;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    stack& one = stacks_[i];
    one.whole = wanted[i].got < one.bytes.size();
    one.bytes.resize(wanted[i].got);
    if (one.whole || left < copied_at_first) continue;
    const std::size_t have = one.bytes.size();
    one.bytes.resize(have + left);
    memory_range rest{one.begin + have, std::span(one.bytes).subspan(have)};
    if (auto read = live_.read_ranges({&rest, 1}); !read) return read;
    one.whole = rest.got < left;
    one.bytes.resize(have + rest.got);
    left -= rest.got;
  }
  return {};
}

void stack_copies::forget() {
  stacks_.clear();
  copied_ = missed_ = false;
}

void stack_copies::set_lasting(std::vector<part> parts) {
  lasting_ = std::move(parts);
  std::sort(lasting_.begin(), lasting_.end(), [](const part& a, const part& b) { return a.begin < b.begin; });
}

const stack_copies::stack* stack_copies::holding(target_address address) const {
  for (const stack& one : stacks_) {
    if (address >= one.begin && address - one.begin < one.bytes.size()) return &one;
  }
  return nullptr;
}

bool stack_copies::is_lasting(const memory_range& range) const {
  const auto after = std::upper_bound(lasting_.begin(), lasting_.end(), range.address,
                                      [](target_address a, const part& p) { return a < p.begin; });
  if (after == lasting_.begin()) return false;
  const part& in = *std::prev(after);
  return range.address < in.end && range.into.size() <= in.end - range.address;
}

result<void> stack_copies::read_ranges(std::span<memory_range> ranges) {
  if (!copied_) return live_.read_ranges(ranges);
  std::vector<memory_range> elsewhere;
  std::vector<std::size_t> whose;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    memory_range& range = ranges[i];
    const stack* copy = holding(range.address);
    if (copy == nullptr) {
      missed_ = missed_ || !is_lasting(range);
      elsewhere.push_back({range.address, range.into});
      whose.push_back(i);
      continue;
    }
    const auto from = static_cast<std::size_t>(range.address - copy->begin);
    range.got = std::min(range.into.size(), copy->bytes.size() - from);
    std::memcpy(range.into.data(), copy->bytes.data() + from, range.got);
    // Past the end of a stack there is nothing; past the end of its copy there may be.
    missed_ = missed_ || (range.got < range.into.size() && !copy->whole);
  }
  if (elsewhere.empty()) return {};
  auto read = live_.read_ranges(elsewhere);
  for (std::size_t i = 0; i < whose.size(); ++i) ranges[whose[i]].got = elsewhere[i].got;
  return read;
}

}  // namespace mpiacq
