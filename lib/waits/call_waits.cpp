// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Waits of ranks whose queues are not known or do not show them, from the arguments of their calls.
#include <compare>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "arrived_messages.hpp"
#include "call_facts.hpp"
#include "picture.hpp"

namespace mpiacq::waits {

namespace {

using kind = mpi_call_kind;

class by_calls {
 public:
  by_calls(const picture& seen, wait_graphs& graphs) : seen_(seen), graphs_(graphs) {}

  void add_all() {
    const std::vector<bool> known = known_collectives();
    for (std::uint32_t report = 0; report < seen_.ranks.size(); ++report) {
      const rank_report& rank = seen_.ranks[report];
      if (!is_told_by_call(rank) || !knows_communicator(report)) continue;
      const kind call = rank.doing.kind;
      if (call == kind::synchronising || call == kind::collective || is_collective_on_file(rank.doing)) {
        if (!known[report]) enter(report);
      } else {
        add_peers(report);
      }
    }
    for (const auto& [call, reports] : collective_calls_) add_collective(call, reports);
  }

 private:
  struct collective_call {
    std::uint32_t shared = nowhere;  ///< the communicator; `nowhere`: MPI_COMM_WORLD
    std::string function;
    std::optional<std::uint32_t> root;  ///< empty: none, or not known
    friend auto operator<=>(const collective_call&, const collective_call&) = default;
  };

  /// MPI_Finalize is a collective call of all ranks that are connected, which are those of MPI_COMM_WORLD at least.
  static bool is_finalize(const rank_activity& doing) { return doing.function == "MPI_Finalize"; }

  /// Whether the members of the call's communicator are known: those of MPI_COMM_WORLD always are.
  [[nodiscard]] bool knows_communicator(std::uint32_t report) const {
    const rank_activity& doing = seen_.ranks[report].doing;
    if (is_on_world(doing) || is_finalize(doing)) return true;
    const std::uint32_t called = seen_.shared.called[report];
    if (called == nowhere || seen_.shared.all[called].ambiguous) return false;
    const std::uint32_t peers = seen_.shared.peers_of(called);
    return peers != nowhere && !seen_.shared.all[peers].ambiguous;
  }
  /// The communicator of the call; `nowhere` for MPI_COMM_WORLD.
  [[nodiscard]] std::uint32_t communicator_of(std::uint32_t report) const { return seen_.shared.called[report]; }

  /// By report: its communicators have shown what its collective call waits for.
  [[nodiscard]] std::vector<bool> known_collectives() const {
    std::vector<bool> known(seen_.ranks.size());
    for (std::size_t report = 0; report < known.size(); ++report) {
      known[report] = !graphs_.entered[report].communicator.empty();
    }
    return known;
  }
  void enter(std::uint32_t report) {
    const rank_activity& doing = seen_.ranks[report].doing;
    const std::uint32_t on = communicator_of(report);
    graphs_.entered[report] = {on == nowhere ? "MPI_COMM_WORLD" : seen_.communicator_name(on), on, nullptr};
    collective_calls_[{on, doing.function, roots_[{on, doing.function}].of(doing)}].push_back(report);
  }

  /// The ranks of a point-to-point call. The call needs each of them.
  void add_peers(std::uint32_t report) {
    const rank_activity& doing = seen_.ranks[report].doing;
    if (doing.kind == kind::send) add_peer(report, mpi_role::destination);
    if (doing.kind == kind::receive || doing.kind == kind::probe) add_peer(report, mpi_role::source);
    if (doing.kind != kind::exchange) return;
    if (!is_surely_eager(doing)) add_peer(report, mpi_role::destination);
    add_peer(report, mpi_role::source);
  }

  /// Whether every MPI lets a message of this size leave before there is a receive for it.
  static bool is_surely_eager(const rank_activity& doing) {
    constexpr std::uint64_t smallest_eager_limit = 256;
    return bytes_sent(doing).value_or(UINT64_MAX) <= smallest_eager_limit;
  }

  void add_peer(std::uint32_t report, mpi_role role) {
    const rank_report& rank = seen_.ranks[report];
    const mpi_argument* who = argument_of(rank.doing, role);
    if (who == nullptr || who->name == "MPI_PROC_NULL") return;
    if (who->name == "MPI_ANY_SOURCE") return add_anybody(report);
    if (!who->name.empty() || who->value < 0 || who->value >= UINT32_MAX) return;
    const auto peer_number = number_of_peer(report, who->value);
    if (!peer_number) return;
    const std::uint32_t number = *peer_number;
    const auto other = seen_.report_of.find(number);
    // Another thread of the rank may serve what this one waits for.
    const bool by_own_thread = other != seen_.report_of.end() && other->second == report && rank.doing.other_threads;
    if (other != seen_.report_of.end() && !by_own_thread) graphs_.likely.need(report, other->second);
    put(report, rank_set{entry_index{number}}, false);
  }

