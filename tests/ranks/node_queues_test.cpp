// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The queues of a node's ranks as one call: who is held when, and what becomes of each.
#include <atomic>
#include <csignal>
#include <memory>
#include <set>

#include "catch.hpp"
#include "mpiacq/queues/queue_waits.hpp"
#include "node_ranks.hpp"
#include "run_command.hpp"
#include "running_starter.hpp"
#include "worker_pool.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

std::string library(const std::string& name) {
  return "library:" + std::string(MPIACQ_QUEUE_LIBRARIES) + "/libqueue_" + name + ".so";
}

/// Ranks of the small MPI, each with words of its own.
class queue_ranks {
 public:
  explicit queue_ranks(const std::vector<std::vector<std::string>>& words) {
    for (std::size_t rank = 0; rank < words.size(); ++rank) {
      std::vector<std::string> line = {MPIACQ_QUEUE_RANKS "/queue_rank", std::to_string(rank),
                                       std::to_string(words.size()), library("perfect")};
      line.insert(line.end(), words[rank].begin(), words[rank].end());
      processes_.push_back(std::make_unique<live_process>(line));
      (void)processes_.back()->lines_until_ready();
    }
  }
  [[nodiscard]] std::unique_ptr<node_ranks> node() const {
    std::vector<process_id> pids;
    for (const auto& process : processes_) pids.push_back(process->pid());
    auto made = node_ranks::of_processes(pids);
    REQUIRE(made);
    return std::move(*made);
  }
  [[nodiscard]] pid_t pid(std::size_t rank) const { return static_cast<pid_t>(processes_[rank]->pid().value()); }

 private:
  std::vector<std::unique_ptr<live_process>> processes_;
};

rank_queue_options trusting() {
  rank_queue_options how;
  how.host.trust_library = true;  // fixtures lie below /tmp
  return how;
}

}  // namespace

TEST_CASE("the queues of all ranks, and what each is doing, are of one moment") {
  const queue_ranks job({{"receive:world:1:7:64", "in:MPI_Recv"}, {"send:world:0:7:64", "in:MPI_Ssend"}, {}});
  const auto node = job.node();
  for (int time = 0; time < 3; ++time) {
    const group_queues seen = node->queues(trusting());
    REQUIRE(seen.ranks.size() == 3);
    for (const rank_report& rank : seen.ranks) {
      INFO((rank.report ? "" : rank.report.error().message));
      CHECK(is_whole(rank));
    }
    CHECK(seen.ranks[0].doing.function == "MPI_Recv");
    CHECK(seen.ranks[1].doing.function == "MPI_Ssend");
    CHECK(seen.ranks[2].doing.kind == mpi_call_kind::none);
    CHECK(seen.held_for.count() > 0);
    CHECK(find_waits(seen.ranks).pairs.size() == 1);
    CHECK(node->held_count() == 0);
    for (const std::size_t rank : {0U, 1U, 2U}) CHECK(runs_freely(job.pid(rank)));
  }
}

TEST_CASE("ranks that were held stay held") {
  const queue_ranks job({{}, {}});
  const auto node = job.node();
  (void)node->hold();
  CHECK(node->queues(trusting()).ranks.size() == 2);
  CHECK(node->held_count() == 2);
  CHECK(status_of(job.pid(1), "TracerPid") != "0");
  node->release();
  CHECK(runs_freely(job.pid(1)));
}

TEST_CASE("a rank that a signal has stopped is reported as such, also while it is held, and stays stopped") {
  const queue_ranks job({{"receive:world:1:7:64", "in:MPI_Recv"}, {"receive:world:0:7:64", "in:MPI_Recv"}});
  const auto node = job.node();
  const auto stopped = [&] {
    const group_queues seen = node->queues(trusting());
    REQUIRE(seen.ranks.size() == 2);
    CHECK(seen.ranks[0].doing.function == "MPI_Recv");
    CHECK(find_waits(seen.ranks).deadlocks.empty() ==
          (seen.ranks[0].stopped_by_signal || seen.ranks[1].stopped_by_signal));
    return std::vector{seen.ranks[0].stopped_by_signal, seen.ranks[1].stopped_by_signal};
  };
  const std::vector<bool> none = {false, false};
  const std::vector<bool> the_first = {true, false};
  CHECK(stopped() == none);
  REQUIRE(::kill(job.pid(0), SIGSTOP) == 0);
  CHECK(stopped() == the_first);
  CHECK(process_state(job.pid(0)) == 'T');
  (void)node->hold();
  CHECK(stopped() == the_first);
  (void)node->release();
  CHECK(stopped() == the_first);
  CHECK(process_state(job.pid(0)) == 'T');
  REQUIRE(::kill(job.pid(0), SIGCONT) == 0);
  CHECK(stopped() == none);
  (void)node->hold();
  CHECK(stopped() == none);
}

TEST_CASE("a fault of one rank's queues is reported for that rank") {
  const queue_ranks job({{}, {library("without_next_operation")}, {"library:/nowhere/lib.so"}, {}});
  const auto node = job.node();
  ::kill(job.pid(3), SIGKILL);
  REQUIRE(comes_true([&] { return status_of(job.pid(3), "State").find('Z') == 0; }));
  const group_queues seen = node->queues(trusting());
  REQUIRE(seen.ranks.size() == 4);
  CHECK(is_whole(seen.ranks[0]));
  REQUIRE(!seen.ranks[1].report);
  CHECK_THAT(seen.ranks[1].report.error().message, ContainsSubstring("mqs_next_operation"));
  REQUIRE(!seen.ranks[2].report);
  CHECK(seen.ranks[2].report.error().code == error_code::not_found);
  CHECK_THAT(seen.ranks[2].report.error().message, ContainsSubstring("/nowhere/lib.so"));
  REQUIRE(!seen.ranks[3].report);
  CHECK(seen.ranks[3].report.error().code == error_code::process_gone);
}

TEST_CASE("a file of types that is none is said of every rank, and nobody is held for it") {
  const queue_ranks job({{}, {}});
  auto how = trusting();
  how.types.file = "/nowhere/types";
  for (const rank_report& rank : job.node()->queues(how).ranks) {
    REQUIRE(!rank.report);
    CHECK_THAT(rank.report.error().message, ContainsSubstring("/nowhere/types"));
  }
}

TEST_CASE("work is done side by side, each piece once, and told as it is done") {
  for (const std::size_t threads : {0U, 1U, 3U, 64U}) {
    constexpr std::size_t count = 500;
    std::vector<std::atomic<int>> times(count);
    std::set<std::size_t> told;
    {
      worker_pool work(count, threads, [&](std::size_t i) { ++times[i]; });
      for (auto done = work.take_done(); !done.empty(); done = work.take_done()) told.insert(done.begin(), done.end());
    }
    CHECK(told.size() == count);
    CHECK(std::all_of(times.begin(), times.end(), [](const auto& time) { return time == 1; }));
  }
  worker_pool nothing(0, 4, [](std::size_t) {});
  CHECK(nothing.take_done().empty());
}
