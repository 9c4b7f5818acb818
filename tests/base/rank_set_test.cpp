// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/ranks/rank_set.hpp"

#include <random>
#include <set>

#include "catch.hpp"

using namespace mpiacq;

namespace {

rank_set set_of(const std::set<std::uint32_t>& ranks) {
  rank_set made;
  for (const std::uint32_t rank : ranks) made.add(rank);
  return made;
}

}  // namespace

TEST_CASE("a rank set is written as ranges and read again") {
  CHECK(rank_set{}.text().empty());
  CHECK(rank_set{7}.text() == "7");
  CHECK(set_of({0, 1, 2, 3, 7}).text() == "0-3,7");
  CHECK(rank_set::parse("7,0-3")->text() == "0-3,7");
  CHECK(rank_set::parse("")->empty());
  CHECK(rank_set::parse("0-3,7").value() == set_of({0, 1, 2, 3, 7}));
  for (const char* wrong : {",", "1,", "3-1", "x", "1-", "-1", "4294967295", "0-4294967295", " 1"}) {
    CAPTURE(wrong);
    const auto parsed = rank_set::parse(wrong);
    REQUIRE(!parsed);
    CHECK(parsed.error().code == error_code::invalid_argument);
  }
}

TEST_CASE("rank sets at the ends of the numbers") {
  const rank_set all = rank_set::parse("0-4294967294").value();
  CHECK(all.count() == 4294967295U);
  CHECK(all.without(rank_set{0}).text() == "1-4294967294");
  CHECK(all.without(rank_set{4294967294}).text() == "0-4294967293");
  CHECK(all.without(all).empty());
  CHECK(all.both(rank_set{5}).text() == "5");
  CHECK(rank_set{}.lowest() == UINT32_MAX);
}

TEST_CASE("rank sets behave as sets of numbers") {
  std::mt19937 source(4);  // NOLINT: the same numbers in every run
  const auto random = [&] { return static_cast<std::uint32_t>(source()); };
  for (int round = 0; round < 2000; ++round) {
    std::set<std::uint32_t> a, b;
    const std::uint32_t reach = 1 + random() % 40;
    for (std::uint32_t i = random() % 30; i > 0; --i) a.insert(random() % reach);
    for (std::uint32_t i = random() % 30; i > 0; --i) b.insert(random() % reach);
    rank_set mine;
    for (std::size_t i = 0; i < 2 * a.size(); ++i)
      mine.add(*std::next(a.begin(), static_cast<long>(random() % a.size())));
    mine.add(set_of(a));
    CHECK(mine == set_of(a));
    CHECK(mine.count() == a.size());

    std::set<std::uint32_t> either = a, common, rest;
    either.insert(b.begin(), b.end());
    for (const auto rank : a) (b.contains(rank) ? common : rest).insert(rank);
    CHECK(set_of(a).both(set_of(b)) == set_of(common));
    CHECK(set_of(a).without(set_of(b)) == set_of(rest));
    mine.add(set_of(b));
    CHECK(mine == set_of(either));
    CHECK(mine.contains(reach / 2) == either.contains(reach / 2));
    CHECK(rank_set::parse(mine.text()).value() == mine);
  }
}

TEST_CASE("each rank of a set is visited once and in order, also the highest number") {
  std::vector<std::uint32_t> visited;
  const auto visit = [&](entry_index rank) { visited.push_back(rank.value()); };
  rank_set().for_each(visit);
  CHECK(visited.empty());
  rank_set set = set_of({0, 1, 7});
  set.add(UINT32_MAX);
  set.for_each(visit);
  CHECK(visited == std::vector<std::uint32_t>{0, 1, 7, UINT32_MAX});
}
