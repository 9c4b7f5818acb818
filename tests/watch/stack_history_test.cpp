// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// For how long ranks have been where they are, from stacks made up by hand and of a fixture job.
#include "mpiacq/ranks/stack_history.hpp"

#include <csignal>

#include "catch.hpp"
#include "placed_ranks.hpp"
#include "running_starter.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using namespace std::chrono_literals;

namespace {

const deadline begin_of_history = deadline(1000s);

/// "0-1 MPI_Recv app.c:20 10s 3 since first", one for each row.
std::vector<std::string> rows_of(const stack_history& history) {
  std::vector<std::string> rows;
  for (const rank_stay& stay : history.stays()) {
    const std::string what = stay.where.function.empty() ? "in " + stay.where.at.function : stay.where.function;
    rows.push_back(stay.where.ranks.text() + " " + what + ":" + std::to_string(stay.where.at.line) + " " +
                   std::to_string(std::chrono::duration_cast<std::chrono::seconds>(stay.at_least).count()) + "s " +
                   std::to_string(stay.samples) + (stay.since_first ? " since first" : ""));
  }
  return rows;
}

using rows = std::vector<std::string>;

}  // namespace

TEST_CASE("history: each rank has a stay that ends with the last sample") {
  stack_history history(5);
  CHECK(history.stays().empty());
  const placed_rank waits{0, {"main", "exchange", "MPI_Recv", "poll"}, 20},
      too{1, {"main", "exchange", "MPI_Recv"}, 20};
  placed_rank computes{2, {"main", "solve", "libc"}, 30};
  history.add(sample_of({waits, too, computes}), begin_of_history);
  CHECK(rows_of(history) == rows{"0-1 MPI_Recv:20 0s 1 since first", "2 in solve:0 0s 1 since first"});

  // Rank 1 has been elsewhere; a rank that computes is at another line of the same function.
  placed_rank elsewhere = too;
  elsewhere.line = 21;
  computes.line = 31;
  history.add(sample_of({waits, elsewhere, computes}), begin_of_history + 10s);
  history.add(sample_of({waits, too, computes}), begin_of_history + 20s);
  CHECK(rows_of(history) ==
        rows{"0 MPI_Recv:20 20s 3 since first", "2 in solve:0 20s 3 since first", "1 MPI_Recv:20 0s 1"});

  // A rank that was missing in a sample may have been anywhere.
  history.add(sample_of({too, computes}), begin_of_history + 30s);
  CHECK(rows_of(history) == rows{"2 in solve:0 30s 4 since first", "1 MPI_Recv:20 10s 2"});
  history.add(sample_of({waits, too, computes}), begin_of_history + 40s);
  CHECK(rows_of(history) == rows{"2 in solve:0 40s 5 since first", "1 MPI_Recv:20 20s 3", "0 MPI_Recv:20 0s 1"});

  // The sixth sample takes the place of the first.
  history.add(sample_of({computes}), begin_of_history + 50s);
  CHECK(history.samples().size() == 5);
  CHECK(rows_of(history) == rows{"2 in solve:0 40s 5 since first"});
}

TEST_CASE("history: a rank in another function of its computation has another place") {
  stack_history history;
  history.add(sample_of({{0, {"main", "solve"}, 1}}), begin_of_history);
  history.add(sample_of({{0, {"main", "solve", "relax"}, 1}}), begin_of_history + 1s);
  CHECK(rows_of(history) == rows{"0 in relax:0 0s 1"});
}

TEST_CASE("history: a rank without a name for its place is at no place that it could share") {
  stack_history history;
  for (int i = 0; i < 3; ++i) history.add(sample_of({{0, {""}, 0}}), begin_of_history + std::chrono::seconds(i));
  REQUIRE(history.stays().size() == 1);
  CHECK(history.stays().front().where.kind == mpi_call_kind::unknown);
  CHECK(history.stays().front().samples == 1);
}

TEST_CASE("history: its size has a bound, whatever the ranks do") {
  stack_history history(2);
  std::vector<placed_rank> ranks;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    ranks.push_back({i, {"main", std::string(5000, 'f') + std::to_string(i), "MPI_Recv"}, i});
  }
  history.add(sample_of(ranks), begin_of_history);
  REQUIRE(history.samples().size() == 1);
  const auto& places = history.samples().front().places;
  CHECK(places.size() == 1001);
  rank_set all;
  for (const rank_call& place : places) {
    CHECK(place.at.function.size() <= 512);
    all.add(place.ranks);
  }
  CHECK(all.text() == "0-2999");
}

TEST_CASE("history: looks at a job show where its ranks are, and leave them running") {
  running_starter job({"../queue_ranks/queue_job", "--hold", "--ranks", "3",
                       "library:" MPIACQ_QUEUE_LIBRARIES "/libqueue_perfect.so", "in:MPI_Recv", "@all"});
  job.ready();
  std::vector<process_id> all;
  for (const pid_t rank : job.ranks()) all.emplace_back(rank);
  auto ranks = rank_group::of_processes(all);
  REQUIRE(ranks);
  stack_history history;
  const std::size_t at_once = GENERATE(as<std::size_t>{}, 0, 1, 2, 8);
  for (int i = 0; i < 3; ++i) history.look(*ranks, at_once);
  const auto stays = history.stays();
  REQUIRE(stays.size() == 1);
  CHECK(stays.front().where.function == "MPI_Recv");
  CHECK(stays.front().where.ranks.text() == "0-2");
  CHECK(stays.front().samples == 3);
  CHECK(stays.front().at_least > 0s);
  for (const pid_t rank : job.ranks()) CHECK(comes_true([&] { return runs_freely(rank); }));

  // A rank that a signal has stopped is left alone, and goes on when it is told to.
  const pid_t stopped = job.ranks().at(1);
  ::kill(stopped, SIGSTOP);
  REQUIRE(comes_true([stopped] { return process_state(stopped) == 'T'; }));
  history.look(*ranks, at_once);
  rank_set seen;
  for (const rank_stay& stay : history.stays()) seen.add(stay.where.ranks);
  CHECK(seen.text() == "0,2");
  CHECK(process_state(stopped) == 'T');
  ::kill(stopped, SIGCONT);
  CHECK(comes_true([stopped] { return runs_freely(stopped); }));

  job.end();
  history.look(*ranks, at_once);
  CHECK(history.stays().empty());
}
