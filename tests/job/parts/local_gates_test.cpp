// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "parts/local_gates.hpp"

#include "fake_parts.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using namespace std::chrono_literals;

namespace {

struct gates_of_job {
  fake_clock time;
  job_timers timers = time.timers();
  job_event_queue events;
  fake_gate_opener opener;
  local_gates gates{events, timers};

  void open(const std::vector<process_id>& ranks) {
    gates.open(
        ranks, [](process_id) { return true; }, opener);
  }
  /// Tries again when the time has come. How long that took; empty where nothing is tried again.
  std::optional<clock::duration> retry() {
    if (timers.wake_at() == no_deadline) return std::nullopt;
    const auto waited = timers.wake_at() - time.now;
    time.advance(waited);
    CHECK(timers.take_due() == job_timer::gates);
    gates.retry(opener);
    return waited;
  }
};

}  // namespace

TEST_CASE("gates: each rank's gate is opened once, until there is another table") {
  const waiting_child one, two;
  gates_of_job job;
  job.opener.answers = {{one.pid(), true}, {two.pid(), true}};
  CHECK_FALSE(job.gates.are_opened());
  job.open({one.pid(), two.pid(), one.pid()});
  CHECK(job.opener.asked == std::vector<process_id>{one.pid(), two.pid()});
  CHECK(job.gates.are_opened());
  CHECK_FALSE(job.retry().has_value());
  job.gates.new_table();
  CHECK_FALSE(job.gates.are_opened());
}

TEST_CASE("gates: a rank without a gate is tried again after twice the time, until it has one") {
  const waiting_child rank;
  gates_of_job job;
  job.open({rank.pid()});
  CHECK(job.retry() == 20ms);
  CHECK(job.retry() == 40ms);
  job.opener.answers.emplace(rank.pid(), true);
  CHECK(job.retry() == 80ms);
  CHECK_FALSE(job.retry().has_value());
  CHECK(job.opener.asked.size() == 4);
  CHECK_FALSE(job.events.has_events());
}

TEST_CASE("gates: a passing error is noticed only when the tries end") {
  const waiting_child rank;
  gates_of_job job;
  job.opener.answers.emplace(rank.pid(), fail(error_code::unreadable_memory, "in the middle of an exec"));
  job.open({rank.pid()});
  std::size_t tries = 0;
  while (job.retry()) {
    CHECK((tries > 10 || !job.events.has_events()));
    ++tries;
  }
  CHECK(tries > 5);
  CHECK(take_notices(job.events) == std::vector<std::string>{"in the middle of an exec"});
  CHECK_FALSE(job.gates.take_refusal());
}

TEST_CASE("gates: a refusal is noticed at once, is not tried again, and is told once") {
  const waiting_child rank;
  gates_of_job job;
  job.opener.answers.emplace(rank.pid(), fail(error_code::permission, "refused"));
  job.open({rank.pid()});
  CHECK(take_notices(job.events) == std::vector<std::string>{"refused"});
  CHECK_FALSE(job.retry().has_value());
  CHECK(job.gates.take_refusal());
  CHECK_FALSE(job.gates.take_refusal());
}

TEST_CASE("gates: a rank that ends waits for nothing any more") {
  waiting_child rank;
  gates_of_job job;
  job.open({rank.pid()});
  CHECK(job.opener.asked.size() == 1);
  ::kill(static_cast<pid_t>(rank.pid().value()), SIGKILL);
  CHECK(rank.signal_at_end() == SIGKILL);
  CHECK(job.retry() == 20ms);
  CHECK(job.opener.asked.size() == 1);
  CHECK_FALSE(job.retry().has_value());
}

TEST_CASE("gates: a process that is no rank is left alone") {
  const waiting_child rank, stranger;
  gates_of_job job;
  job.opener.answers = {{rank.pid(), true}, {stranger.pid(), true}};
  job.gates.open(
      std::vector{rank.pid(), stranger.pid()}, [&](process_id pid) { return pid != stranger.pid(); }, job.opener);
  CHECK(job.opener.asked == std::vector<process_id>{rank.pid()});
}
