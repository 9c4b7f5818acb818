// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "same_communicators.hpp"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

namespace mpiacq::waits {

namespace {

/// The properties that two communicators must share to be the same one. Names are local in MPI, so they count only if
/// no report has the group.
struct likeness {
  std::uint64_t id = 0;
  std::int64_t size = 0;
  const group_members* group = nullptr;
  std::size_t group_hash = 0;
  std::string_view name;            ///< if there is no group
  std::uint32_t only_in = nowhere;  ///< the report, if there is no group and only one member
  bool by_window = false;

  friend bool operator==(const likeness& a, const likeness& b) {
    if (a.id != b.id || a.by_window != b.by_window || a.size != b.size || (a.group == nullptr) != (b.group == nullptr))
      return false;
    if (a.group == nullptr) return a.name == b.name && a.only_in == b.only_in;
    return a.group == b.group || (a.group_hash == b.group_hash && *a.group == *b.group);
  }
};

struct hash_of_likeness {
  std::size_t operator()(const likeness& like) const {
    std::size_t hash = std::hash<std::uint64_t>{}(like.id) * 31 + std::hash<std::int64_t>{}(like.size);
    if (like.group == nullptr) return hash * 31 ^ std::hash<std::string_view>{}(like.name) ^ like.only_in;
    return hash * 31 ^ like.group_hash;
  }
};

/// Facts about each list of members. Ranks share lists, which may be long, so each list is examined once.
class seen_groups {
 public:
  [[nodiscard]] likeness likeness_of(const queue_communicator& one, std::uint32_t report) {
    // Groups without a known process cannot be distinguished.
    if (one.group) {
      const facts& group = facts_of(*one.group);
      if (group.any_known) return {one.id, one.size, &*one.group, group.hash, {}, nowhere};
    }
    return {one.id, one.size, nullptr, 0, one.name, one.size == 1 ? report : nowhere};
  }

 private:
  struct facts {
    bool any_known = false;
    std::size_t hash = 0;
  };
  const facts& facts_of(const group_members& group) {
    const auto [at, is_new] = facts_.try_emplace(group.list());
    if (is_new) {
      at->second.any_known = std::any_of(group.begin(), group.end(), [](std::int64_t member) { return member >= 0; });
      at->second.hash = group.hash();
    }
    return at->second;
  }
  std::unordered_map<const void*, facts> facts_;
};

shared_communicator begun(const likeness& like) {
  shared_communicator made;
  made.id = like.id;
  made.by_window = like.by_window;
  made.size = static_cast<std::uint64_t>(std::max<std::int64_t>(like.size, 0));
  if (like.group != nullptr) made.members = communicator_members(*like.group);
  return made;
}

/// `place`: of the communicator in the report; `nowhere` if it is not there.
void join(shared_communicator& shared, const queue_communicator& own, const rank_report& rank, std::uint32_t report,
          std::uint32_t place) {
  if (shared.name.empty()) shared.name = own.name;
  constexpr std::int64_t most_members = 1 << 24;
  if (own.local_rank < 0 || own.local_rank >= std::min(own.size, most_members)) {
    shared.ambiguous = true;
    return;
  }
  const auto local = static_cast<std::uint32_t>(own.local_rank);
  // Two reports have the same rank in it: these are two communicators, or the library lists one twice.
  if (!shared.members.add(local, {rank.entry.value(), report, place}) || shared.members[local] != rank.entry.value()) {
    shared.ambiguous = true;
  }
}

/// Takes what the report of a rank says of a communicator.
class joiner {
 public:
  explicit joiner(shared_communicators& into) : into_(into) {}

  /// Answers with the number of the communicator.
  std::uint32_t add(const queue_communicator& own, const rank_report& rank, std::uint32_t report, std::uint32_t place,
                    bool by_window = false) {
    likeness like = groups_.likeness_of(own, report);
    like.by_window = by_window;
    const auto [at, is_new] = numbers_.try_emplace(like, static_cast<std::uint32_t>(into_.all.size()));
    if (is_new) into_.all.push_back(begun(like));
    shared_communicator& shared = into_.all[at->second];
    join(shared, own, rank, report, place);
    if (own.is_inter.value_or(names_a_rank_beyond(own))) shared.is_inter = true;
    if (own.remote_group) shared.remote_group = own.remote_group;
    return at->second;
  }

