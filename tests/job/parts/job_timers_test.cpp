// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "parts/job_timers.hpp"

#include "fake_parts.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using namespace std::chrono_literals;

TEST_CASE("timers: the earliest one says when to wake") {
  fake_clock time;
  job_timers timers = time.timers();
  CHECK(timers.wake_at() == no_deadline);
  timers.set(job_timer::gates, 50ms);
  timers.set(job_timer::kill, 5s);
  CHECK(timers.wake_at() == time.now + 50ms);
  timers.clear(job_timer::gates);
  CHECK(timers.wake_at() == time.now + 5s);
}

TEST_CASE("timers: a timer is due once, and not before its time") {
  fake_clock time;
  job_timers timers = time.timers();
  timers.set(job_timer::table, 100ms);
  time.advance(99ms);
  CHECK_FALSE(timers.take_due().has_value());
  time.advance(1ms);
  CHECK(timers.take_due() == job_timer::table);
  CHECK_FALSE(timers.take_due().has_value());
  CHECK(timers.wake_at() == no_deadline);
}

TEST_CASE("timers: of several that are due, the end of the job comes before looks at it") {
  fake_clock time;
  job_timers timers = time.timers();
  timers.set(job_timer::table, 1ms);
  timers.set(job_timer::daemons, 2ms);
  timers.set(job_timer::finish, 3ms);
  timers.set(job_timer::kill, 4ms);
  time.advance(1s);
  for (const job_timer next : {job_timer::kill, job_timer::finish, job_timer::daemons, job_timer::table}) {
    CHECK(timers.take_due() == next);
  }
}

TEST_CASE("timers: a timer that is set again counts from then on") {
  fake_clock time;
  job_timers timers = time.timers();
  timers.set(job_timer::gates, 20ms);
  time.advance(15ms);
  timers.set(job_timer::gates, 20ms);
  time.advance(15ms);
  CHECK_FALSE(timers.take_due().has_value());
  CHECK(timers.wake_at() == time.now + 5ms);
}
