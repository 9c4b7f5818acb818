// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "parts/daemon_watch.hpp"

#include "fake_parts.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

constexpr process_id daemon_starter{10}, old_child{20}, new_child{21};

struct watched_starter {
  fake_clock time;
  job_timers timers = time.timers();
  job_event_queue events;
  fake_children children;
  daemon_watch daemons{children, events, timers};

  explicit watched_starter(mpir::daemon_launch how = mpir::daemon_launch::by_fifo) {
    children.children = {old_child};
    children.faults = 100;
    daemons.expect_from(daemon_starter, how);
  }
  /// How often the daemons are reported by the next look.
  std::size_t look() {
    daemons.look();
    return take_all(events).size();
  }
  [[nodiscard]] bool looks_again() const { return timers.wake_at() != no_deadline; }
};

}  // namespace

TEST_CASE("daemons: a new child of the starter is the sign") {
  watched_starter job(GENERATE(mpir::daemon_launch::by_fifo, mpir::daemon_launch::by_polling));
  CHECK(job.looks_again());
  CHECK(job.look() == 0);
  CHECK(job.looks_again());
  job.children.children.push_back(new_child);
  CHECK(job.look() == 1);
  CHECK_FALSE(job.looks_again());
}

TEST_CASE("daemons: a child that came and went between two looks has left its page faults") {
  watched_starter job;
  job.children.faults += 5;
  CHECK(job.look() == 1);
}

TEST_CASE("daemons: the faults of a child of before that has ended are no sign") {
  watched_starter job;
  job.children.children.clear();
  job.children.faults += 5;
  CHECK(job.look() == 0);
  CHECK(job.looks_again());
  // A new child is one all the same.
  job.children.children = {new_child};
  CHECK(job.look() == 1);
}

TEST_CASE("daemons: they are reported once, whichever sign comes first") {
  watched_starter job;
  job.daemons.report();
  job.daemons.report();
  CHECK(take_all(job.events).size() == 1);
  CHECK_FALSE(job.looks_again());
}

TEST_CASE("daemons: a starter that was not asked for any in attach mode is not watched") {
  const watched_starter job(GENERATE(mpir::daemon_launch::not_asked, mpir::daemon_launch::refused,
                                     mpir::daemon_launch::at_spawn, mpir::daemon_launch::done));
  CHECK_FALSE(job.looks_again());
}
