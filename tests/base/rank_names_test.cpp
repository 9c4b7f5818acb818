// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/job/rank_names.hpp"

#include "catch.hpp"
#include "entries.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {
rank_set all_of(std::uint32_t count) {
  return *rank_set::parse("0-" + std::to_string(count - 1));
}
std::vector<rank_number> ranks(std::initializer_list<std::int32_t> numbers) {
  std::vector<rank_number> all;
  for (const std::int32_t number : numbers) all.emplace_back(number);
  return all;
}
}  // namespace

TEST_CASE("without worlds an entry is its rank") {
  const rank_names names;
  CHECK_FALSE(names.has_worlds());
  CHECK(names.of(entry_index{3}) == "3");
  CHECK(names.rank(entry_index{3}) == rank_number{3});
  CHECK(names.text(*rank_set::parse("0-3,7")) == "0-3,7");
  CHECK(names.selected(*rank_selection::parse("1-2,9"), 4) == entries({1, 2}));
}

TEST_CASE("with one world, ranks are named by their numbers alone, which may differ from their indices") {
  const rank_names names({0, 0, 0}, ranks({1, 2, 5}));
  CHECK_FALSE(names.has_worlds());
  CHECK(names.of(entry_index{0}) == "1");
  CHECK(names.text(all_of(3)) == "1-2,5");
  CHECK(names.selected(*rank_selection::parse("2-5"), 3) == entries({1, 2}));
}

TEST_CASE("the names of ranks of several worlds differ") {
  const rank_names names({0, 0, 1, 1, rank_names::no_world, rank_names::no_world}, ranks({0, 1, 2, 3, 4, -1}));
  CHECK(names.has_worlds());
  CHECK(names.of(entry_index{3}) == "1:3");
  CHECK(names.of(entry_index{4}) == "?:4");
  CHECK(names.text(all_of(6)) == "0:0-1,1:2-3,?:4,?:-1");
  CHECK(names.text({}) == "");
  CHECK(names.selected(*rank_selection::parse("1:3,0:0"), 6) == entries({0, 3}));
  CHECK(names.selected(rank_selection{}, 6).size() == 6);
  CHECK(names.selected(*rank_selection::parse("1-2"), 6) == entries({1, 2}));
}
