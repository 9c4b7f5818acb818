// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Names in a string table that comes in pieces, compared with a search at every place of the whole table.
#include "elf/name_spellings.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <utility>

#include "catch.hpp"

using namespace mpiacq::elf;

namespace {

using spelled_places = std::vector<std::pair<std::uint64_t, std::size_t>>;

spelled_places found_in_pieces(const std::string& table, std::span<const std::string_view> names, std::size_t piece) {
  spelling_search search{names};
  for (std::size_t done = 0; done < table.size(); done += piece) {
    const std::size_t begin = done - std::min(done, search.overlap());
    const std::size_t end = std::min(done + piece, table.size());
    search.look(begin, std::as_bytes(std::span{table}.subspan(begin, end - begin)), done - begin);
  }
  spelled_places all;
  for (const spelling& s : search.take()) all.emplace_back(s.offset, s.name);
  return all;
}

spelled_places found_by_trying(const std::string& table, std::span<const std::string_view> names) {
  spelled_places all;
  for (std::size_t at = 0; at < table.size(); ++at) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!names[i].empty() && table.compare(at, names[i].size() + 1, std::string(names[i]) + '\0') == 0) {
        all.emplace_back(at, i);
      }
    }
  }
  return all;
}

}  // namespace

TEST_CASE("a name is found as a whole string, and as the tail of a string") {
  using namespace std::string_literals;
  const std::array<std::string_view, 4> names{"MPIR_Breakpoint", "point", "it", ""};
  const std::string table = "\0MPIR_Breakpoint\0xpoint\0MPIR_Breakpoints\0it"s;  // the last name has no end
  const spelled_places expected{{1, 0}, {11, 1}, {18, 1}};
  CHECK(found_in_pieces(table, names, table.size()) == expected);
  CHECK(found_in_pieces(table + '\0', names, table.size()) == spelled_places{{1, 0}, {11, 1}, {18, 1}, {41, 2}});
}

TEST_CASE("a name that crosses two pieces of a table is found") {
  std::mt19937 random{20070101};
  // Few letters, so that names occur often, in full or in part.
  const auto letters = [&](std::size_t most) {
    std::string text(random() % (most + 1), ' ');
    for (char& c : text) c = static_cast<char>('a' + random() % 2);
    return text;
  };
  for (int round = 0; round < 200; ++round) {
    std::string table;
    for (std::size_t strings = random() % 40; strings > 0; --strings) table += letters(9) + '\0';
    table += letters(3);
    std::array<std::string, 5> kept;
    for (std::string& name : kept) name = letters(7);
    const std::vector<std::string_view> names(kept.begin(), kept.end());
    const auto expected = found_by_trying(table, names);
    for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, std::size_t{16}, table.size() + 1}) {
      CAPTURE(round, piece);
      CHECK(found_in_pieces(table, names, piece) == expected);
    }
  }
}

TEST_CASE("a filter excludes no member, and most other numbers") {
  number_filter filter;
  for (std::uint32_t i = 0; i < 26; ++i) filter.add(i * 977);
  for (std::uint32_t i = 0; i < 26; ++i) CHECK(filter.may_have(i * 977));
  int passed = 0;
  for (std::uint32_t i = 0; i < 100000; ++i) passed += filter.may_have(i * 31 + 7) ? 1 : 0;
  CHECK(passed < 3000);
}
