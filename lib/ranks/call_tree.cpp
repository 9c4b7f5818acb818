// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/ranks/call_tree.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace mpiacq {

namespace {

/// The label of a frame is twice the number of its place, plus one if it is inlined. The labels of ends are larger than
/// all of these.
constexpr std::uint32_t first_end_label = UINT32_MAX - 15;

std::size_t mixed(std::size_t a, std::size_t b) {
  return a * 1099511628211U ^ b;
}

}  // namespace

std::size_t call_tree::by_content::operator()(const code_place* place) const {
  const std::size_t names = mixed(std::hash<std::string>{}(place->function), std::hash<std::string>{}(place->file));
  const std::size_t numbers = mixed(place->line, std::hash<std::uint64_t>{}(place->offset.value()));
  return mixed(mixed(names, numbers), std::hash<std::string>{}(place->module_path));
}

call_tree::call_tree() : nodes_(1), links_(1) {}

result<call_tree> call_tree::of_nodes(std::vector<node> nodes, std::size_t samples) {
  const auto wrong = [](std::size_t number, std::string_view what) {
    return fail(error_code::bad_format, fmt::format("node {} of a call tree {}", number, what));
  };
  call_tree tree;
  if (nodes.empty() || nodes.front().place || nodes.front().is_cut()) return wrong(0, "is no root");
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    node& next = nodes[i];
    if (!next.standing.without(next.ranks).empty() || !next.steady.without(next.ranks).empty())
      return wrong(i, "has ranks that are not there");
    if (i == 0) continue;
    if (next.parent >= i) return wrong(i, "stands before its parent");
    if (!next.ranks.without(nodes[next.parent].ranks).empty()) return wrong(i, "has ranks that its parent has not");
    if (next.is_cut() == (next.place != nullptr)) return wrong(i, "is neither a frame nor the end of a stack");
    if (next.is_cut() && next.parent != root) return wrong(i, "cuts a stack off that has been cut off");
    const node_number made = next.is_cut() ? tree.cut_below_root(next.end, next.why)
                                           : tree.frame_below(next.parent, next.place, next.inlined);
    if (made != i) return wrong(i, "is there twice");
  }
  tree.nodes_ = std::move(nodes);
  tree.samples_ = samples;
  return tree;
}

call_tree::label call_tree::label_of(const std::shared_ptr<const code_place>& place, bool inlined) {
  const auto [known, is_new] = places_.try_emplace(place, 0);
  if (is_new)
    known->second = contents_.try_emplace(place.get(), static_cast<label>(2 * contents_.size())).first->second;
  return known->second + (inlined ? 1 : 0);
}

call_tree::label call_tree::label_of(stack_end cut) {
  return first_end_label + static_cast<label>(cut);
}

call_tree::node_number call_tree::child(node_number parent, label which) {
  const auto fresh = static_cast<node_number>(nodes_.size());
  const auto [found, is_new] = children_.try_emplace(std::uint64_t{parent} << 32 | which, fresh);
  if (!is_new) return found->second;
  nodes_.emplace_back().parent = parent;
  links_.emplace_back();
  const node_number before = std::exchange(links_[parent].last_child, fresh);
  (before == root ? links_[parent].first_child : links_[before].next_sibling) = fresh;
  return fresh;
}

call_tree::node_number call_tree::frame_below(node_number parent, const std::shared_ptr<const code_place>& place,
                                              bool inlined) {
  const node_number number = child(parent, label_of(place, inlined));
  if (!nodes_[number].place) {
    nodes_[number].place = place;
    nodes_[number].inlined = inlined;
  }
  return number;
}

call_tree::node_number call_tree::cut_below_root(stack_end end, const std::string& why) {
  const node_number number = child(root, label_of(end));
  if (!nodes_[number].is_cut()) {
    nodes_[number].end = end;
    nodes_[number].why = why;
  }
  return number;
}

void call_tree::pass(node_number number, entry_index entry) {
  node& here = nodes_[number];
  here.ranks.add(entry);
  here.steady.add(entry);
  ++here.stacks;
  ++here.threads;
}

