// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "tree/reducer.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "tree/queue_budget.hpp"

namespace mpiacq::agents {

namespace {

/// A person reads these one by one.
constexpr std::size_t most_problems = 1000;

template <class T>
void append(std::vector<T>& all, std::vector<T>&& more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// Many nodes report the same problem, such as an unreadable debug file. It is kept once.
void append_new(std::vector<error>& all, std::vector<error>&& more) {
  for (error& one : more) {
    const bool known = std::any_of(all.begin(), all.end(), [&](const error& e) { return e.message == one.message; });
    if (!known && all.size() < most_problems) all.push_back(std::move(one));
  }
}

/// There may be as many reasons as ranks: a map finds equal ones.
void append_refused(std::vector<refused_part>& all, std::vector<refused_part>&& more) {
  if (more.empty()) return;
  std::map<std::pair<error_code, std::string>, std::size_t> places;
  for (std::size_t i = 0; i < all.size(); ++i) places.try_emplace({all[i].why.code, all[i].why.message}, i);
  for (refused_part& one : more) {
    const auto [known, is_new] = places.try_emplace({one.why.code, one.why.message}, all.size());
    if (is_new) {
      all.push_back(std::move(one));
    } else {
      all[known->second].ranks.add(one.ranks);
    }
  }
}

void merge_into(hold_part& into, hold_part&& other) {
  into.held.add(other.held);
  append(into.others, std::move(other.others));
}

void merge_into(release_part& into, release_part&& other) {
  into.released.add(other.released);
  append_refused(into.refused, std::move(other.refused));
}

void merge_into(gates_part& into, gates_part&& other) {
  into.open.add(other.open);
  into.without.add(other.without);
  append_refused(into.refused, std::move(other.refused));
}

void merge_into(stacks_part& into, stacks_part&& other) {
  into.tree.merge(other.tree);
  into.taken.add(other.taken);
  append_refused(into.refused, std::move(other.refused));
  into.held_for = std::max(into.held_for, other.held_for);
  append_new(into.problems, std::move(other.problems));
}

/// In the order of ranks. If both have a rank, the report in `into` stays. The reports together stay within their
/// bound.
void merge_into(node_queues& into, node_queues&& other) {
  node_queues all;
  const auto take = [&all](node_queues& from, std::size_t i) {
    if (!all.ranks.empty() && all.ranks.back().rank == from.ranks[i].rank) return;
    all.ranks.push_back(std::move(from.ranks[i]));
    all.doing.push_back(std::move(from.doing[i]));
    all.pml.push_back(std::move(from.pml[i]));
  };
  std::size_t a = 0, b = 0;
  while (a < into.ranks.size() || b < other.ranks.size()) {
    const bool first = b == other.ranks.size() || (a < into.ranks.size() && into.ranks[a].rank <= other.ranks[b].rank);
    first ? take(into, a++) : take(other, b++);
  }
  into.ranks = std::move(all.ranks);
  into.doing = std::move(all.doing);
  into.pml = std::move(all.pml);
  into.held_for = std::max(into.held_for, other.held_for);
  into.stopped = into.stopped || other.stopped;
  for (std::string& note : other.notes) {
    if (into.notes.size() < most_problems && std::find(into.notes.begin(), into.notes.end(), note) == into.notes.end())
      into.notes.push_back(std::move(note));
  }
  append_new(into.problems, std::move(other.problems));
  keep_within(into, most_bytes_of(into.ranks.size()));
}

void merge_into(visits_part& into, visits_part&& other) {
  append(into.of, std::move(other.of));
}

}  // namespace

void merge(answer_body& into, answer_body&& other) {
  std::visit(
      [&other](auto& first) {
        if (auto* same = std::get_if<std::remove_reference_t<decltype(first)>>(&other))
          merge_into(first, std::move(*same));
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
