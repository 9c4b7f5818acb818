// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "parts/awaited_ranks.hpp"

#include <algorithm>
#include <utility>

namespace mpiacq {

namespace {
/// A launcher starts its ranks within milliseconds.
constexpr std::chrono::milliseconds shortest_interval{10};
/// Until the first rank has been seen at its entry point.
constexpr std::chrono::milliseconds idle_interval{250};
/// A look may take this part of the time.
constexpr int share_of_looks = 4;
constexpr int idle_share_of_looks = 50;
}  // namespace

awaited_ranks::awaited_ranks(std::string_view environment) : inherited_(decode_launcher_statements(environment).all) {}

awaited_ranks::arrival awaited_ranks::at_entry(process_id process, std::string_view environment, deadline now) {
  if (ranks_.contains(process)) return {};
  arrival seen;
  for (const launcher_statement& one : decode_launcher_statements(environment).all) {
    const bool is_inherited = std::any_of(inherited_.begin(), inherited_.end(),
                                          [&](const launcher_statement& ours) { return one.is_same(ours); });
    if (is_inherited || !one.stated.rank) continue;
    seen.is_rank = true;
    seen.is_counted = seen.is_counted || one.local_size.has_value();
  }
  if (!seen.is_rank) return {};
  ranks_.insert(process);
  latest_ = now;
  return seen;
}

std::vector<process_id> awaited_ranks::take_overdue(deadline now) {
  if (held_.empty() || latest_ == no_deadline || now < latest_ + longest_hold) return {};
  const auto all = std::exchange(held_, {});
  return {all.begin(), all.end()};
}

bool awaited_ranks::is_to_be_reported(std::size_t ranks, rank_count count, deadline now) {
  if (ranks != seen_ || changed_ == no_deadline) {
    seen_ = ranks;
    changed_ = now;
  }
  if (ranks == 0) return false;
  if (count == rank_count::complete) return true;
  const clock::duration patience =
      count == rank_count::uncounted ? clock::duration(settle_time) : clock::duration(longest_wait);
  return now >= changed_ + patience;
}

clock::duration awaited_ranks::next_look(clock::duration cost) const {
  if (ranks_.empty()) return std::max<clock::duration>(idle_interval, idle_share_of_looks * cost);
  return std::max<clock::duration>(shortest_interval, share_of_looks * cost);
}

}  // namespace mpiacq
