// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Waits for nonblocking collective operations, and for messages that no queue shows, from the requests of the calls
// that ranks are in.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "call_facts.hpp"
#include "message_waits.hpp"
#include "picture.hpp"
#include "request_facts.hpp"

namespace mpiacq::waits {

namespace {

using kind = mpi_call_kind;

bool waits_for_requests(kind call) {
  return call == kind::wait_one || call == kind::wait_all || call == kind::wait_any;
}
bool names_requests(kind call) {
  return waits_for_requests(call) || call == kind::test;
}

/// The communicator with this id among those of a rank, in the numbers of `shared_communicators`; `nowhere` if there is
/// none, or if it cannot be told from others.
std::uint32_t communicator_with(const picture& seen, std::uint32_t report, std::optional<std::uint64_t> id) {
  if (!id || !seen.ranks[report].report) return nowhere;
  std::uint32_t found = nowhere;
  const auto& own = seen.ranks[report].report->communicators;
  for (std::uint32_t place = 0; place < own.size(); ++place) {
    if (own[place].id != *id) continue;
    if (found != nowhere) return nowhere;
    found = seen.shared.of[report][place];
  }
  return found == nowhere || seen.shared.all[found].ambiguous ? nowhere : found;
}

class by_requests {
 public:
  by_requests(const picture& seen, wait_graphs& graphs, std::vector<std::string>& doubts)
      : seen_(seen), graphs_(graphs), doubts_(doubts), messages_(seen, graphs), is_in_(seen.ranks.size()) {}

  void add_all() {
    for (std::uint32_t report = 0; report < seen_.ranks.size(); ++report) enter(report);
    for (const auto& [shared, reports] : waiting_) add_collective(shared, reports);
    say_unknown();
  }

 private:
  /// The collective operations that a rank waits for, and what is not known of its requests.
  void enter(std::uint32_t report) {
    const rank_activity& doing = seen_.ranks[report].doing;
    if (!doing.requests || !names_requests(doing.kind)) return;
    if (!lists_queues(seen_.ranks[report]) && waits_for_requests(doing.kind)) messages_.add(report);
    for (const pending_requests& one : doing.requests->pending) {
      if (!lists_queues(seen_.ranks[report]) && message_waits::tells_other_rank(one)) continue;
      const std::uint32_t shared =
          one.kind == mpi_request_kind::collective ? communicator_with(seen_, report, one.communicator) : nowhere;
      if (shared != nowhere) {
        is_in_[report].insert(shared);
        if (waits_for_requests(doing.kind)) waiting_[shared].push_back({report, &one});
      } else if (!add_message(report, one)) {
        say(report, one);
      }
    }
    if (doing.requests->unknown != 0 && waits_for_requests(doing.kind)) incomplete_.push_back(number_of(report));
  }

  struct waiting_rank {
    std::uint32_t report;
    const pending_requests* requests;
  };

  /// Ranks that wait for a collective operation on a communicator wait for the members that have not begun it. A member
  /// that does not wait for such an operation may have begun it all the same.
  void add_collective(std::uint32_t shared, const std::vector<waiting_rank>& those) {
    const auto missing = probably_awaited(missing_from(shared), {}, false);
    if (missing.empty()) return;
    const needs::node all_come = graphs_.certain.add();
    (void)graphs_.likely.add();
    std::vector<std::uint32_t> absent;
    for (const absentee& one : missing) {
      graphs_.likely.need(all_come, one.report);
      absent.push_back(one.number);
    }
    const rank_set awaited = set_of(std::move(absent));
    for (const waiting_rank& one : those) {
      const rank_activity& doing = seen_.ranks[one.report].doing;
      if (needs_each_request(doing)) graphs_.likely.need(one.report, all_come);
      graphs_.waits.push_back(
          {seen_.ranks[one.report].entry, awaited, false, false, reason(doing, *one.requests, shared, awaited)});
    }
  }

  /// The ranks of one communicator, of which any may be the other rank of a message.
  struct message_peers {
    needs::node node = nowhere;  ///< goes on when any of them does; `nowhere` if not all of them were looked at
    rank_set all;
    rank_set exchanging;  ///< their calls may be for messages
  };

