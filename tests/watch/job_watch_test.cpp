// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A watch over the ranks of fixture jobs.
#include "mpiacq/ranks/job_watch.hpp"

#include <csignal>

#include <unistd.h>

#include "catch.hpp"
#include "live_process.hpp"
#include "running_starter.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using namespace std::chrono_literals;

namespace {

/// Two ranks in MPI_Recv.
class waiting_ranks : public running_starter {
 public:
  waiting_ranks()
      : running_starter({"../queue_ranks/queue_job", "--hold", "--ranks", "2",
                         "library:" MPIACQ_QUEUE_LIBRARIES "/libqueue_perfect.so", "in:MPI_Recv", "@all"}) {
    ready();
  }
  [[nodiscard]] rank_group group() const {
    std::vector<process_id> all;
    for (const pid_t rank : ranks()) all.emplace_back(rank);
    auto made = rank_group::of_processes(all);
    REQUIRE(made);
    return std::move(*made);
  }
};

}  // namespace

TEST_CASE("a watch reports a job that stands still, and later its end") {
  waiting_ranks job;
  rank_group ranks = job.group();
  job_watch watch(ranks, {.hang = 500ms, .rarest = 200ms, .ranks_at_once = 1});
  const auto begin = mpiacq::clock::now();
  const auto first = watch.next(in(60s));
  REQUIRE(first);
  const auto* still = std::get_if<job_stands_still>(&*first);
  REQUIRE(still != nullptr);
  CHECK(still->since >= 500ms);
  CHECK(mpiacq::clock::now() - begin >= 500ms);
  CHECK(still->in_calls.text() == "0-1");
  CHECK(still->outside.empty());
  // The first look, and those before the report: at least five, also on a machine on which a look takes long.
  CHECK(watch.looks() >= 6);
  CHECK(watch.longest_stop() > 0s);
  for (const pid_t rank : job.ranks()) CHECK(comes_true([&] { return runs_freely(rank); }));

  const auto again = watch.next(in(60s));
  REQUIRE(again);
  REQUIRE(std::holds_alternative<job_stands_still>(*again));
  CHECK(std::get<job_stands_still>(*again).since >= 1s);

  job.end();
  const auto end = watch.next(in(60s));
  REQUIRE(end);
  CHECK(std::holds_alternative<ranks_have_ended>(*end));
}

TEST_CASE("a rank that a signal has stopped is left alone, and looked at when it runs again") {
  waiting_ranks job;
  rank_group ranks = job.group();
  const pid_t stopped = job.ranks()[1];
  REQUIRE(::kill(stopped, SIGSTOP) == 0);
  REQUIRE(comes_true([&] { return process_state(stopped) == 'T'; }));

  stack_options how;
  how.leave_stopped = true;
  const group_stacks seen = ranks.stacks(how);
  CHECK(seen.taken.text() == "0");
  CHECK(seen.stopped.text() == "1");
  REQUIRE(seen.refused.size() == 1);
  CHECK(seen.refused[0].ranks.text() == "1");
  CHECK_THAT(seen.refused[0].why.message, ContainsSubstring("a signal has stopped it"));

  job_watch watch(ranks, {.hang = 500ms, .rarest = 200ms, .ranks_at_once = 1});
  const auto first = watch.next(in(60s));
  REQUIRE(first);
  const auto* still = std::get_if<job_stands_still>(&*first);
  REQUIRE(still != nullptr);
  CHECK(still->in_calls.text() == "0");
  CHECK(still->stopped.text() == "1");
  // It is still stopped, and nothing but SIGCONT is needed to continue it.
  CHECK(process_state(stopped) == 'T');
  REQUIRE(::kill(stopped, SIGCONT) == 0);
  CHECK(comes_true([&] { return runs_freely(stopped); }));

  const auto later = watch.next(in(60s));
  REQUIRE(later);
  REQUIRE(std::holds_alternative<job_stands_still>(*later));
  CHECK(std::get<job_stands_still>(*later).in_calls.text() == "0-1");
  CHECK(ranks.stacks(how).taken.text() == "0-1");
}

TEST_CASE("a watch ends at its limit, and when it is cancelled") {
  waiting_ranks job;
  rank_group ranks = job.group();
  job_watch watch(ranks, {.hang = 1h});
  CHECK_FALSE(watch.next(in(300ms)));
  CHECK(watch.looks() == 1);
  CHECK_FALSE(watch.next(mpiacq::clock::now() - 1s));
  CHECK(watch.looks() == 1);
  int ends[2] = {};
  REQUIRE(::pipe(ends) == 0);
  ::close(ends[1]);  // the other end is readable now
  CHECK_FALSE(watch.next(in(600s, ends[0])));
  ::close(ends[0]);
}
