// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Ranks that are elsewhere than most.
#include "catch.hpp"
#include "made_calls.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// In these calls; "" is no call, "?" a call that is not known. "nccl..." stands for a call of another library.
std::vector<rank_report> ranks_in(const std::vector<std::string>& functions) {
  std::vector<rank_report> ranks;
  for (std::uint32_t rank = 0; rank < functions.size(); ++rank) {
    rank_report made{entry_index{rank}, process_id{100 + rank}, fail(error_code::unsupported, "no queue library")};
    const std::string& function = functions[rank];
    made.doing.function = function == "?" ? "" : function;
    made.doing.kind = function == "?"       ? mpi_call_kind::unknown
                      : function.empty()    ? mpi_call_kind::none
                      : function == "ended" ? mpi_call_kind::ended
                                            : mpi_call_kind::other;
    ranks.push_back(std::move(made));
  }
  return ranks;
}

}  // namespace

TEST_CASE("ranks that are not in the call of most are odd") {
  auto ranks = ranks_in({"ncclAllReduce", "ncclAllReduce", "", "ncclAllReduce", "ncclBroadcast"});
  ranks[2].doing.at = {"solve", "/src/solver.c", 88};
  const auto found = find_odd_ranks(ranks);
  REQUIRE(found);
  CHECK(found->most.function == "ncclAllReduce");
  CHECK(found->most.ranks.text() == "0-1,3");
  REQUIRE(found->others.size() == 2);
  CHECK(found->others[0].ranks.text() == "2");
  CHECK(found->others[0].at.line == 88);
  CHECK(found->others[1].function == "ncclBroadcast");
}

TEST_CASE("no rank is odd if all are in one call, or no call has a majority") {
  for (const auto& functions : std::vector<std::vector<std::string>>{
           {}, {"a"}, {"a", "b"}, {"a", "a", "a"}, {"a", "a", "b", "b"}, {"", "", "", "a"}, {"?", "?", "?", "a"}}) {
    CHECK_FALSE(find_odd_ranks(ranks_in(functions)));
  }
}

TEST_CASE("ranks that have ended or whose calls are not known are not odd") {
  CHECK_FALSE(find_odd_ranks(ranks_in({"a", "a", "a", "?", "ended"})));
  const auto found = find_odd_ranks(ranks_in({"a", "a", "b", "?", "?", "ended"}));
  REQUIRE(found);
  CHECK(found->others.size() == 1);
}
