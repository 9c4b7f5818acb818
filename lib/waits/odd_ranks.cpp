// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Ranks that are elsewhere than most.
#include <algorithm>
#include <optional>
#include <utility>

#include "mpiacq/queues/queue_waits.hpp"

namespace mpiacq {

namespace {

bool counts(const rank_call& call) {
  return call.kind != mpi_call_kind::unknown && call.kind != mpi_call_kind::ended;
}

}  // namespace

std::optional<odd_ranks> find_odd_ranks(std::span<const rank_report> ranks) {
  std::size_t all = 0;
  odd_ranks found;
  for (rank_call& call : calls_of(ranks)) {
    if (!counts(call)) continue;
    all += call.ranks.count();
    if (call.ranks.count() > found.most.ranks.count()) found.most = std::move(call);
  }
  constexpr std::size_t fewest = 3;
  const std::size_t most = found.most.ranks.count();
  // If most ranks compute, the others are merely ahead of them or behind them.
  if (all < fewest || 2 * most <= all || most == all || found.most.kind == mpi_call_kind::none) return std::nullopt;
  for (rank_call& call : calls_by_site(ranks)) {
    if (counts(call) && call.function != found.most.function) found.others.push_back(std::move(call));
  }
  return found;
}

}  // namespace mpiacq
