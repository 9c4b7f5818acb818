// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "pairing.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace mpiacq::waits {

namespace {

/// Open MPI's queue library lists the request of a waiting MPI_Mprobe among the receives, as a request of a type that
/// the library does not know.
bool is_probe(const queue_operation& operation) {
  return !operation.extra.empty() && operation.extra.front().starts_with("Unknown type of request");
}

/// Open MPI's queue library reports each receive that has its message as "matched", also a complete one. A separate
/// line says whether all data has arrived.
bool is_complete(const queue_operation& operation) {
  if (operation.status != operation_status::matched) return operation.status == operation_status::complete;
  return std::find(operation.extra.begin(), operation.extra.end(), "Data transfer completed") != operation.extra.end();
}

half half_of(const queue_operation& operation, const shared_communicators& shared, std::uint32_t number,
             std::int64_t local) {
  half made;
  made.shared = number;
  made.local = static_cast<std::uint32_t>(local);
  made.tag = operation.tag.value_or(0);
  made.any_tag = !operation.tag;
  made.any_source = operation.desired.any;
  made.is_probe = is_probe(operation);
  made.moving = operation.status == operation_status::matched;
  if (made.any_source) return made;
  const std::uint32_t peers = shared.peers_of(number);
  if (peers == nowhere) return made;
  if (const auto who = number_of(shared, number, operation.desired)) made.peer_number = *who;
  const auto named = operation.desired.local;
  if (named && *named >= 0 && static_cast<std::uint64_t>(*named) < shared.all[peers].members.size()) {
    made.peer_local = static_cast<std::uint32_t>(*named);
  }
  return made;
}

/// The sends to one rank. Receives take them out in order, by source and tag.
class arrivals {
 public:
  arrivals(std::vector<half>& all, std::span<const std::size_t> sends) : all_(all) {
    for (const std::size_t send : sends) {
      const half& s = all_[send];
      exactly_[{s.local, s.tag}].sends.push_back(send);
      by_source_[s.local].sends.push_back(send);
      by_tag_[s.tag].sends.push_back(send);
      any_.sends.push_back(send);
    }
  }

  void give_to(std::size_t receive) {
    half& r = all_[receive];
    line* fitting = nullptr;
    if (r.any_source) {
      fitting = r.any_tag ? &any_ : find(by_tag_, r.tag);
    } else {
      fitting = r.any_tag ? find(by_source_, r.peer_local) : find(exactly_, {r.peer_local, r.tag});
    }
    if (fitting == nullptr || !fitting->drop_taken(all_)) return;
    const std::size_t send = fitting->sends[fitting->first];
    r.partner = send;
    all_[send].partner = receive;
    // Lines are in the order of sources: if the last line has the same source, all lines have it.
    if (fitting->drop_taken(all_)) r.only_choice = all_[fitting->sends.back()].local == all_[send].local;
  }

 private:
  /// Taken sends are before `first`, or were removed at the end, or are skipped during the search.
  struct line {
    std::vector<std::size_t> sends;
    std::size_t first = 0;
    [[nodiscard]] bool drop_taken(const std::vector<half>& all) {
      while (first < sends.size() && all[sends[first]].under_way()) ++first;
      while (first < sends.size() && all[sends.back()].under_way()) sends.pop_back();
      return first < sends.size();
    }
  };
  struct exact {
    std::uint32_t source;
    std::int64_t tag;
    friend bool operator==(const exact&, const exact&) = default;
  };
  struct hash_of_exact {
    std::size_t operator()(const exact& key) const {
      return std::hash<std::int64_t>{}(key.tag) * 1099511628211U ^ key.source;
    }
  };
  template <class Map>
  [[nodiscard]] static line* find(Map& lines, const typename Map::key_type& key) {
    const auto found = lines.find(key);
    return found == lines.end() ? nullptr : &found->second;
  }

