// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/ranks/stack_history.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "busy_ranks.hpp"
#include "mpiacq/ranks/tree_calls.hpp"
#include "rank_parts.hpp"

namespace mpiacq {

namespace {

/// A hostile job can have each rank at another place with a long name, in each sample.
constexpr std::size_t most_places = 1000;
constexpr std::size_t longest_name = 512;  // bytes

using place_key = std::tuple<mpi_call_kind, std::string, call_site>;

std::string shortened(const std::string& name) {
  return name.substr(0, longest_name);
}

/// The program's function where a stack with this innermost frame stands: the innermost one outside of the system's
/// modules, otherwise the innermost one with a name.
call_site function_at(const call_tree& tree, call_tree::node_number innermost) {
  call_site named;
  for (call_tree::node_number i = innermost; i != call_tree::root; i = tree[i].parent) {
    const auto& place = tree[i].place;
    if (!place || place->function.empty()) continue;
    call_site here{shortened(place->function), shortened(place->file), 0};
    if (!is_of_system(*place)) return here;
    if (!named.is_known()) named = std::move(here);
  }
  return named;
}

class places_of_sample {
 public:
  void add(mpi_call_kind kind, const std::string& function, call_site at, const rank_set& ranks) {
    if (ranks.empty()) return;
    place_key key{kind, shortened(function), std::move(at)};
    const auto known = places_.find(key);
    if (known != places_.end()) {
      known->second.add(ranks);
    } else if (places_.size() < most_places) {
      places_.emplace(std::move(key), ranks);
    } else {
      others_.add(ranks);
    }
  }
  [[nodiscard]] std::vector<rank_call> in_order() {
    std::vector<rank_call> all;
    all.reserve(places_.size() + 1);
    for (auto& [key, ranks] : places_) {
      all.push_back(
          {std::get<std::string>(key), std::get<mpi_call_kind>(key), std::move(ranks), std::get<call_site>(key)});
    }
    if (!others_.empty()) all.push_back({{}, mpi_call_kind::unknown, others_, {}});
    std::sort(all.begin(), all.end(),
              [](const rank_call& a, const rank_call& b) { return a.ranks.lowest() < b.ranks.lowest(); });
    return all;
  }

 private:
  std::map<place_key, rank_set> places_;
  rank_set others_;
};

std::vector<rank_call> places_in(const group_stacks& seen) {
  places_of_sample places;
  rank_set placed;
  for (const tree_call& made : calls_of_programs(seen.tree)) {
    const rank_set ranks = seen.tree[made.node].ranks.without(placed);
    placed.add(ranks);
    call_site at{shortened(made.call.at.function), shortened(made.call.at.file), made.call.at.line};
    places.add(made.call.kind, made.call.function, std::move(at), ranks);
  }
  for (call_tree::node_number i = 1; i < seen.tree.size(); ++i) {
    const rank_set ranks = seen.tree[i].standing.without(placed);
    if (ranks.empty()) continue;
    placed.add(ranks);
    call_site at = function_at(seen.tree, i);
    const mpi_call_kind kind = at.is_known() ? mpi_call_kind::none : mpi_call_kind::unknown;
    places.add(kind, {}, std::move(at), ranks);
  }
  places.add(mpi_call_kind::unknown, {}, {}, seen.taken.without(placed));
  return places.in_order();
}

/// The ranks that were at the same place.
rank_set ranks_at(const history_sample& sample, const rank_call& where) {
  // Ranks at unknown places are at no place in common.
  if (where.kind == mpi_call_kind::unknown) return {};
  for (const rank_call& place : sample.places) {
    if (place.kind == where.kind && place.function == where.function && place.at == where.at) return place.ranks;
  }
  return {};
}

}  // namespace

stack_history::stack_history(std::size_t most_samples) : most_(std::max<std::size_t>(most_samples, 1)) {}

void stack_history::look(rank_group& ranks, std::size_t ranks_at_once) {
  const deadline when = clock::now();
  group_stacks all;
  stack_options how;
  how.leave_stopped = true;
  for (const rank_set& part : watching::parts_of(ranks, std::max<std::size_t>(ranks_at_once, 1))) {
    how.ranks = selection_of(part);
    const group_stacks seen = ranks.stacks(how);
    all.tree.merge(seen.tree);
    all.taken.add(seen.taken);
  }
  add(all, when);
}

void stack_history::add(const group_stacks& seen, deadline when) {
  if (samples_.size() == most_) samples_.pop_front();
  samples_.push_back({when, places_in(seen)});
}

std::vector<rank_stay> stack_history::stays() const {
  std::vector<rank_stay> all;
  if (samples_.empty()) return all;
  const std::size_t last = samples_.size() - 1;
  for (const rank_call& place : samples_[last].places) {
    const auto note = [&](rank_set ranks, std::size_t first) {
      if (ranks.empty()) return;
      rank_call where = place;
      where.ranks = std::move(ranks);
      all.push_back({std::move(where), samples_[last].when - samples_[first].when, last - first + 1, first == 0});
    };
    rank_set left = place.ranks;
    std::size_t first = last;
    for (; first > 0 && !left.empty(); --first) {
      const rank_set stayed = left.both(ranks_at(samples_[first - 1], place));
      note(left.without(stayed), first);
      left = stayed;
    }
    note(left, first);
  }
  std::sort(all.begin(), all.end(), [](const rank_stay& a, const rank_stay& b) {
    return std::pair(b.samples, a.where.ranks.lowest()) < std::pair(a.samples, b.where.ranks.lowest());
  });
  return all;
}

}  // namespace mpiacq