 private:
  shared_communicators& into_;
  std::unordered_map<likeness, std::uint32_t, hash_of_likeness> numbers_;
  seen_groups groups_;
};

/// Whether both describe one communicator of one rank. Ids of a rank's own communicators differ.
bool is_same_here(const queue_communicator& listed, const queue_communicator& called) {
  return listed.id == called.id && listed.size == called.size && listed.local_rank == called.local_rank;
}

/// The communicator that the call of a rank names. If the report lists it, this is the one of the report.
std::uint32_t called_by(const rank_report& rank, std::uint32_t report, shared_communicators& found, joiner& joined) {
  if (!rank.doing.on) return nowhere;
  const queue_communicator& called = rank.doing.on->facts;
  const bool by_window = rank.doing.on->by == mpi_role::window;
  if (rank.report && !by_window) {
    std::uint32_t same = nowhere;
    const auto& own = rank.report->communicators;
    for (std::uint32_t place = 0; place < own.size(); ++place) {
      if (!is_same_here(own[place], called)) continue;
      if (same != nowhere) return nowhere;
      same = found.of[report][place];
    }
    if (same != nowhere) return same;
  }
  // Without its group, nothing tells it from another one with its id.
  return called.group ? joined.add(called, rank, report, nowhere, by_window) : nowhere;
}

bool has_operations(const queue_communicator& one) {
  return std::any_of(one.queues.begin(), one.queues.end(), [](const auto& queue) { return !queue.operations.empty(); });
}

/// The other group of an intercommunicator, from the reports of this group. The reports of the other group may be
/// missing.
std::uint32_t named_other_group(shared_communicators& found, std::uint32_t side,
                                std::span<const std::uint32_t> same_id) {
  const group_members remote = *found.all[side].remote_group;
  for (const std::uint32_t other : same_id) {
    if (other != side && found.all[other].size == remote.size() && found.all[other].members.are(remote)) return other;
  }
  shared_communicator made;
  made.id = found.all[side].id;
  made.size = remote.size();
  made.members = communicator_members(remote);
  made.is_inter = true;
  found.all.push_back(std::move(made));
  return static_cast<std::uint32_t>(found.all.size() - 1);
}

/// If no report names the other group: the only other communicator of this id, if it is a possible other group.
std::uint32_t likely_other_group(const shared_communicators& found, std::uint32_t side,
                                 std::span<const std::uint32_t> same_id) {
  if (same_id.size() != 2) return nowhere;
  const std::uint32_t other = same_id[0] == side ? same_id[1] : same_id[0];
  return have_a_member_in_common(found.all[side].members, found.all[other].members) ? nowhere : other;
}

/// Connects the two groups of each intercommunicator.
void join_intercommunicators(shared_communicators& found) {
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> by_id;
  const auto count = static_cast<std::uint32_t>(found.all.size());
  for (std::uint32_t i = 0; i < count; ++i) by_id[found.all[i].id].push_back(i);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!found.all[i].is_inter || found.all[i].remote != nowhere) continue;
    const auto& same_id = by_id[found.all[i].id];
    const std::uint32_t other =
        found.all[i].remote_group ? named_other_group(found, i, same_id) : likely_other_group(found, i, same_id);
    if (other == nowhere) {
      found.all[i].ambiguous = true;
      continue;
    }
    found.all[i].remote = other;
    found.all[other].remote = i;
    found.all[other].is_inter = true;
  }
}

std::string doubt_about(const shared_communicator& shared) {
  const std::string which =
      fmt::format("communicator {:#x}{}{}", shared.id, shared.name.empty() ? "" : " ", shared.name);
  if (shared.is_inter && shared.remote == nowhere) {
    return which +
           ": an intercommunicator whose other group is not known, so its operations are not "
           "paired";
  }
  return which + ": the ranks that share it are not known, so its operations are not paired";
}

}  // namespace

shared_communicators find_shared(std::span<const rank_report> ranks) {
  shared_communicators found;
  found.of.resize(ranks.size());
  joiner joined(found);
  for (std::uint32_t report = 0; report < ranks.size(); ++report) {
    if (!ranks[report].report) continue;
    const auto& own = ranks[report].report->communicators;
    for (std::uint32_t place = 0; place < own.size(); ++place) {
      const std::uint32_t number = joined.add(own[place], ranks[report], report, place);
      if (has_operations(own[place])) found.all[number].used = true;
      found.of[report].push_back(number);
    }
  }
  for (std::uint32_t report = 0; report < ranks.size(); ++report) {
    found.called.push_back(called_by(ranks[report], report, found, joined));
  }
  join_intercommunicators(found);
  for (const shared_communicator& shared : found.all) {
    if (shared.ambiguous && shared.used) found.doubts.push_back(doubt_about(shared));
  }
  return found;
}

std::optional<std::uint32_t> number_of(const shared_communicators& shared, std::uint32_t communicator,
                                       const peer& who) {
  const std::uint32_t place = shared.peers_of(communicator);
  if (place == nowhere) return std::nullopt;  // the number that the library gives belongs to the wrong group
  const shared_communicator& peers = shared.all[place];
  if (who.local && *who.local >= 0 && static_cast<std::uint64_t>(*who.local) < peers.members.size() &&
      !peers.ambiguous) {
    const std::int64_t number = peers.members[static_cast<std::size_t>(*who.local)];
    if (number >= 0) return static_cast<std::uint32_t>(number);
  }
  // The number that the library gives is used only within one group: for ranks of another group it is wrong.
  return shared.all[communicator].is_inter ? std::nullopt : who.global;
}

}  // namespace mpiacq::waits
