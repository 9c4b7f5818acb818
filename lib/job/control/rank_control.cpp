// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "control/rank_control.hpp"

#include <map>
#include <utility>

#include "mpiacq/process/process_user.hpp"

namespace mpiacq {

std::vector<result<void>> rank_control::attach_to(std::span<const process_id> ranks, tracer& control,
                                                  const std::function<result<void>(process_id)>& begin) const {
  std::vector<attach_target> targets;
  std::vector<std::size_t> places;
  std::vector<result<void>> outcomes(ranks.size());
  std::map<process_id, std::size_t> first_place;  // a table may name a process twice
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (!first_place.try_emplace(ranks[i], i).second || holds(ranks[i])) continue;
    if (auto why = user() ? why_no_rank(ranks[i], *user()) : std::nullopt) {
      outcomes[i] = fail(std::move(*why));
      continue;
    }
    targets.push_back({ranks[i], {}, user()});
    places.push_back(i);
  }
  auto attached = control.attach_all(targets);
  for (std::size_t i = 0; i < places.size(); ++i) {
    outcomes[places[i]] = attached[i] ? begin(ranks[places[i]]) : std::move(attached[i]);
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) outcomes[i] = outcomes[first_place.at(ranks[i])];
  return outcomes;
}

bool rank_control::is_gone(const process_event& event) {
  return std::holds_alternative<process_ended>(event.what) || std::holds_alternative<control_lost>(event.what);
}

}  // namespace mpiacq
