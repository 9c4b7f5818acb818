// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "arrived_messages.hpp"
#include "picture.hpp"
#include "request_facts.hpp"

namespace mpiacq::waits {

namespace {

using kind = mpi_call_kind;

/// Whether a rank in `call` can wait for this operation.
bool waits_for(kind call, const half& operation) {
  switch (call) {
    case kind::send:
      return operation.is_send();
    case kind::receive:
      return !operation.is_send() && !operation.is_probe;
    case kind::probe:
      return operation.is_probe;
    case kind::exchange:
    case kind::wait_one:
    case kind::wait_all:
    case kind::wait_any:
    case kind::test:
      return !operation.is_probe;
    case kind::unknown:
      return true;
    default:
      return false;
  }
}

/// Whether the call returns only when a pending operation is complete.
bool blocks(kind call) {
  return call == kind::send || call == kind::receive || call == kind::exchange || call == kind::wait_one ||
         call == kind::wait_all || call == kind::wait_any || call == kind::probe;
}

/// Whether a rank that has begun several operations usually waits for all of them in this call.
bool waits_for_all(kind call) {
  return call == kind::wait_all || call == kind::exchange;
}

/// Whether `call` may wait for a send as well as for a receive: the requests of MPI_Wait are of both kinds.
bool may_wait_for_both(kind call) {
  return call == kind::exchange || call == kind::wait_one || call == kind::wait_all || call == kind::wait_any;
}

/// Whether every operation that a rank in `call` may wait for is in its report. A queue that was cut short or could not
/// be read may hold that operation. A queue of which the library has no information may hold it too, if the call waits
/// for operations of both kinds; the operation of any other call is in the queue that the library lists.
bool lists_all_that_matters(const queue_report& report, kind call) {
  const auto may_lack_it = [&](const queue_listing& queue) {
    if (queue.known == queue_knowledge::none) return may_wait_for_both(call);
    return queue.known != queue_knowledge::complete;
  };
  return std::none_of(report.communicators.begin(), report.communicators.end(), [&](const queue_communicator& own) {
    return may_lack_it(own.of(queue_class::sends)) || may_lack_it(own.of(queue_class::receives));
  });
}

std::string text_of(const half& operation, const picture& seen) {
  std::string tag = operation.any_tag ? "any tag" : fmt::format("tag {}", operation.tag);
  const std::string_view what = operation.is_send() ? "send" : operation.is_probe ? "probe" : "receive";
  return fmt::format("a {} with {} on {}", what, tag, seen.communicator_name(operation.shared));
}

std::string missing_text(const half& operation) {
  if (!operation.other_side_known)
    return operation.is_send() ? ", its receives are not known" : ", its sends are not known";
  return operation.is_send() ? ", and no receive for it" : ", and no send for it";
}

/// The pending operations of one rank with the same other ranks.
struct aim {
  const half* first = nullptr;
  std::size_t count = 0;
};

/// For each communicator, the node and the ranks for receives from MPI_ANY_SOURCE. They are made at their first use.
struct groups_of_peers {
  std::vector<needs::node> nodes;
  std::vector<rank_set> ranks;
};

class one_rank {
 public:
  one_rank(const picture& seen, wait_graphs& graphs, groups_of_peers& groups, std::uint32_t report)
      : seen_(seen),
        graphs_(graphs),
        groups_(groups),
        report_(report),
        call_(seen.ranks[report].doing),
        arrived_(*seen.ranks[report].report) {
    for (const half& operation : seen.operations.of(report)) {
      if (!waits_for(call_.kind, operation) || !may_wait_for_messages(call_)) continue;
      ++candidates_;
      if (operation.under_way()) {
        sure_ = false;  // the call may wait for this operation, which will complete
        continue;
      }
      sure_ = sure_ && operation.other_side_known;
      add(operation);
    }
    sure_ = sure_ && blocks(call_.kind) && !call_.other_threads && !another_may_end_it() &&
            lists_all_that_matters(*seen.ranks[report].report, call_.kind);
  }

  [[nodiscard]] std::size_t candidates() const { return candidates_; }

  void add_waits() {
    if (aims_.empty() && wildcards_.empty()) return;
    if (another_may_end_it()) return tell(false);
    if (sure_) need_one_of_all(graphs_.certain);
    const bool each = waits_for_all(call_.kind);
    if (each) {
      need_each(graphs_.likely);
    } else {
      need_one_of_all(graphs_.likely);
    }
    tell(each);
  }

 private:
  /// A request that is no send or receive may end MPI_Waitany and MPI_Waitsome.
  [[nodiscard]] bool another_may_end_it() const { return call_.kind == kind::wait_any && has_other_requests(call_); }

  void add(const half& operation) {
    aim* what = nullptr;
    const std::uint32_t peers = seen_.shared.peers_of(operation.shared);
    if (operation.any_source && peers != nowhere) {
      what = &wildcards_[peers];
    } else if (operation.peer_number != nowhere) {
      what = &aims_[operation.peer_number];
    } else {
      sure_ = false;  // the other rank is unknown
      return;
    }
    if (what->first == nullptr) what->first = &operation;
    ++what->count;
  }

