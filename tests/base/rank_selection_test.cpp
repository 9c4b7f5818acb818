// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/ranks/rank_selection.hpp"

#include "catch.hpp"

using namespace mpiacq;

TEST_CASE("ranks are selected as people write them") {
  const auto some = rank_selection::parse("8,0-3,2-5,10-10");
  REQUIRE(some.has_value());
  CHECK(some->text() == "0-5,8,10");
  CHECK(some->among(10) == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 8});
  CHECK(some->highest() == 10);
  CHECK_FALSE(some->contains(entry_index{6}));
  CHECK_FALSE(some->contains(entry_index{11}));
  CHECK_FALSE(some->is_all());
  CHECK(rank_selection::parse("1,2,0")->text() == "0-2");
  CHECK(rank_selection::parse("4294967294")->contains(entry_index{4294967294U}));
}

TEST_CASE("a selection can be all ranks") {
  CHECK(rank_selection{}.is_all());
  CHECK(rank_selection::parse("all")->contains(entry_index{77}));
  CHECK(rank_selection::parse("all")->text() == "all");
  CHECK(rank_selection{}.among(3) == std::vector<std::uint32_t>{0, 1, 2});
}

TEST_CASE("an invalid selection is refused, and the error has the invalid part") {
  for (const char* wrong : {"", ",", "1,", "3-1", "-1", "1-", "x", "1 2", "0x1", "4294967295", "99999999999", "1--2"}) {
    INFO(wrong);
    const auto parsed = rank_selection::parse(wrong);
    REQUIRE_FALSE(parsed.has_value());
    CHECK(parsed.error().code == error_code::invalid_argument);
  }
  CHECK_THAT(rank_selection::parse("0-3,x").error().message, ContainsSubstring("'x' in the selection '0-3,x'"));
}

TEST_CASE("a selection with a world number selects ranks of that world, others select in each world") {
  const auto some = rank_selection::parse("1:4-5,0-1,1:all,2:3");
  REQUIRE(some.has_value());
  CHECK(some->text() == "0-1,1:all,2:3");
  CHECK(some->contains(0, rank_number{1}));
  CHECK(some->contains(7, rank_number{0}));
  CHECK_FALSE(some->contains(0, rank_number{3}));
  CHECK(some->contains(1, rank_number{99}));
  CHECK(some->contains(2, rank_number{3}));
  CHECK_FALSE(some->contains(2, rank_number{4}));
  CHECK(rank_selection::parse("0:2")->contains(entry_index{2}));
  for (const char* wrong : {":1", "1:", "a:1", "1:2:3", "-1:0", "1:x", "1:all-3", "all,1:1"}) {
    INFO(wrong);
    CHECK_FALSE(rank_selection::parse(wrong).has_value());
  }
}