void call_tree::add(entry_index entry, const thread_stack& stack) {
  samples_ = std::max<std::size_t>(samples_, 1);
  pass(root, entry);
  node_number at = root;
  std::size_t depth = 0;  // the length of the common prefix with the last path
  const auto go = [&](auto&& matches, auto&& look_up) {
    if (depth < last_path_.size() && matches(nodes_[last_path_[depth]])) {
      at = last_path_[depth];
    } else {
      last_path_.resize(depth);
      last_path_.push_back(at = look_up());
    }
    ++depth;
    pass(at, entry);
  };
  if (stack.end != stack_end::outermost) {
    go([&](const node& known) { return known.end == stack.end; }, [&] { return cut_below_root(stack.end, stack.why); });
  }
  for (auto frame = stack.frames.rbegin(); frame != stack.frames.rend(); ++frame) {
    go([&](const node& known) { return known.place == frame->place && known.inlined == frame->inlined; },
       [&] { return frame_below(at, frame->place, frame->inlined); });
  }
  nodes_[at].standing.add(entry);
  ++nodes_[at].stacks_ending;
}

std::vector<call_tree::node_number> call_tree::graft(const call_tree& other) {
  std::vector<node_number> here(other.nodes_.size(), root);
  for (std::size_t i = 1; i < other.nodes_.size(); ++i) {
    const node& theirs = other.nodes_[i];
    here[i] = theirs.is_cut() ? cut_below_root(theirs.end, theirs.why)
                              : frame_below(here[theirs.parent], theirs.place, theirs.inlined);
  }
  for (std::size_t i = 0; i < other.nodes_.size(); ++i) {
    node& ours = nodes_[here[i]];
    const node& theirs = other.nodes_[i];
    ours.ranks.add(theirs.ranks);
    ours.standing.add(theirs.standing);
    ours.stacks += theirs.stacks;
    ours.stacks_ending += theirs.stacks_ending;
  }
  return here;
}

/// A rank is steady at a node if all its samples show it there. A rank that both trees have sampled must be steady in
/// both; otherwise the tree with its samples decides.
void call_tree::take_steady(const call_tree& other, const std::vector<node_number>& grafted, const rank_set& before) {
  const rank_set& seen_there = other.nodes_[root].ranks;
  if (before.both(seen_there).empty()) {
    // The trees have no rank in common. Many such parts are merged into one tree, so that a merge must not cost a pass
    // over the whole tree.
    for (std::size_t i = 0; i < grafted.size(); ++i) nodes_[grafted[i]].steady.add(other.nodes_[i].steady);
    return;
  }
  std::vector<const rank_set*> theirs(nodes_.size(), nullptr);
  for (std::size_t i = 0; i < grafted.size(); ++i) theirs[grafted[i]] = &other.nodes_[i].steady;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    rank_set& ours = nodes_[i].steady;
    if (theirs[i] == nullptr) {
      ours = ours.without(seen_there);
    } else if (ours == *theirs[i]) {
      ours.add(*theirs[i]);
    } else {
      rank_set all = ours.both(*theirs[i]);
      all.add(ours.without(seen_there));
      all.add(theirs[i]->without(before));
      ours = std::move(all);
    }
  }
}

void call_tree::merge(const call_tree& elsewhere) {
  if (&elsewhere == this) return merge(call_tree(elsewhere));
  const rank_set before = nodes_[root].ranks;
  const auto grafted = graft(elsewhere);
  take_steady(elsewhere, grafted, before);
  for (std::size_t i = 0; i < grafted.size(); ++i) nodes_[grafted[i]].threads += elsewhere.nodes_[i].threads;
  samples_ = std::max(samples_, elsewhere.samples_);
}

void call_tree::add_sample(const call_tree& later) {
  if (&later == this) return add_sample(call_tree(later));
  const rank_set before = nodes_[root].ranks;
  const auto grafted = graft(later);
  take_steady(later, grafted, before);
  for (std::size_t i = 0; i < grafted.size(); ++i) {
    std::uint64_t& threads = nodes_[grafted[i]].threads;
    threads = std::max(threads, later.nodes_[i].threads);
  }
  samples_ += later.samples_;
}

std::vector<call_tree::node_number> call_tree::children(node_number parent) const {
  std::vector<node_number> all;
  for (node_number c = links_[parent].first_child; c != root; c = links_[c].next_sibling) all.push_back(c);
  std::stable_sort(all.begin(), all.end(),
                   [&](node_number a, node_number b) { return nodes_[a].ranks.lowest() < nodes_[b].ranks.lowest(); });
  return all;
}

std::vector<call_tree::node_number> call_tree::in_order() const {
  std::vector<node_number> order;
  order.reserve(nodes_.size());
  std::vector<node_number> waiting = {root};
  while (!waiting.empty()) {
    order.push_back(waiting.back());
    waiting.pop_back();
    const auto below = children(order.back());
    waiting.insert(waiting.end(), below.rbegin(), below.rend());
  }
  return order;
}

}  // namespace mpiacq
