// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "picture.hpp"

namespace mpiacq::waits {

namespace {

constexpr std::size_t classes = 3;

using numbers = std::vector<std::uint32_t>;

/// Ranks that groups name. A queue library may make up groups with any numbers, so only the lowest ones are kept.
class named_ranks {
 public:
  void add(std::uint32_t rank) {
    if (ranks_.size() == 2 * most) shrink();
    ranks_.push_back(rank);
  }
  [[nodiscard]] numbers take() {
    shrink();
    return std::move(ranks_);
  }

 private:
  static constexpr std::size_t most = std::size_t{1} << 20U;
  void shrink() {
    std::sort(ranks_.begin(), ranks_.end());
    ranks_.erase(std::unique(ranks_.begin(), ranks_.end()), ranks_.end());
    if (ranks_.size() > most) ranks_.resize(most);
  }
  numbers ranks_;
};

/// The ranks for each kind of missing information.
struct gaps {
  numbers without_report;
  numbers not_looked_at;
  numbers without_communicators;
  numbers not_seen_what_they_do;
  numbers in_probe;  ///< in MPI_Probe, and the queue library does not list the probe
  numbers with_threads;
  numbers stopped;
  std::array<numbers, classes> not_told;  ///< queues of which the library has no information
  std::array<numbers, classes> cut;
};

gaps find_gaps(const picture& seen) {
  gaps found;
  for (std::uint32_t report = 0; report < seen.ranks.size(); ++report) {
    const std::uint32_t rank = seen.ranks[report].entry.value();
    if (seen.ranks[report].stopped_by_signal) found.stopped.push_back(rank);
    if (!seen.ranks[report].report) {
      if (seen.ranks[report].doing.kind != mpi_call_kind::ended) found.without_report.push_back(rank);
      continue;
    }
    const queue_report& whole = *seen.ranks[report].report;
    if (whole.communicators.empty() && whole.missing.empty()) found.without_communicators.push_back(rank);
    const rank_activity& doing = seen.ranks[report].doing;
    if (doing.kind == mpi_call_kind::unknown) found.not_seen_what_they_do.push_back(rank);
    const auto operations = seen.operations.of(report);
    const bool probe_is_listed =
        std::any_of(operations.begin(), operations.end(), [](const half& each) { return each.is_probe; });
    if (doing.kind == mpi_call_kind::probe && !probe_is_listed) found.in_probe.push_back(rank);
    if (doing.other_threads) found.with_threads.push_back(rank);
    for (const queue_communicator& own : seen.ranks[report].report->communicators) {
      for (std::size_t c = 0; c < classes; ++c) {
        const queue_knowledge known = own.queues[c].known;
        if (known == queue_knowledge::none) found.not_told[c].push_back(rank);
        if (known == queue_knowledge::cut_short || known == queue_knowledge::failed) found.cut[c].push_back(rank);
      }
    }
  }
  named_ranks not_looked_at;
  for (const shared_communicator& shared : seen.shared.all) {
    shared.members.for_each_known([&](std::size_t, std::int64_t member) {
      const auto number = static_cast<std::uint32_t>(member);
      if (!seen.report_of.contains(number)) not_looked_at.add(number);
    });
  }
  found.not_looked_at = not_looked_at.take();
  return found;
}

}  // namespace

void add_doubts(const picture& seen, std::vector<std::string>& doubts) {
  const gaps found = find_gaps(seen);
  const auto say = [&](const numbers& ranks, std::string_view what) {
    if (!ranks.empty()) doubts.push_back(fmt::format("{}: {}", ranks_named(set_of(ranks)), what));
  };
  say(found.without_report, "no queues could be read, so the waits of other ranks for them are not known");
  say(found.without_communicators, "the queue library lists no communicators, so their operations are not known");
  say(found.not_looked_at, "members of a communicator that were not looked at");
  say(found.not_seen_what_they_do, "their calls are not known, so each of their waits is only possible");
  say(found.stopped, "stopped by a signal until SIGCONT, so their waits are not known");
  say(found.in_probe, "in MPI_Probe, and no queue lists the probe");
  say(found.with_threads, "other threads of the program may do the operation that the first thread waits for");
  for (std::size_t c = 0; c < classes; ++c) {
    const auto queue = static_cast<queue_class>(c);
    const std::string_view what = queue == queue_class::unexpected ? "unexpected messages" : name(queue);
    say(found.not_told[c], fmt::format("the queue library gives no information about their {}", what));
    say(found.cut[c], fmt::format("not all of their {} are listed", what));
  }
}

}  // namespace mpiacq::waits
