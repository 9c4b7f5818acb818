// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "needs.hpp"

#include <algorithm>

namespace mpiacq::waits {

namespace {

/// Rows of numbers in one array: row i is [begin[i], begin[i + 1]).
struct rows {
  std::vector<std::size_t> begin;
  std::vector<std::size_t> values;

  /// `each(put)` calls put(row, value) for all numbers. It is called twice and must keep the order.
  template <class Each>
  rows(std::size_t count, Each each) : begin(count + 1, 0) {
    each([&](std::size_t row, std::size_t) { ++begin[row + 1]; });
    for (std::size_t i = 0; i < count; ++i) begin[i + 1] += begin[i];
    values.resize(begin[count]);
    std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
    each([&](std::size_t row, std::size_t value) { values[next[row]++] = value; });
  }
  [[nodiscard]] std::span<const std::size_t> operator[](std::size_t row) const {
    return std::span(values).subspan(begin[row], begin[row + 1] - begin[row]);
  }
};

/// Tarjan's algorithm without recursion: a chain of waits may be as long as the job is big.
class component_search {
 public:
  component_search(const rows& edges, std::size_t nodes)
      : edges_(edges), order_(nodes, 0), low_(nodes, 0), on_(nodes) {}

  /// Calls found(component) for each component that is reachable from here. A component comes after those it leads to.
  template <class Found>
  void from(needs::node start, Found found) {
    if (order_[start] != 0) return;
    open(start);
    while (!path_.empty()) {
      auto& [node, next] = path_.back();
      const auto to = edges_[node];
      if (next < to.size()) {
        const auto target = static_cast<needs::node>(to[next++]);
        if (order_[target] == 0) {
          open(target);
        } else if (on_[target]) {
          low_[node] = std::min(low_[node], order_[target]);
        }
        continue;
      }
      const needs::node done = node;
      path_.pop_back();
      if (!path_.empty()) low_[path_.back().node] = std::min(low_[path_.back().node], low_[done]);
      if (low_[done] == order_[done]) close(done, found);
    }
  }

 private:
  struct step {
    needs::node node;
    std::size_t next;
  };
  void open(needs::node node) {
    order_[node] = low_[node] = ++count_;
    on_[node] = true;
    stack_.push_back(node);
    path_.push_back({node, 0});
  }
  template <class Found>
  void close(needs::node root, Found found) {
    const auto begin = std::find(stack_.rbegin(), stack_.rend(), root).base() - 1;
    std::vector<needs::node> component(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    for (const needs::node node : component) on_[node] = false;
    found(std::move(component));
  }

  const rows& edges_;
  std::vector<std::size_t> order_, low_;
  std::vector<bool> on_;
  std::vector<needs::node> stack_;
  std::vector<step> path_;
  std::size_t count_ = 0;
};

}  // namespace

void needs::free(const std::vector<bool>& which) {
  std::erase_if(needs_, [&](const one_need& one) { return one.who < which.size() && which[one.who]; });
}

void needs::need(node who, std::span<const node> one_of) {
  const std::size_t first = members_.size();
  members_.insert(members_.end(), one_of.begin(), one_of.end());
  needs_.push_back({who, first, members_.size()});
}

std::vector<bool> needs::stuck() const {
  const rows needs_with(nodes_, [&](auto put) {
    for (std::size_t i = 0; i < needs_.size(); ++i) {
      for (std::size_t m = needs_[i].first; m < needs_[i].last; ++m) put(members_[m], i);
    }
  });
  std::vector<std::size_t> open(nodes_, 0);
  for (const one_need& need : needs_) ++open[need.who];
  std::vector<bool> met(needs_.size(), false), is_stuck(nodes_, true);
  std::vector<node> going;
  for (node i = 0; i < nodes_; ++i) {
    if (open[i] == 0) going.push_back(i);
  }
  while (!going.empty()) {
    const node next = going.back();
    going.pop_back();
    is_stuck[next] = false;
    for (const std::size_t need : needs_with[next]) {
      if (met[need]) continue;
      met[need] = true;
      if (--open[needs_[need].who] == 0) going.push_back(needs_[need].who);
    }
  }
  return is_stuck;
}

needs::knots needs::knots_among(const std::vector<bool>& stuck) const {
  // A node is stuck because of its unmet needs: all nodes of such a need are stuck.
  const rows edges(nodes_, [&](auto put) {
    for (const one_need& need : needs_) {
      if (!stuck[need.who]) continue;
      const auto first = members_.begin() + static_cast<std::ptrdiff_t>(need.first);
      const auto last = members_.begin() + static_cast<std::ptrdiff_t>(need.last);
      if (!std::all_of(first, last, [&](node member) { return stuck[member]; })) continue;
      std::for_each(first, last, [&](node member) { put(need.who, member); });
    }
  });
  knots found;
  found.of.assign(nodes_, knots::none);
  component_search search(edges, nodes_);
  for (node i = 0; i < nodes_; ++i) {
    if (!stuck[i]) continue;
    search.from(i, [&](std::vector<node> component) {
      const node any = component.front();
      const auto to = edges[any];
      if (component.size() == 1 && std::find(to.begin(), to.end(), any) == to.end()) {
        for (const std::size_t target : to) {
          if (found.of[any] == knots::none) found.of[any] = found.of[target];
        }
        return;
      }
      std::sort(component.begin(), component.end());
      for (const node member : component) found.of[member] = static_cast<std::uint32_t>(found.all.size());
      found.all.push_back(std::move(component));
    });
  }
  return found;
}

std::vector<needs::node> needs::only_needs() const {
  std::vector<node> found(nodes_);
  std::vector<std::size_t> count(nodes_, 0);
  for (const one_need& need : needs_) {
    count[need.who] += need.last - need.first == 1 ? 1U : 2U;
    if (need.last > need.first) found[need.who] = members_[need.first];
  }
  for (node i = 0; i < nodes_; ++i) {
    if (count[i] != 1) found[i] = i;
  }
  return found;
}

}  // namespace mpiacq::waits
