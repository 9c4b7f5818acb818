// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "types/layouts.hpp"

#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace mpiacq::carriers {

namespace {

constexpr std::string_view openmpi_4_0 =
#include "types/layouts/openmpi-4.0.inc"
    ;
constexpr std::string_view openmpi_4_1 =
#include "types/layouts/openmpi-4.1.inc"
    ;
constexpr std::string_view openmpi_5_0 =
#include "types/layouts/openmpi-5.0.inc"
    ;
constexpr std::string_view openmpi_6_0 =
#include "types/layouts/openmpi-6.0.inc"
    ;
constexpr std::array all_texts = {openmpi_4_0, openmpi_4_1, openmpi_5_0, openmpi_6_0};

std::string_view take(std::string_view& from, char until) {
  const std::size_t end = std::min(from.find(until), from.size());
  const std::string_view part = from.substr(0, end);
  from.remove_prefix(std::min(end + 1, from.size()));
  return part;
}

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, why] = std::from_chars(text.data(), text.data() + text.size(), value);
  return why == std::errc{} && end == text.data() + text.size() ? std::optional{value} : std::nullopt;
}

/// Adds the contents of a line. Returns false for a line of unknown form.
bool take_line(std::string_view line, release_layouts& into) {
  const std::string_view first = take(line, ' '), second = take(line, ' '), third = take(line, ' ');
  if (first == "struct") {
    const auto size = number_in(third);
    if (second.empty() || !size || !line.empty()) return false;
    into.types.emplace_back();
    into.types.back().name = second;
    into.types.back().size = *size;
    return true;
  }
  const auto offset = number_in(second), size = number_in(third);
  if (first.empty() || !offset || !size || (line != "p" && line != "s" && line != "-") || into.types.empty()) {
    return false;
  }
  into.types.back().members.push_back({std::string(first), *offset, *size, line == "p", line == "s"});
  return true;
}

}  // namespace

result<release_layouts> parse_layouts(std::string_view text) {
  release_layouts found;
  std::string_view head = take(text, '\n');
  found.mpi = take(head, ' ');
  found.version = take(head, ' ');
  found.machine = head;
  bool is_good = !found.mpi.empty() && !found.version.empty() && !found.machine.empty();
  std::string_view line = "the first line";
  while (is_good && !text.empty()) is_good = take_line(line = take(text, '\n'), found);
  if (is_good) return found;
  return fail(error_code::bad_format, fmt::format("the layouts of types cannot be read: \"{}\"", line));
}

std::span<const std::string_view> built_in_layouts() {
  return all_texts;
}

}  // namespace mpiacq::carriers
