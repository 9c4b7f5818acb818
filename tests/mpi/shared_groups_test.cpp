// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "objects/shared_groups.hpp"

#include <numeric>
#include <vector>

#include "catch.hpp"

using namespace mpiacq;

namespace {

queue_communicator with_group(std::vector<std::int64_t> group) {
  queue_communicator one;
  one.group = group_members(std::move(group));
  return one;
}

}  // namespace

TEST_CASE("shared groups: equal groups have one list") {
  shared_groups groups;
  queue_communicator first = with_group({1, 2}), other = with_group({2, 1}), again = with_group({1, 2});
  again.remote_group = group_members{2, 1};
  for (queue_communicator* one : {&first, &other, &again}) groups.share(*one);
  CHECK(again.group->list() == first.group->list());
  CHECK(again.remote_group->list() == other.group->list());
  CHECK(other.group == group_members{2, 1});
}

TEST_CASE("shared groups: a group that does not fit beside the others is left out") {
  shared_groups groups;
  std::vector<std::int64_t> numbers(shared_groups::most_members - 1);
  std::iota(numbers.begin(), numbers.end(), 0);
  queue_communicator large = with_group(numbers), small = with_group({0, 1}), last = with_group({5});
  groups.share(large);
  groups.share(small);
  groups.share(last);
  CHECK(large.group);
  CHECK_FALSE(small.group);
  CHECK(last.group);
  queue_communicator again = with_group(numbers);
  groups.share(again);
  CHECK(again.group);
}