  /// The number in the job of a rank of the call's communicator.
  [[nodiscard]] std::optional<std::uint32_t> number_of_peer(std::uint32_t report, std::int64_t rank) const {
    const std::uint32_t on = communicator_of(report);
    if (on == nowhere) return static_cast<std::uint32_t>(rank);
    return number_of(seen_.shared, on, peer{false, rank, std::nullopt});
  }

  /// The ranks of one communicator, of which any can send.
  struct anybody {
    needs::node node = nowhere;
    rank_set all;
    bool every_report = false;  ///< all of these ranks were looked at
  };

  /// A receive from any source needs one of the other ranks.
  void add_anybody(std::uint32_t report) {
    const std::uint32_t on = communicator_of(report);
    const auto [at, is_new] = anybody_.try_emplace(on == nowhere ? nowhere : seen_.shared.peers_of(on));
    if (is_new) at->second = learn_all(at->first);
    const rank_set others = at->second.all.without(rank_set{seen_.ranks[report].entry});
    if (others.empty()) return;
    // A rank that waits for anybody also waits for itself, so that all such ranks share one node.
    if (at->second.every_report) graphs_.likely.need(report, at->second.node);
    put(report, others, true);
  }
  [[nodiscard]] anybody learn_all(std::uint32_t shared) {
    std::vector<std::uint32_t> numbers;
    std::vector<needs::node> nodes;
    if (shared == nowhere) {
      for (std::uint32_t report = 0; report < seen_.ranks.size(); ++report) {
        numbers.push_back(seen_.ranks[report].entry.value());
        nodes.push_back(report);
      }
    } else {
      for_each_member(shared, [&](std::size_t, std::uint32_t number, std::uint32_t report) {
        numbers.push_back(number);
        if (report != nowhere) nodes.push_back(report);
      });
    }
    const std::size_t all =
        shared == nowhere ? numbers.size() : static_cast<std::size_t>(seen_.shared.all[shared].size);
    anybody made{graphs_.certain.add(), set_of(std::move(numbers)), nodes.size() == all};
    (void)graphs_.likely.add();
    graphs_.likely.need(made.node, nodes);
    return made;
  }

  /// Calls `visit(rank, number, report)` for each known member; `nowhere` for one that was not looked at.
  template <class Visit>
  void for_each_member(std::uint32_t shared, Visit visit) const {
    seen_.shared.all[shared].members.for_each_known([&](std::size_t rank, std::int64_t member) {
      const auto number = static_cast<std::uint32_t>(member);
      const auto report = seen_.report_of.find(number);
      visit(rank, number, report == seen_.report_of.end() ? nowhere : report->second);
    });
  }