  /// Without a queue, a pending send or receive shows its communicator alone. Only members of the communicator can
  /// complete it. Returns false if they are not known, or if the operation is not the call's.
  bool add_message(std::uint32_t report, const pending_requests& one) {
    const rank_report& rank = seen_.ranks[report];
    if (!is_message(one) || lists_queues(rank) || !waits_for_requests(rank.doing.kind)) return false;
    const std::uint32_t shared = communicator_with(seen_, report, one.communicator);
    const std::uint32_t peers = shared == nowhere ? nowhere : seen_.shared.peers_of(shared);
    if (peers == nowhere || seen_.shared.all[peers].ambiguous) return false;
    const auto [at, is_new] = message_peers_.try_emplace(peers);
    if (is_new) at->second = peers_on(peers);
    rank_set others = at->second.all.without(rank_set{rank.entry});
    if (others.empty()) return false;
    // A member that is in a call for messages may be the other rank, and the message may be on its way between the two.
    const bool may_move = !at->second.exchanging.without(rank_set{rank.entry}).empty();
    if (at->second.node != nowhere && !may_move && needs_each_request(rank.doing))
      graphs_.likely.need(report, at->second.node);
    std::string why =
        fmt::format("in {}{}: {} on {}, whose other {} not known", rank.doing.function, site_text(rank.doing.at),
                    requests_text(one), seen_.communicator_name(shared), one.count == 1 ? "rank is" : "ranks are");
    graphs_.waits.push_back({rank.entry, std::move(others), true, false, std::move(why)});
    return true;
  }
  [[nodiscard]] message_peers peers_on(std::uint32_t shared) {
    message_peers made;
    std::vector<std::uint32_t> ranks, exchanging;
    std::vector<needs::node> nodes;
    seen_.shared.all[shared].members.for_each_known([&](std::size_t, std::int64_t member) {
      ranks.push_back(static_cast<std::uint32_t>(member));
      const auto report = seen_.report_of.find(ranks.back());
      if (report == seen_.report_of.end()) return;
      nodes.push_back(report->second);
      if (may_exchange(seen_.ranks[report->second].doing)) exchanging.push_back(ranks.back());
    });
    if (nodes.size() == seen_.shared.all[shared].size) {
      made.node = graphs_.certain.add();
      (void)graphs_.likely.add();
      graphs_.likely.need(made.node, nodes);
    }
    made.all = set_of(std::move(ranks));
    made.exchanging = set_of(std::move(exchanging));
    return made;
  }
  static bool may_exchange(const rank_activity& doing) {
    switch (doing.kind) {
      case kind::send:
      case kind::receive:
      case kind::exchange:
      case kind::probe:
      case kind::unknown:
        return true;
      default:
        return names_requests(doing.kind) && may_wait_for_messages(doing);
    }
  }

  [[nodiscard]] std::vector<absentee> missing_from(std::uint32_t shared) const {
    std::vector<absentee> missing;
    const std::uint32_t peers = seen_.shared.peers_of(shared);
    if (peers == nowhere) return missing;
    seen_.shared.all[peers].members.for_each_known([&](std::size_t, std::int64_t member) {
      const auto number = static_cast<std::uint32_t>(member);
      const std::uint32_t report = seen_.known(number);
      if (report == nowhere || may_be_in(report, peers)) return;
      const rank_activity& doing = seen_.ranks[report].doing;
      missing.push_back({number, report, false, does_nothing_more(doing) || graphs_.entered[report].key == peers});
    });
    std::sort(missing.begin(), missing.end(), [](const absentee& a, const absentee& b) { return a.number < b.number; });
    return missing;
  }
  /// Whether a rank waits for a collective operation on this communicator, or may do so.
  [[nodiscard]] bool may_be_in(std::uint32_t report, std::uint32_t shared) const {
    const rank_activity& doing = seen_.ranks[report].doing;
    if (doing.kind == kind::unknown || is_in_[report].contains(shared)) return true;
    return names_requests(doing.kind) && !knows_requests(doing);
  }

  [[nodiscard]] std::string reason(const rank_activity& doing, const pending_requests& requests, std::uint32_t shared,
                                   const rank_set& awaited) const {
    return fmt::format("in {}{}: {} on {}, which {} not wait for", doing.function, site_text(doing.at),
                       requests_text(requests), seen_.communicator_name(shared),
                       awaited.count() == 1 ? "it does" : "they do");
  }

  /// Which ranks can complete this request is not known. The queues say it of sends and receives.
  void say(std::uint32_t report, const pending_requests& one) {
    const rank_report& rank = seen_.ranks[report];
    const bool is_in_queues = one.kind == mpi_request_kind::point_to_point && lists_queues(rank);
    if (is_in_queues || !waits_for_requests(rank.doing.kind)) return;
    const std::uint32_t shared = communicator_with(seen_, report, one.communicator);
    std::string where = one.communicator_name;
    if (shared != nowhere) where = seen_.communicator_name(shared);
    if (!where.empty()) where = " on " + where;
    not_known_[fmt::format("in {} for {}{}", rank.doing.function, requests_text(one), where)].push_back(
        number_of(report));
  }
  void say_unknown() {
    for (const auto& [what, ranks] : not_known_) {
      doubts_.push_back(
          fmt::format("{}: {}, and which ranks can complete it is not known", ranks_named(set_of(ranks)), what));
    }
    if (incomplete_.empty()) return;
    doubts_.push_back(ranks_named(set_of(incomplete_)) + ": not all requests of the call are known");
  }

  [[nodiscard]] std::uint32_t number_of(std::uint32_t report) const { return seen_.ranks[report].entry.value(); }

  const picture& seen_;
  wait_graphs& graphs_;
  std::vector<std::string>& doubts_;
  message_waits messages_;
  std::vector<std::set<std::uint32_t>> is_in_;  ///< by report: the communicators on which it waits or tests
  std::map<std::uint32_t, std::vector<waiting_rank>> waiting_;  ///< by communicator
  std::map<std::uint32_t, message_peers> message_peers_;        ///< by communicator
  std::map<std::string, std::vector<std::uint32_t>> not_known_;
  std::vector<std::uint32_t> incomplete_;
};

}  // namespace

void add_requests(const picture& seen, wait_graphs& graphs, std::vector<std::string>& doubts) {
  by_requests(seen, graphs, doubts).add_all();
}

}  // namespace mpiacq::waits