  std::vector<half>& all_;
  std::unordered_map<exact, line, hash_of_exact> exactly_;
  std::unordered_map<std::uint32_t, line> by_source_;
  std::unordered_map<std::int64_t, line> by_tag_;
  line any_;
};

/// A receiver: its communicator, and its rank in it.
using receiver = std::pair<std::uint32_t, std::uint32_t>;

/// Sorts both lists by receiver, and the sends of one receiver by sender. The order of operations of one rank stays.
struct both_sides {
  std::vector<std::pair<receiver, std::size_t>> sends, receives;
};

both_sides by_receiver(const halves& operations, const shared_communicators& shared) {
  both_sides found;
  for (std::size_t i = 0; i < operations.all.size(); ++i) {
    const half& h = operations.all[i];
    if (h.under_way() || shared.all[h.shared].ambiguous) continue;
    if (!h.is_send()) {
      if (h.any_source || h.peer_local != nowhere) found.receives.push_back({{h.shared, h.local}, i});
    } else if (h.peer_local != nowhere) {
      found.sends.push_back({{shared.peers_of(h.shared), h.peer_local}, i});
    }
  }
  std::stable_sort(found.receives.begin(), found.receives.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::stable_sort(found.sends.begin(), found.sends.end(), [&](const auto& a, const auto& b) {
    return std::tie(a.first, operations.all[a.second].local) < std::tie(b.first, operations.all[b.second].local);
  });
  return found;
}

/// The queues that are completely known.
class known_queues {
 public:
  explicit known_queues(std::span<const rank_report> ranks) : ranks_(ranks) {
    for (const rank_report& one : ranks) {
      if (one.doing.kind == mpi_call_kind::ended) ended_.insert(one.entry.value());
    }
  }
  /// The queue of a member of this communicator.
  [[nodiscard]] bool complete(const shared_communicator& shared, std::uint32_t local, queue_class queue) const {
    if (ended_.contains(shared.members[local])) return true;
    const communicator_user* user = shared.members.user(local);
    if (user == nullptr || user->place == nowhere) return false;
    const queue_report& whole = *ranks_[user->report].report;
    return whole.communicators[user->place].of(queue).known == queue_knowledge::complete;
  }

 private:
  std::span<const rank_report> ranks_;
  std::unordered_set<std::int64_t> ended_;  ///< numbers in the job: such a process has no queues
};

}  // namespace

halves collect(std::span<const rank_report> ranks, const shared_communicators& shared) {
  halves found;
  for (std::uint32_t report = 0; report < ranks.size(); ++report) {
    found.first_of.push_back(found.all.size());
    found.internal_on.push_back(nowhere);
    bool several = false;
    for (std::uint32_t place = 0; ranks[report].report && place < ranks[report].report->communicators.size(); ++place) {
      const queue_communicator& own = ranks[report].report->communicators[place];
      const std::uint32_t number = shared.of[report][place];
      for (const queue_class queue : {queue_class::sends, queue_class::receives}) {
        const auto& operations = own.of(queue).operations;
        for (std::uint32_t i = 0; i < operations.size(); ++i) {
          if (is_complete(operations[i])) continue;
          if (operations[i].tag && *operations[i].tag < 0) {
            ++found.internal_operations;
            several = several || (found.internal_on.back() != nowhere && found.internal_on.back() != number);
            found.internal_on.back() = number;
            continue;
          }
          half made = half_of(operations[i], shared, number, own.local_rank);
          made.place = {report, place, queue, i};
          found.all.push_back(made);
        }
      }
    }
    if (several) found.internal_on.back() = nowhere;
  }
  found.first_of.push_back(found.all.size());
  return found;
}

void pair_up(halves& operations, const shared_communicators& shared) {
  const both_sides sides = by_receiver(operations, shared);
  auto send = sides.sends.begin();
  for (auto receive = sides.receives.begin(); receive != sides.receives.end();) {
    const receiver here = receive->first;
    while (send != sides.sends.end() && send->first < here) ++send;
    std::vector<std::size_t> coming;
    for (; send != sides.sends.end() && send->first == here; ++send) coming.push_back(send->second);
    arrivals at_hand(operations.all, coming);
    for (; receive != sides.receives.end() && receive->first == here; ++receive) at_hand.give_to(receive->second);
  }
}

void look_at_other_sides(halves& operations, std::span<const rank_report> ranks, const shared_communicators& shared) {
  const known_queues known(ranks);
  // For receives from MPI_ANY_SOURCE: the number of members of each communicator whose sends are all known.
  std::vector<std::size_t> told(shared.all.size(), 0);
  for (std::size_t i = 0; i < shared.all.size(); ++i) {
    shared.all[i].members.for_each_known([&](std::size_t local, std::int64_t) {
      if (known.complete(shared.all[i], static_cast<std::uint32_t>(local), queue_class::sends)) ++told[i];
    });
  }
  for (half& h : operations.all) {
    if (h.under_way() || shared.all[h.shared].ambiguous) continue;
    const std::uint32_t peers = shared.peers_of(h.shared);
    if (peers == nowhere) continue;
    if (h.any_source) {
      h.other_side_known = told[peers] == shared.all[peers].size;
    } else if (h.peer_local != nowhere) {
      h.other_side_known =
          known.complete(shared.all[peers], h.peer_local, h.is_send() ? queue_class::receives : queue_class::sends);
    }
  }
}

}  // namespace mpiacq::waits
