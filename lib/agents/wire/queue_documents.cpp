// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "wire/queue_documents.hpp"

#include <unordered_map>
#include <utility>

#include "errors/try.hpp"
#include "mpiacq/queues/queue_memory.hpp"

namespace mpiacq::agents {

namespace {

/// Bounds ranks and the steps between them, so that no sum overflows.
constexpr std::int64_t most_number = std::int64_t{1} << 33U;

/// Collects the groups of a document, each list once. Equal groups share a list (`report_budget`).
class group_pool {
 public:
  group_pool(std::vector<group_part>& groups, pulse_counter& pulses) : groups_(groups), pulses_(pulses) {}
  std::optional<std::uint32_t> place_of(const std::optional<group_members>& one) {
    if (!one) return std::nullopt;
    const auto [known, is_new] = places_.try_emplace(one->list(), static_cast<std::uint32_t>(groups_.size()));
    if (is_new) {
      groups_.push_back(runs_of(one->numbers()));
      pulses_.count(one->numbers().size());
    }
    return known->second;
  }

 private:
  std::unordered_map<const void*, std::uint32_t> places_;
  std::vector<group_part>& groups_;
  pulse_counter& pulses_;
};

/// Restores groups. Each is created once, and counts once.
class group_maker {
 public:
  group_maker(const std::vector<group_part>& groups, std::uint64_t most_members, pulse_counter& pulses)
      : groups_(groups), made_(groups.size()), left_(most_members), pulses_(pulses) {}
  /// Error: the document is wrong. If there is no room for the group, it stays empty, and `left_out` becomes true.
  result<void> make(std::optional<std::uint32_t> place, std::optional<group_members>& group, bool& left_out) {
    if (!place) return {};
    if (*place >= groups_.size()) return fail(error_code::bad_format, "a communicator's group is not there");
    auto& made = made_[*place];
    if (!made) {
      auto counted = TRY(count(groups_[*place]));
      made.emplace();
      if (counted <= left_) {
        left_ -= counted;
        *made = members_of(groups_[*place], counted);
        pulses_.count(counted);
      }
    }
    group = *made;
    left_out = left_out || !group;
    return {};
  }

 private:
  /// The number of members. If it exceeds the room, the result is some number that exceeds it.
  [[nodiscard]] result<std::uint64_t> count(const group_part& runs) const {
    std::uint64_t all = 0;
    for (const group_run& run : runs) {
      if (run.first < -most_number || run.first > most_number || run.step < -most_number || run.step > most_number)
        return fail(error_code::bad_format, "a group has a rank that is out of range");
      all = run.count > left_ || all > left_ ? left_ + 1 : all + run.count;
    }
    return all;
  }
  [[nodiscard]] static group_members members_of(const group_part& runs, std::uint64_t count) {
    std::vector<std::int64_t> members;
    members.reserve(static_cast<std::size_t>(count));
    for (const group_run& run : runs) {
      std::int64_t next = run.first;
      for (std::uint64_t i = 0; i < run.count; ++i, next += run.step) members.push_back(next);
    }
    return members;
  }

  const std::vector<group_part>& groups_;
  /// By index. The inner value is empty if there is no room for the group.
  std::vector<std::optional<std::optional<group_members>>> made_;
  std::uint64_t left_;
  pulse_counter& pulses_;
};

/// Gives the communicator of a rank's call its groups. If there is no room for one, it has none.
result<void> give_groups(rank_activity& doing, const groups_used& used, group_maker& groups) {
  if (!doing.on) {
    if (!used.group && !used.remote_group) return {};
    return fail(error_code::bad_format, "groups of a call without a communicator");
  }
  bool left_out = false;
  queue_communicator& one = doing.on->facts;
  one.queues = {};  // a call does not show queues
  if (auto made = groups.make(used.group, one.group, left_out); !made) return made;
  return groups.make(used.remote_group, one.remote_group, left_out);
}

result<void> give_groups(rank_report& rank, const std::vector<groups_used>& used, group_maker& groups) {
  const std::size_t communicators = rank.report ? rank.report->communicators.size() : 0;
  if (used.size() != communicators) return fail(error_code::bad_format, "groups of other communicators");
  bool left_out = false;
  for (std::size_t i = 0; i < communicators; ++i) {
    queue_communicator& one = rank.report->communicators[i];
    if (auto made = groups.make(used[i].group, one.group, left_out); !made) return made;
    if (auto made = groups.make(used[i].remote_group, one.remote_group, left_out); !made) return made;
  }
  if (left_out) {
    rank.report->problems.emplace_back(error_code::limit,
                                       "groups of this rank's communicators have more members than there is room for "
                                       "beside the groups of the other ranks; these groups are left out");
  }
  return {};
}

}  // namespace

std::uint64_t most_group_members(std::size_t ranks) {
  return most_bytes_of(ranks) / sizeof(std::int64_t);
}

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

queues_part stand_in<group_queues>::to(const group_queues& queues, pulse_counter& pulses) {
  queues_part part;
  part.ranks = queues.ranks;
  part.held_for = queues.held_for;
  part.stopped = queues.stopped;
  part.notes = queues.notes;
  part.problems = queues.problems;
  group_pool pool(part.groups, pulses);
  for (const rank_report& rank : part.ranks) {
    auto& used = part.used.emplace_back();
    if (!rank.report) continue;
    for (const queue_communicator& one : rank.report->communicators) {
      const auto local = pool.place_of(one.group);
      used.push_back({local, pool.place_of(one.remote_group)});
    }
  }
  for (const rank_report& rank : part.ranks) {
    auto& called = part.called.emplace_back();
    if (!rank.doing.on) continue;
    called.group = pool.place_of(rank.doing.on->facts.group);
    called.remote_group = pool.place_of(rank.doing.on->facts.remote_group);
  }
  return part;
}

result<group_queues> stand_in<group_queues>::from(queues_part part, pulse_counter& pulses) {
  const std::size_t count = part.ranks.size();
  if (part.used.size() != count || part.called.size() != count)
    return fail(error_code::bad_format, "queues of other ranks than those that are listed");
  group_maker groups(part.groups, most_group_members(count), pulses);
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0 && part.ranks[i].entry <= part.ranks[i - 1].entry)
      return fail(error_code::bad_format, "queues of ranks that are not in order");
    TRY(give_groups(part.ranks[i], part.used[i], groups));
  }
  for (std::size_t i = 0; i < count; ++i) TRY(give_groups(part.ranks[i].doing, part.called[i], groups));
  return group_queues{std::move(part.ranks), part.held_for, part.stopped, std::move(part.notes),
                      std::move(part.problems)};
}

}  // namespace mpiacq::agents
