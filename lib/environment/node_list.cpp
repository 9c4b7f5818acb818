// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "node_list.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "errors/try.hpp"
#include "mpiacq/base/host_names.hpp"

namespace mpiacq {

namespace {

constexpr std::size_t longest_list = std::size_t{1} << 20;  // bytes
constexpr std::size_t most_parts = 16;                      // of one name
constexpr std::size_t most_digits = 18;

struct number_range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::size_t width = 1;  ///< with zeros in front
};

/// Text, followed by one number of some ranges; without ranges by nothing.
struct name_part {
  std::string_view text;
  std::vector<number_range> ranges;
};

error no_list(std::string_view list, std::string_view why) {
  constexpr std::size_t shown = 64;
  return {error_code::bad_format,
          fmt::format("'{}{}' is no list of nodes: {}", list.substr(0, shown), list.size() > shown ? "..." : "", why)};
}

std::optional<std::uint64_t> number_in(std::string_view digits) {
  std::uint64_t number = 0;
  if (digits.empty() || digits.size() > most_digits) return std::nullopt;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return problem == std::errc{} && end == digits.data() + digits.size() ? std::optional{number} : std::nullopt;
}

result<number_range> range_in(std::string_view text) {
  const std::size_t dash = text.find('-');
  const std::string_view first = text.substr(0, dash);
  const auto from = number_in(first);
  const auto to = dash == std::string_view::npos ? from : number_in(text.substr(dash + 1));
  if (!from || !to || *to < *from) return fail(no_list(text, "it has a range without numbers in order"));
  return number_range{*from, *to, first.size()};
}

/// The part of a list before its first comma outside of brackets, which is taken off.
std::string_view take_item(std::string_view& list) {
  bool is_inside = false;
  std::size_t end = 0;
  for (; end < list.size(); ++end) {
    if (list[end] == '[') is_inside = true;
    if (list[end] == ']') is_inside = false;
    if (list[end] == ',' && !is_inside) break;
  }
  const std::string_view item = list.substr(0, end);
  list.remove_prefix(std::min(end + 1, list.size()));
  return item;
}

result<std::vector<name_part>> parts_of(std::string_view item) {
  std::vector<name_part> parts;
  const std::string_view whole = item;
  while (!item.empty()) {
    if (parts.size() == most_parts) return fail(no_list(whole, "a name has too many ranges"));
    const std::size_t open = item.find('[');
    name_part& part = parts.emplace_back(name_part{item.substr(0, open), {}});
    if (open == std::string_view::npos) break;
    const std::size_t close = item.find(']', open);
    if (close == std::string_view::npos) return fail(no_list(whole, "a bracket is not closed"));
    std::string_view ranges = item.substr(open + 1, close - open - 1);
    do {
      const std::size_t comma = std::min(ranges.find(','), ranges.size());
      part.ranges.push_back(TRY(range_in(ranges.substr(0, comma))));
      ranges.remove_prefix(std::min(comma + 1, ranges.size()));
    } while (!ranges.empty());
    item.remove_prefix(close + 1);
  }
  return parts;
}

/// How many names these parts stand for, or a number above `most`.
std::size_t count_of(const std::vector<name_part>& parts, std::size_t most) {
  std::size_t count = 1;
  for (const name_part& part : parts) {
    if (part.ranges.empty()) continue;
    std::size_t numbers = 0;
    for (const number_range& one : part.ranges) {
      if (one.last - one.first >= most) return most + 1;
      numbers += static_cast<std::size_t>(one.last - one.first + 1);
      if (numbers > most) return most + 1;
    }
    count *= numbers;  // each factor is at most `most`, which is far below the square root of the largest number
    if (count > most) return most + 1;
  }
  return count;
}

std::vector<std::string> names_of(const std::vector<name_part>& parts) {
  std::vector<std::string> names = {""};
  for (const name_part& part : parts) {
    std::vector<std::string> longer;
    for (const std::string& name : names) {
      if (part.ranges.empty()) longer.push_back(name + std::string(part.text));
      for (const number_range& range : part.ranges) {
        for (std::uint64_t n = range.first; n <= range.last; ++n) {
          longer.push_back(fmt::format("{}{}{:0{}}", name, part.text, n, range.width));
        }
      }
    }
    names = std::move(longer);
  }
  return names;
}

}  // namespace

result<std::vector<std::string>> expand_node_list(std::string_view list, std::size_t most) {
  const std::string_view whole = list;
  if (list.size() > longest_list) return fail(no_list(list, "it is too long"));
  std::vector<std::string> all;
  while (!list.empty()) {
    const auto parts = TRY(parts_of(take_item(list)));
    if (count_of(parts, most) > most - all.size()) {
      return fail(error_code::limit, fmt::format("a list of nodes stands for more than {} names", most));
    }
    for (std::string& name : names_of(parts)) {
      if (!is_host_name(name)) return fail(no_list(whole, "not all of it are names of hosts"));
      all.push_back(std::move(name));
    }
  }
  return all;
}

}  // namespace mpiacq