  /// The ranks in one collective call wait for those that are elsewhere. A rank whose call or communicator is not known
  /// may be in it, too.
  void add_collective(const collective_call& call, const std::vector<std::uint32_t>& reports) {
    const auto missing = missing_from(call);
    if (seen_.ranks[reports.front()].doing.kind == kind::synchronising) return add_awaited(reports, missing);
    const auto is_root = [&](std::uint32_t report) {
      if (!call.root) return false;
      const std::int64_t root = call.shared == nowhere ? *call.root : seen_.shared.all[call.shared].members[*call.root];
      return root == seen_.ranks[report].entry.value();
    };
    for (const role_in_call& role : root_and_others(reports, is_root, missing, call.function)) {
      add_awaited(role.reports, role.awaited);
    }
  }
  [[nodiscard]] std::vector<absentee> missing_from(const collective_call& call) const {
    std::vector<absentee> missing;
    if (call.shared == nowhere) {
      for (std::uint32_t other = 0; other < seen_.ranks.size(); ++other) {
        const std::uint32_t number = seen_.ranks[other].entry.value();
        if (is_missing(call, other))
          missing.push_back({number, other, call.root == number, is_in_another(call, other)});
      }
      return missing;
    }
    for_each_member(seen_.shared.peers_of(call.shared),
                    [&](std::size_t rank, std::uint32_t number, std::uint32_t other) {
                      if (other == nowhere || !is_missing(call, other)) return;
                      missing.push_back({number, other, call.root == rank, is_in_another(call, other)});
                    });
    return missing;
  }
  [[nodiscard]] bool is_missing(const collective_call& call, std::uint32_t other) const {
    const rank_activity& doing = seen_.ranks[other].doing;
    const auto root = root_of(doing);
    const bool same_call = doing.function == call.function && (!root || !call.root || *root == *call.root);
    return doing.kind != kind::unknown && !(same_call && may_be_on(call, other));
  }
  /// Whether the call of a rank may be on the communicator of this call.
  [[nodiscard]] bool may_be_on(const collective_call& call, std::uint32_t other) const {
    const rank_activity& doing = seen_.ranks[other].doing;
    if (call.shared == nowhere) {
      return is_on_world(doing) || argument_of(doing, mpi_role::communicator) == nullptr;
    }
    if (communicator_of(other) != nowhere) return communicator_of(other) == seen_.shared.peers_of(call.shared);
    return !is_on_world(doing);
  }
  [[nodiscard]] bool is_in_another(const collective_call& call, std::uint32_t other) const {
    const rank_activity& doing = seen_.ranks[other].doing;
    if (does_nothing_more(doing)) return true;
    if (!is_collective(doing.kind) && !is_collective_on_file(doing)) return false;
    return call.shared == nowhere ? is_on_world(doing) : communicator_of(other) == seen_.shared.peers_of(call.shared);
  }
  void add_awaited(const std::vector<std::uint32_t>& reports, const std::vector<absentee>& missing) {
    if (reports.empty() || missing.empty()) return;
    std::vector<std::uint32_t> numbers;
    const needs::node all_come = graphs_.certain.add();
    (void)graphs_.likely.add();
    for (const absentee& one : missing) {
      graphs_.likely.need(all_come, one.report);
      numbers.push_back(one.number);
    }
    const auto awaited = std::make_shared<const rank_set>(set_of(std::move(numbers)));
    for (const std::uint32_t report : reports) {
      // A rank in MPI_Finalize does nothing for other ranks any more, even if it waits there.
      if (!does_nothing_more(seen_.ranks[report].doing)) graphs_.likely.need(report, all_come);
      graphs_.entered[report].awaited = awaited;
      put(report, *awaited, false);
    }
  }

  /// What has arrived for a rank that waits in MPI_Probe, which no queue lists.
  [[nodiscard]] std::string arrived_text(std::uint32_t report) const {
    const rank_report& rank = seen_.ranks[report];
    const mpi_argument* source = argument_of(rank.doing, mpi_role::source);
    const mpi_argument* tag = argument_of(rank.doing, mpi_role::tag);
    if (rank.doing.kind != kind::probe || !rank.report || source == nullptr || tag == nullptr || !tag->name.empty()) {
      return "";
    }
    const auto place = place_of_communicator(report);
    if (!place) return "";
    arrived_messages arrived(*rank.report);
    if (source->name == "MPI_ANY_SOURCE") return arrived.text(*place, std::nullopt, tag->value);
    return source->name.empty() ? arrived.text(*place, source->value, tag->value) : "";
  }
  /// Where the rank's report has the communicator of its call.
  [[nodiscard]] std::optional<std::size_t> place_of_communicator(std::uint32_t report) const {
    const auto& own = seen_.ranks[report].report->communicators;
    const std::uint32_t on = communicator_of(report);
    for (std::size_t place = 0; place < own.size(); ++place) {
      const bool is_it = on == nowhere ? own[place].name == "MPI_COMM_WORLD" : seen_.shared.of[report][place] == on;
      if (is_it) return place;
    }
    return std::nullopt;
  }

  void put(std::uint32_t report, rank_set to, bool any_of) {
    const rank_report& rank = seen_.ranks[report];
    std::string why = "in " + call_text(rank.doing) + site_text(rank.doing.at) + arrived_text(report);
    graphs_.waits.push_back({rank.entry, std::move(to), any_of, false, std::move(why)});
  }

  const picture& seen_;
  wait_graphs& graphs_;
  std::map<std::pair<std::uint32_t, std::string>, roots_apart> roots_;      ///< by communicator and function
  std::map<collective_call, std::vector<std::uint32_t>> collective_calls_;  ///< their reports
  std::map<std::uint32_t, anybody> anybody_;                                ///< by communicator
};

}  // namespace

void add_calls(const picture& seen, wait_graphs& graphs) {
  by_calls(seen, graphs).add_all();
}

}  // namespace mpiacq::waits
