// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "message_waits.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "call_facts.hpp"
#include "request_facts.hpp"

namespace mpiacq::waits {

namespace {

using kind = mpi_call_kind;

/// The other rank of any message on MPI_COMM_WORLD is known to be one of the world.
bool is_from_anybody(const pending_requests& one) {
  return one.message && !one.message->is_send && !one.message->peer && one.communicator_name == "MPI_COMM_WORLD";
}

std::string message_text(const pending_requests& one) {
  std::string text = fmt::format("a {} with {}", one.message->is_send ? "send" : "receive",
                                 one.message->tag ? fmt::format("tag {}", *one.message->tag) : "any tag");
  if (!one.communicator_name.empty()) return text + " on " + one.communicator_name;
  return one.communicator ? fmt::format("{} on communicator {:#x}", text, *one.communicator) : text;
}

/// Whether MPI may match these two, if each names the other's rank.
bool fit_each_other(const request_message& a, const request_message& b) {
  return a.is_send != b.is_send && (!a.tag || !b.tag || *a.tag == *b.tag);
}

/// Whether the call may be the other side of a send or a receive of rank `number`. The call's own communicator does not
/// count, so that it rather may.
bool may_be_other_side(const rank_activity& call, bool sends, std::uint32_t number) {
  const auto names = [&](mpi_role role) {
    const mpi_argument* who = argument_of(call, role);
    return who == nullptr || !is_on_world(call) || who->value < 0 || who->value == number;
  };
  const bool receives_it = call.kind == kind::receive || call.kind == kind::exchange || call.kind == kind::probe;
  const bool sends_it = call.kind == kind::send || call.kind == kind::exchange;
  return sends ? receives_it && names(mpi_role::source) : sends_it && names(mpi_role::destination);
}

/// Whether a rank is in a call that sends, or names a request that may be one of a send.
bool may_send(const rank_activity& doing) {
  if (doing.kind == kind::send || doing.kind == kind::exchange) return true;
  return doing.requests &&
         std::any_of(doing.requests->pending.begin(), doing.requests->pending.end(), [](const pending_requests& one) {
           return is_message(one) && (!one.message || one.message->is_send);
         });
}

/// So many senders are looked at for each receive from any source. If there are more, one of them is taken for the
/// other side: the time would grow with the square of the ranks.
constexpr std::size_t most_senders = 64;

}  // namespace

bool message_waits::tells_other_rank(const pending_requests& one) {
  return is_message(one) && one.message && (one.message->world_rank || is_from_anybody(one));
}

void message_waits::add(std::uint32_t report) {
  const rank_activity& doing = seen_.ranks[report].doing;
  std::vector<std::pair<const pending_requests*, others>> told;
  std::uint64_t count = 0;
  for (const pending_requests& one : doing.requests->pending) {
    if (!tells_other_rank(one)) continue;
    told.emplace_back(&one, others_of(report, one));
    count += one.count;
  }
  if (told.empty()) return;
  const bool each = doing.kind != kind::wait_any;
  if (each || told.size() == 1) {
    for (auto& [one, who] : told) {
      if (who.node != nowhere && needs_each_request(doing)) graphs_.likely.need(report, who.node);
      std::string what = message_text(*one);
      if (one->count > 1) what += fmt::format(" and {} more", one->count - 1);
      put(report, std::move(who.ranks), is_from_anybody(*one), std::move(what));
    }
    return;
  }
  rank_set all;
  std::vector<needs::node> nodes;
  for (auto& [one, who] : told) {
    all.add(who.ranks);
    if (who.node != nowhere) nodes.push_back(who.node);
  }
  if (nodes.size() == doing.requests->pending.size() && knows_requests(doing)) graphs_.likely.need(report, nodes);
  put(report, std::move(all), true,
      fmt::format("one of {} operations, the first {}", count, message_text(*told.front().first)));
}

message_waits::others message_waits::others_of(std::uint32_t report, const pending_requests& one) {
  if (is_from_anybody(one)) {
    rank_set self;
    self.add(seen_.ranks[report].entry);
    const everybody& all = all_ranks();
    const bool is_moving =
        all.senders.size() > most_senders || std::any_of(all.senders.begin(), all.senders.end(), [&](auto other) {
          return other != report && may_be_under_way(report, other, one);
        });
    return {all.numbers.without(self), is_moving ? nowhere : node_of_all()};
  }
  const std::uint32_t number = *one.message->world_rank;
  others made{rank_set{entry_index{number}}, nowhere};
  const auto other = seen_.report_of.find(number);
  if (other == seen_.report_of.end()) return made;
  // Another thread of the rank may serve what this one waits for.
  const bool by_own_thread = other->second == report && seen_.ranks[report].doing.other_threads;
  if (!by_own_thread && !may_be_under_way(report, other->second, one)) made.node = other->second;
  return made;
}

const message_waits::everybody& message_waits::all_ranks() {
  if (everybody_) return *everybody_;
  everybody_.emplace();
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t report = 0; report < seen_.ranks.size(); ++report) {
    numbers.push_back(seen_.ranks[report].entry.value());
    if (may_send(seen_.ranks[report].doing)) everybody_->senders.push_back(report);
  }
  everybody_->numbers = set_of(std::move(numbers));
  return *everybody_;
}

/// A rank that waits for anybody also waits for itself, so that all such ranks share one node.
needs::node message_waits::node_of_all() {
  if (all_ != nowhere) return all_;
  all_ = graphs_.certain.add();
  (void)graphs_.likely.add();
  std::vector<needs::node> nodes;
  for (std::uint32_t report = 0; report < seen_.ranks.size(); ++report) nodes.push_back(report);
  graphs_.likely.need(all_, nodes);
  return all_;
}

/// Whether the other rank may have begun the operation that completes this request.
bool message_waits::may_be_under_way(std::uint32_t report, std::uint32_t other, const pending_requests& one) const {
  const rank_activity& doing = seen_.ranks[other].doing;
  const std::uint32_t number = seen_.ranks[report].entry.value();
  if (may_be_other_side(doing, one.message->is_send, number)) return true;
  if (!doing.requests) return false;
  const auto& pending = doing.requests->pending;
  return std::any_of(pending.begin(), pending.end(), [&](const pending_requests& its) {
    // The two sides of an intercommunicator may have different ids.
    if (!is_message(its) || its.communicator_name != one.communicator_name) return false;
    if (!its.message) return true;
    const bool names_it = its.message->world_rank == number || (!its.message->world_rank && !its.message->peer);
    return names_it && fit_each_other(*its.message, *one.message);
  });
}

void message_waits::put(std::uint32_t report, rank_set to, bool any_of, std::string what) {
  if (to.empty()) return;
  const rank_report& rank = seen_.ranks[report];
  graphs_.waits.push_back({rank.entry, std::move(to), any_of, false,
                           fmt::format("in {}{}: {}", rank.doing.function, site_text(rank.doing.at), what)});
}

}  // namespace mpiacq::waits
