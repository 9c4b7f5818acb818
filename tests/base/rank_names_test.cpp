// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/job/rank_names.hpp"

#include "catch.hpp"

using namespace mpiacq;

namespace {
rank_set all_of(std::uint32_t count) {
  return *rank_set::parse("0-" + std::to_string(count - 1));
}
}  // namespace

TEST_CASE("without worlds an entry is its rank") {
  const rank_names names;
  CHECK_FALSE(names.has_worlds());
  CHECK(names.of(3) == "3");
  CHECK(names.rank(3) == 3);
  CHECK(names.text(*rank_set::parse("0-3,7")) == "0-3,7");
  CHECK(names.selected(*rank_selection::parse("1-2,9"), 4) == std::vector<std::uint32_t>{1, 2});
}

TEST_CASE("with one world, ranks are named by their numbers alone, which may differ from their indices") {
  const rank_names names({0, 0, 0}, {1, 2, 5});
  CHECK_FALSE(names.has_worlds());
  CHECK(names.of(0) == "1");
  CHECK(names.text(all_of(3)) == "1-2,5");
  CHECK(names.selected(*rank_selection::parse("2-5"), 3) == std::vector<std::uint32_t>{1, 2});
}

TEST_CASE("the names of ranks of several worlds differ") {
  const rank_names names({0, 0, 1, 1, rank_names::no_world, rank_names::no_world}, {0, 1, 2, 3, 4, -1});
  CHECK(names.has_worlds());
  CHECK(names.of(3) == "1:3");
  CHECK(names.of(4) == "?:4");
  CHECK(names.text(all_of(6)) == "0:0-1,1:2-3,?:4,?:-1");
  CHECK(names.text({}) == "");
  CHECK(names.selected(*rank_selection::parse("1:3,0:0"), 6) == std::vector<std::uint32_t>{0, 3});
  CHECK(names.selected(rank_selection{}, 6).size() == 6);
  CHECK(names.selected(*rank_selection::parse("1-2"), 6) == std::vector<std::uint32_t>{1, 2});
}
