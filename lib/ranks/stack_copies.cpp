// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "stack_copies.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace mpiacq {

namespace {

/// Most stacks are smaller than this, in bytes. Reading it takes some microseconds, and less if the mapping ends
/// earlier.
constexpr std::size_t copied_at_first = 64U << 10;
/// The bound in bytes for the rest of all deeper stacks together. A stack that does not fit is walked while its process
/// is held.
constexpr std::size_t most_copied = 1U << 20;
/// Stacks per system call.
constexpr std::size_t stacks_at_once = 64;
/// The bytes below the stack pointer that a function may use without moving it (x86-64; other ABIs have no larger red
/// zone).
constexpr std::uint64_t red_zone = 128;

target_address page_of(target_address address) {
  return target_address{address.value() & ~std::uint64_t{read_page_size - 1}};
}

}  // namespace

result<void> stack_copies::copy(std::span<const thread_registers> threads, std::vector<std::byte>& room) {
  stacks_.resize(threads.size());
  copied_ = true;
  missed_ = false;
  for (std::size_t first = 0; first < threads.size(); first += stacks_at_once) {
    if (auto read = copy_tops(threads, first, room); !read) return read;
  }
  return copy_rests(room);
}

/// Copies the innermost parts of `stacks_at_once` stacks with one call.
result<void> stack_copies::copy_tops(std::span<const thread_registers> threads, std::size_t first,
                                     std::vector<std::byte>& room) {
  const std::size_t count = std::min(stacks_at_once, threads.size() - first);
  room.resize(std::max(room.size(), count * copied_at_first));
  std::vector<memory_range> wanted;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t sp = threads[first + i].sp.value();
    const target_address begin = page_of(target_address{sp < red_zone ? 0 : sp - red_zone});
    wanted.push_back({begin, std::span(room).subspan(i * copied_at_first, copied_at_first)});
  }
  if (auto read = live_.read_ranges(wanted); !read) return read;
  for (std::size_t i = 0; i < count; ++i) {
    const auto there = wanted[i].into.first(wanted[i].got);
    stack& one = stacks_[first + i];
    one.begin = wanted[i].address;
    one.bytes.assign(there.begin(), there.end());
    one.whole = there.size() < copied_at_first;
  }
  return {};
}

/// Copies the rest of each stack, one after the other, within the common bound.
result<void> stack_copies::copy_rests(std::vector<std::byte>& room) {
  std::size_t left = most_copied;
  for (stack& one : stacks_) {
    if (one.whole || left < copied_at_first) continue;
    room.resize(std::max(room.size(), left));
    memory_range rest{one.begin + one.bytes.size(), std::span(room).first(left)};
    if (auto read = live_.read_ranges({&rest, 1}); !read) return read;
    one.whole = rest.got < left;
    const auto there = rest.into.first(rest.got);
    one.bytes.insert(one.bytes.end(), there.begin(), there.end());
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

std::span<const std::byte> stack_copies::from(target_address address) const {
  const stack* copy = holding(address);
  if (copy == nullptr) return {};
  return std::span(copy->bytes).subspan(static_cast<std::size_t>(address - copy->begin));
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
    // A read beyond the end of the stack's mapping gets no bytes from the process either. A read beyond the end of a
    // cut copy might.
    missed_ = missed_ || (range.got < range.into.size() && !copy->whole);
  }
  if (elsewhere.empty()) return {};
  auto read = live_.read_ranges(elsewhere);
  for (std::size_t i = 0; i < whose.size(); ++i) ranges[whose[i]].got = elsewhere[i].got;
  return read;
}

}  // namespace mpiacq
