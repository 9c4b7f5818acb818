// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "tree/reducer.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace mpiacq::agents {

namespace {

template <class T>
void append(std::vector<T>& all, std::vector<T>&& more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

void merge(answer_body& into, answer_body&& other) {
  std::visit(
      [&other](auto& first) {
        using part = std::remove_reference_t<decltype(first)>;
        auto* same = std::get_if<part>(&other);
        if (same == nullptr) return;
        if constexpr (std::is_same_v<part, visits_part> || std::is_same_v<part, job_ranks_part>) {
          append(first.of, std::move(same->of));
        } else {
          mpiacq::merge(first, std::move(*same));
        }
      },
      into);
}

bool reducer::add(answer&& part) {
  // A lost agent stays lost, whichever question was open when its parent noticed.
  if (part.number != number_ && part.what) return false;
  if (part.what) {
    // An agent that answers is there, or is there again.
    const auto answers = [&](const agent_problem& one) { return part.agents.contains(one.agent); };
    std::erase_if(problems_, answers);
    std::erase_if(reported_, answers);
  }
  append(problems_, std::move(part.problems));
  if (part.agents.empty() || !part.what) return !problems_.empty();
  const rank_set added = part.agents.without(covered_);
  if (added.empty()) return false;
  if (added != part.agents) {
    // Both ends of a connection took the other for lost, and neither was. This is rare.
    problems_.push_back(
        {added.lowest(), error{error_code::busy, fmt::format("the answer of agents {} arrived together with answers "
                                                             "that were already counted, and was left out",
                                                             added.text())}});
    return true;
  }
  covered_.add(part.agents);
  fresh_.add(part.agents);
  if (body_) {
    merge(*body_, std::move(*part.what));
  } else {
    body_ = std::move(part.what);
  }
  return true;
}

std::optional<answer> reducer::take_problems() {
  if (problems_.empty()) return std::nullopt;
  reported_.insert(reported_.end(), problems_.begin(), problems_.end());
  return answer{number_, {}, std::exchange(problems_, {}), std::nullopt};
}

answer reducer::take() {
  std::erase_if(reported_, [this](const agent_problem& one) { return !fresh_.contains(one.agent); });
  append(problems_, std::exchange(reported_, {}));
  return {number_, std::exchange(fresh_, {}), std::exchange(problems_, {}), take_body()};
}

reducer::news reducer::take_news() {
  return {std::exchange(fresh_, {}), std::exchange(problems_, {})};
}

std::optional<answer_body> reducer::take_body() {
  return std::exchange(body_, std::nullopt);
}

}  // namespace mpiacq::agents
