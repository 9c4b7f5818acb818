// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "parts/job_event_queue.hpp"

#include "fake_parts.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

constexpr process_id starter{10};
constexpr process_id rank{11};

job_event spawned_by(process_id process) {
  return job_spawned{job_change{mpi2dd::debug_state::spawn, process, {}, 0}};
}
process_event hit_of(process_id process) {
  return {process, breakpoint_hit{thread_id{process.value()}, target_address{0x1000}}};
}

}  // namespace

TEST_CASE("event queue: events come out in the order in which they went in") {
  job_event_queue events;
  CHECK_FALSE(events.take().has_value());
  events.add(job_attached{});
  events.notice(error{error_code::limit, "first"});
  events.add(daemons_launched{});
  const auto all = take_all(events);
  REQUIRE(all.size() == 3);
  CHECK(std::holds_alternative<job_attached>(all[0]));
  CHECK(std::get<job_notice>(all[1]).what.message == "first");
  CHECK(std::holds_alternative<daemons_launched>(all[2]));
  CHECK_FALSE(events.has_events());
}

TEST_CASE("event queue: a failure is noticed, unless the process has ended") {
  job_event_queue events;
  events.notice_failure({});
  events.notice_failure(fail(error_code::process_gone, "it has ended"));
  CHECK_FALSE(events.has_events());
  events.notice_failure(fail(error_code::permission, "refused"));
  CHECK(take_notices(events) == std::vector<std::string>{"refused"});
}

TEST_CASE("event queue: notices of one step come before its other events, and older events stay in front") {
  job_event_queue events;
  events.add(job_attached{});
  const std::size_t before = events.size();
  events.add(job_spawned{});
  events.notice(error{error_code::limit, "a"});
  events.notice(error{error_code::limit, "b"});
  events.put_notices_first(before);
  const auto all = take_all(events);
  REQUIRE(all.size() == 4);
  CHECK(std::holds_alternative<job_attached>(all[0]));
  CHECK(std::get<job_notice>(all[1]).what.message == "a");
  CHECK(std::get<job_notice>(all[2]).what.message == "b");
  CHECK(std::holds_alternative<job_spawned>(all[3]));
}

TEST_CASE("event queue: only notices are kept when the job is lost") {
  job_event_queue events;
  events.add(job_spawned{});
  events.notice(error{error_code::limit, "kept"});
  events.add(starter_stopped{SIGSTOP});
  events.keep_only_notices();
  CHECK(events.size() == 1);
  CHECK(take_notices(events) == std::vector<std::string>{"kept"});
}

TEST_CASE("event queue: an MPI2DD event belongs to the process that raised it, an MPIR event to the starter") {
  job_event_queue events;
  events.add(spawned_by(rank));
  CHECK(events.has_event_of(rank, starter));
  CHECK_FALSE(events.has_event_of(starter, starter));
  (void)events.take();
  events.add(job_changed{job_change{mpi2dd::debug_state::join, rank, {}, 0}});
  events.add(job_aborting{});
  CHECK(events.has_event_of(rank, starter));
  CHECK(events.has_event_of(starter, starter));
  (void)events.take();
  CHECK_FALSE(events.has_event_of(rank, starter));
  (void)events.take();
  events.notice(error{error_code::limit, "stops no process"});
  events.add(starter_stopped{SIGSTOP});
  CHECK_FALSE(events.has_event_of(starter, starter));
}

TEST_CASE("event queue: deferred hits come out in order, and count as events of their process") {
  job_event_queue events;
  events.defer(hit_of(rank));
  events.defer(hit_of(starter));
  CHECK(events.has_deferred());
  CHECK_FALSE(events.has_events());
  CHECK(events.has_event_of(rank, starter));
  CHECK(events.take_deferred()->process == rank);
  CHECK_FALSE(events.has_event_of(rank, starter));
  CHECK(events.has_event_of(starter, starter));
  events.drop_deferred();
  CHECK_FALSE(events.take_deferred().has_value());
}
