// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "arguments/value_ranges.hpp"

#include <algorithm>

namespace mpiacq::unwinding {

namespace {

/// The chains of extensions and additions that compilers make are shorter.
constexpr std::size_t deepest_range = 16;

constexpr std::uint64_t largest_of(unsigned bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

/// The numbers of `of` plus `number`. Empty: some of the sums do not fit into 64 bits, others do.
std::optional<value_ranges::range> moved(const value_ranges::range& of, std::uint64_t number) {
  const value_ranges::range sums{of.low + number, of.high + number};
  return sums.low <= sums.high ? std::optional{sums} : std::nullopt;
}

}  // namespace

void value_ranges::narrow(value_id id, const range& to) {
  const auto [known, is_new] = ranges_.try_emplace(id, to);
  if (is_new) return;
  known->second.low = std::max(known->second.low, to.low);
  known->second.high = std::min(known->second.high, to.high);
}

void value_ranges::limit(const value_graph& values, value_id id, std::uint64_t high) {
  if (id == unknown_value) return;
  narrow(id, {0, high});
  const value_node& node = values[id];
  if (node.kind != value_kind::offset) return;
  if (const auto base = moved({0, high}, 0 - node.number)) narrow(node.left, *base);
}

std::optional<value_ranges::range> value_ranges::of(value_graph& values, value_id id, std::size_t depth) const {
  if (const auto known = ranges_.find(id); known != ranges_.end()) return known->second;
  if (depth > deepest_range) return std::nullopt;
  const value_node node = values[id];
  switch (node.kind) {
    case value_kind::constant:
      return range{node.number, node.number};
    case value_kind::load:
      return node.bits < 64 ? std::optional{range{0, largest_of(node.bits)}} : std::nullopt;
    case value_kind::zero_extended: {
      const auto whole = of(values, node.left, depth + 1);
      return whole && whole->high <= largest_of(node.bits) ? *whole : range{0, largest_of(node.bits)};
    }
    case value_kind::sign_extended: {
      // The sign of a number below half of its range is 0.
      const auto low_part = of(values, values.zero_extended(node.left, node.bits), depth + 1);
      return low_part && low_part->high <= largest_of(node.bits) / 2 ? low_part : std::nullopt;
    }
    case value_kind::offset: {
      const auto base = of(values, node.left, depth + 1);
      return base ? moved(*base, node.number) : std::nullopt;
    }
    case value_kind::bits_of_both:
      for (const value_id part : {node.left, node.right}) {
        if (values[part].kind == value_kind::constant) return range{0, values[part].number};
      }
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace mpiacq::unwinding
