// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Waits of ranks whose queues are not known, from the arguments of their calls.
#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "picture.hpp"

namespace mpiacq::waits {

namespace {

using kind = mpi_call_kind;

const mpi_argument* argument(const rank_activity& doing, mpi_role role) {
  for (const mpi_argument& one : doing.arguments) {
    if (one.role == role && one.is_known) return &one;
  }
  return nullptr;
}

/// Only the members of MPI_COMM_WORLD are known without queues: its ranks are those of the job.
bool is_on_world(const rank_activity& doing) {
  const mpi_argument* on = argument(doing, mpi_role::communicator);
  return on != nullptr && on->name == "MPI_COMM_WORLD";
}

class by_calls {
 public:
  by_calls(const picture& seen, wait_graphs& graphs) : seen_(seen), graphs_(graphs) {}

  void add_all() {
    for (std::uint32_t report = 0; report < seen_.ranks.size(); ++report) {
      const rank_report& rank = seen_.ranks[report];
      if (lists_queues(rank) || !is_on_world(rank.doing)) continue;
      const kind call = rank.doing.kind;
      if (call == kind::synchronising || call == kind::collective) {
        collective_calls_[rank.doing.function].push_back(report);
      } else {
        add_peers(report);
      }
    }
    for (const auto& [function, reports] : collective_calls_) add_collective(function, reports);
  }

 private:
  /// The ranks of a point-to-point call. The call needs each of them.
  void add_peers(std::uint32_t report) {
    const rank_activity& doing = seen_.ranks[report].doing;
    if (doing.kind == kind::send) add_peer(report, mpi_role::destination);
    if (doing.kind == kind::receive || doing.kind == kind::probe) add_peer(report, mpi_role::source);
    if (doing.kind != kind::exchange) return;
    add_peer(report, mpi_role::destination);
    add_peer(report, mpi_role::source);
  }

  void add_peer(std::uint32_t report, mpi_role role) {
    const rank_report& rank = seen_.ranks[report];
    const mpi_argument* who = argument(rank.doing, role);
    if (who == nullptr || who->name == "MPI_PROC_NULL") return;
    if (who->name == "MPI_ANY_SOURCE") return add_anybody(report);
    if (!who->name.empty() || who->value < 0 || who->value >= UINT32_MAX) return;
    const auto number = static_cast<std::uint32_t>(who->value);
    const auto other = seen_.report_of.find(number);
    if (other != seen_.report_of.end()) graphs_.likely.need(report, other->second);
    put(report, rank_set{entry_index{number}}, false);
  }

  /// A receive from any source needs one of the other ranks.
  void add_anybody(std::uint32_t report) {
    if (!anybody_) learn_all();
    const rank_set others = all_.without(rank_set{seen_.ranks[report].entry});
    if (others.empty()) return;
    // A rank that waits for anybody also waits for itself, so that all such ranks share one node.
    graphs_.likely.need(report, *anybody_);
    put(report, others, true);
  }
  void learn_all() {
    std::vector<std::uint32_t> numbers;
    std::vector<needs::node> nodes;
    for (std::uint32_t report = 0; report < seen_.ranks.size(); ++report) {
      numbers.push_back(seen_.ranks[report].entry.value());
      nodes.push_back(report);
    }
    all_ = set_of(std::move(numbers));
    anybody_ = graphs_.certain.add();
    (void)graphs_.likely.add();
    graphs_.likely.need(*anybody_, nodes);
  }

  /// The ranks in one collective call wait for those that are elsewhere. A rank whose call or communicator is not known
  /// may be in it, too.
  void add_collective(const std::string& function, const std::vector<std::uint32_t>& reports) {
    std::vector<std::uint32_t> numbers;
    std::vector<needs::node> nodes;
    for (std::uint32_t other = 0; other < seen_.ranks.size(); ++other) {
      const rank_activity& doing = seen_.ranks[other].doing;
      const bool may_be_in_it = doing.function == function && (is_on_world(doing) || !has_communicator(doing));
      if (doing.kind == kind::unknown || may_be_in_it) continue;
      numbers.push_back(seen_.ranks[other].entry.value());
      nodes.push_back(other);
    }
    if (nodes.empty()) return;
    const rank_set missing = set_of(std::move(numbers));
    const needs::node all_come = graphs_.certain.add();
    (void)graphs_.likely.add();
    for (const needs::node node : nodes) graphs_.likely.need(all_come, node);
    for (const std::uint32_t report : reports) {
      graphs_.likely.need(report, all_come);
      put(report, missing, false);
    }
  }

  static bool has_communicator(const rank_activity& doing) {
    return argument(doing, mpi_role::communicator) != nullptr;
  }

  void put(std::uint32_t report, rank_set to, bool any_of) {
    const rank_report& rank = seen_.ranks[report];
    std::string why = "in " + call_text(rank.doing) + site_text(rank.doing.at);
    graphs_.waits.push_back({rank.entry, std::move(to), any_of, false, std::move(why)});
  }

  const picture& seen_;
  wait_graphs& graphs_;
  std::map<std::string, std::vector<std::uint32_t>> collective_calls_;  ///< their reports, by function
  rank_set all_;                                                        ///< the ranks that were looked at
  std::optional<needs::node> anybody_;                                  ///< goes on when one of them does
};

}  // namespace

void add_calls(const picture& seen, wait_graphs& graphs) {
  by_calls(seen, graphs).add_all();
}

}  // namespace mpiacq::waits