  /// The node that goes on when any rank of a communicator does. None if not all members are known.
  [[nodiscard]] std::optional<needs::node> node_of_group(std::uint32_t shared) {
    const shared_communicator& group = seen_.shared.all[shared];
    if (group.members.size() != group.size || group.ambiguous) return std::nullopt;
    if (groups_.nodes[shared] != nowhere) return groups_.nodes[shared];
    std::vector<needs::node> members;
    group.members.for_each_known([&](std::size_t, std::int64_t member) {
      const std::uint32_t report = seen_.known(static_cast<std::uint32_t>(member));
      if (report != nowhere) members.push_back(report);
    });
    if (members.size() != group.size) return std::nullopt;
    groups_.nodes[shared] = graphs_.certain.add();
    (void)graphs_.likely.add();
    graphs_.certain.need(groups_.nodes[shared], members);
    graphs_.likely.need(groups_.nodes[shared], members);
    return groups_.nodes[shared];
  }

  void need_one_of_all(needs& graph) {
    std::vector<needs::node> those;
    for (const auto& [number, what] : aims_) {
      if (seen_.known(number) == nowhere) return;  // a rank that was not looked at may do anything
      those.push_back(seen_.known(number));
    }
    for (const auto& [shared, what] : wildcards_) {
      const auto node = node_of_group(shared);
      if (!node) return;
      those.push_back(*node);
    }
    graph.need(report_, those);
  }

  void need_each(needs& graph) {
    for (const auto& [number, what] : aims_) {
      if (seen_.known(number) != nowhere) graph.need(report_, seen_.known(number));
    }
    for (const auto& [shared, what] : wildcards_) {
      if (const auto node = node_of_group(shared)) graph.need(report_, *node);
    }
  }

  void tell(bool each) {
    const std::size_t different = aims_.size() + wildcards_.size();
    const bool certain = sure_ && different == 1;
    if (!each && different > 1) return put_one_of_many();
    for (const auto& [number, what] : aims_) put(rank_set{number}, false, what, certain);
    for (const auto& [shared, what] : wildcards_) put(group_without_self(shared), true, what, certain);
  }

  [[nodiscard]] rank_set group_without_self(std::uint32_t shared) {
    auto& all = groups_.ranks[shared];
    if (all.empty()) {
      std::vector<std::uint32_t> members;
      seen_.shared.all[shared].members.for_each_known(
          [&](std::size_t, std::int64_t member) { members.push_back(static_cast<std::uint32_t>(member)); });
      all = set_of(std::move(members));
    }
    rank_set others = all.without(rank_set{seen_.ranks[report_].entry});
    return others.empty() ? all : others;
  }

  [[nodiscard]] std::string where() const {
    if (call_.function.empty()) return call_.kind == kind::unknown ? "in a call that is not known" : "in no MPI call";
    return "in " + call_.function + site_text(call_.at);
  }

  /// What has arrived for a receive that no send of the other side fits.
  [[nodiscard]] std::string arrived_text(const half& operation) {
    if (operation.is_send() || operation.any_tag) return "";
    if (operation.any_source) return arrived_.text(operation.place.communicator, std::nullopt, operation.tag);
    if (operation.peer_local == nowhere) return "";
    return arrived_.text(operation.place.communicator, operation.peer_local, operation.tag);
  }

  void put(rank_set to, bool any_of, const aim& what, bool certain) {
    if (to.empty()) return;
    std::string why = fmt::format("{}: {}", where(), text_of(*what.first, seen_));
    if (what.count > 1) why += fmt::format(" and {} more", what.count - 1);
    why += missing_text(*what.first) + arrived_text(*what.first);
    graphs_.waits.push_back({seen_.ranks[report_].entry, std::move(to), any_of, certain, std::move(why)});
  }

  void put_one_of_many() {
    rank_set all;
    const aim* first = nullptr;
    std::size_t count = 0;
    const auto take = [&](const aim& what) {
      if (first == nullptr) first = &what;
      count += what.count;
    };
    for (const auto& [number, what] : aims_) {
      all.add(number);
      take(what);
    }
    for (const auto& [shared, what] : wildcards_) {
      all.add(group_without_self(shared));
      take(what);
    }
    std::string why =
        fmt::format("{}: one of {} operations, the first {}", where(), count, text_of(*first->first, seen_));
    graphs_.waits.push_back({seen_.ranks[report_].entry, std::move(all), true, sure_, std::move(why)});
  }

  const picture& seen_;
  wait_graphs& graphs_;
  groups_of_peers& groups_;
  std::uint32_t report_;
  const rank_activity& call_;
  arrived_messages arrived_;
  std::map<std::uint32_t, aim> aims_;       ///< by the other side's number
  std::map<std::uint32_t, aim> wildcards_;  ///< from MPI_ANY_SOURCE, by communicator
  std::size_t candidates_ = 0;
  bool sure_ = true;
};

}  // namespace

void add_operations(const picture& seen, wait_graphs& graphs, std::vector<std::string>& doubts) {
  groups_of_peers groups{std::vector<needs::node>(seen.shared.all.size(), nowhere),
                         std::vector<rank_set>(seen.shared.all.size())};
  std::vector<std::uint32_t> nothing_there;
  for (std::uint32_t report = 0; report < seen.ranks.size(); ++report) {
    if (!seen.ranks[report].report) continue;
    one_rank rank(seen, graphs, groups, report);
    rank.add_waits();
    const bool whole = seen.ranks[report].report->missing.empty() && seen.ranks[report].report->problems.empty();
    const kind call = seen.ranks[report].doing.kind;  // add_doubts reports probes
    const bool expects_any = blocks(call) && call != kind::probe && may_wait_for_messages(seen.ranks[report].doing);
    if (whole && expects_any && rank.candidates() == 0) nothing_there.push_back(seen.ranks[report].entry.value());
  }
  if (!nothing_there.empty()) {
    doubts.push_back(ranks_named(set_of(nothing_there)) +
                     ": in a call that waits, and the queues list no operation that it could wait for");
  }
}

}  // namespace mpiacq::waits
