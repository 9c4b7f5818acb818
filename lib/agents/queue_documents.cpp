// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "queue_documents.hpp"

#include <map>
#include <utility>

namespace mpiacq::agents {

namespace {

using group = std::vector<std::int64_t>;

/// Numbers of ranks and steps between them: so that no sum of them overflows.
constexpr std::int64_t most_number = std::int64_t{1} << 33U;

class group_pool {
 public:
  explicit group_pool(std::vector<group_part>& groups) : groups_(groups) {}
  std::optional<std::uint32_t> place_of(std::optional<group>& one) {
    if (!one) return std::nullopt;
    const auto [known, is_new] = places_.try_emplace(std::move(*one), static_cast<std::uint32_t>(groups_.size()));
    one.reset();
    if (is_new) groups_.push_back(runs_of(known->first));
    return known->second;
  }

 private:
  std::map<group, std::uint32_t> places_;
  std::vector<group_part>& groups_;
};

/// Gives groups back, and counts what that takes.
class group_maker {
 public:
  explicit group_maker(const std::vector<group_part>& groups) : groups_(groups) {}
  result<std::optional<group>> make(std::optional<std::uint32_t> place) {
    if (!place) return std::nullopt;
    if (*place >= groups_.size()) return fail(error_code::bad_format, "a communicator's group is not there");
    group made;
    for (const group_run& run : groups_[*place]) {
      if (run.first < -most_number || run.first > most_number || run.step < -most_number || run.step > most_number)
        return fail(error_code::bad_format, "a group has a rank that is out of range");
      if (run.count > left_) return fail(error_code::limit, "groups of communicators have too many members together");
      left_ -= run.count;
      std::int64_t next = run.first;
      for (std::uint64_t i = 0; i < run.count; ++i, next += run.step) made.push_back(next);
    }
    return made;
  }

 private:
  const std::vector<group_part>& groups_;
  std::uint64_t left_ = most_group_members;
};

result<void> give_groups(rank_queues& rank, const std::vector<groups_used>& used, group_maker& groups) {
  const std::size_t communicators = rank.report ? rank.report->communicators.size() : 0;
  if (used.size() != communicators) return fail(error_code::bad_format, "groups of other communicators");
  for (std::size_t i = 0; i < communicators; ++i) {
    queue_communicator& one = rank.report->communicators[i];
    auto local = groups.make(used[i].group);
    if (!local) return fail(std::move(local).error());
    auto remote = groups.make(used[i].remote_group);
    if (!remote) return fail(std::move(remote).error());
    one.group = std::move(*local);
    one.remote_group = std::move(*remote);
  }
  return {};
}

}  // namespace

group_part runs_of(const std::vector<std::int64_t>& group) {
  group_part runs;
  for (const std::int64_t next : group) {
    if (!runs.empty()) {
      group_run& last = runs.back();
      if (last.count == 1) last.step = next - last.first;
      if (next == last.first + last.step * static_cast<std::int64_t>(last.count)) {
        ++last.count;
        continue;
      }
    }
    runs.push_back({next, 1, 1});
  }
  return runs;
}

queues_part stand_in<node_queues>::to(const node_queues& queues) {
  queues_part part;
  part.ranks = queues.ranks;
  part.doing = queues.doing;
  part.pml = queues.pml;
  part.held_for = queues.held_for;
  part.stopped = queues.stopped;
  part.notes = queues.notes;
  part.problems = queues.problems;
  group_pool pool(part.groups);
  for (rank_queues& rank : part.ranks) {
    auto& used = part.used.emplace_back();
    if (!rank.report) continue;
    for (queue_communicator& one : rank.report->communicators) {
      const auto local = pool.place_of(one.group);
      used.push_back({local, pool.place_of(one.remote_group)});
    }
  }
  return part;
}

result<node_queues> stand_in<node_queues>::from(queues_part part) {
  const std::size_t count = part.ranks.size();
  if (part.used.size() != count || part.doing.size() != count || part.pml.size() != count)
    return fail(error_code::bad_format, "queues of other ranks than those that are listed");
  group_maker groups(part.groups);
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0 && part.ranks[i].rank <= part.ranks[i - 1].rank)
      return fail(error_code::bad_format, "queues of ranks that are not in order");
    if (auto given = give_groups(part.ranks[i], part.used[i], groups); !given) return fail(std::move(given).error());
  }
  return node_queues{std::move(part.ranks), std::move(part.doing), std::move(part.pml),     part.held_for,
                     part.stopped,          std::move(part.notes), std::move(part.problems)};
}

}  // namespace mpiacq::agents
