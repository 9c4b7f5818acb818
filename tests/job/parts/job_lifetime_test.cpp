// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "parts/job_lifetime.hpp"

#include "fake_parts.hpp"
#include "proc/process_state.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {
constexpr exit_status exited_with_3{false, 3, false};
const process_id this_tool{::getpid()};
}  // namespace

TEST_CASE("lifetime: a job that was attached to reports its first table as such, once") {
  job_lifetime attached(this_tool, false);
  CHECK(attached.phase() == job_phase::attaching);
  CHECK(attached.is_controlled());
  CHECK(attached.take_first_table());
  CHECK_FALSE(attached.take_first_table());
  CHECK(attached.phase() == job_phase::controlled);
  job_lifetime launched(this_tool, true);
  CHECK_FALSE(launched.take_first_table());
}

TEST_CASE("lifetime: the end of a lost job is reported only where the job was launched") {
  job_lifetime launched(this_tool, true), attached(this_tool, false);
  for (job_lifetime* job : {&launched, &attached}) {
    job->lose();
    CHECK_FALSE(job->is_controlled());
    job->process_ended(this_tool, exited_with_3);
  }
  CHECK(launched.phase() == job_phase::lost);
  CHECK(launched.finish() == exited_with_3);
  CHECK(attached.has_ended());
  CHECK_FALSE(attached.finish().has_value());
}

TEST_CASE("lifetime: a phase never goes back") {
  job_lifetime job(this_tool, true);
  job.let_go();
  job.lose();
  CHECK(job.phase() == job_phase::let_go);
  job.stop_reporting();
  job.let_go();
  job.lose();
  CHECK(job.phase() == job_phase::ended);
  CHECK_FALSE(job.take_first_table());
}

TEST_CASE("lifetime: the job finishes with the status of the process that was launched, once") {
  job_lifetime job(this_tool, true);
  job.process_ended(process_id{this_tool.value() + 1}, exit_status{true, SIGKILL, false});
  CHECK_FALSE(job.root_has_ended());
  CHECK_FALSE(job.finish().has_value());
  job.process_ended(this_tool, exited_with_3);
  CHECK(job.root_has_ended());
  CHECK(job.finish() == exited_with_3);
  CHECK(job.has_ended());
  CHECK_FALSE(job.finish().has_value());
}

TEST_CASE("lifetime: a stopped starter is continued so that it takes SIGTERM, and the root gets no signal") {
  waiting_child root, starter;
  job_lifetime job(root.pid(), true);
  job.set_starter(starter.pid());
  starter.stop();
  job.ask_to_end({});
  CHECK(starter.signal_at_end() == SIGTERM);
  CHECK(::kill(static_cast<pid_t>(root.pid().value()), 0) == 0);
  job.signal_root(SIGUSR1);
  CHECK(root.signal_at_end() == SIGUSR1);
}

TEST_CASE("lifetime: a starter that does not end is killed, and the process that was launched with it") {
  waiting_child root, starter;
  job_lifetime job(root.pid(), true);
  job.set_starter(starter.pid());
  job.kill();
  CHECK(starter.signal_at_end() == SIGKILL);
  CHECK(root.signal_at_end() == SIGKILL);
}

TEST_CASE("lifetime: ranks that were to end are killed when the job has ended, and not before") {
  waiting_child root, rank;
  job_lifetime job(root.pid(), true);
  std::vector<base::unique_fd> ranks;
  ranks.push_back(open_process(rank.pid()));
  job.ask_to_end(std::move(ranks));
  CHECK(root.signal_at_end() == SIGTERM);
  CHECK_FALSE(job.finish().has_value());
  CHECK(state_of(rank.pid()) == run_state::running);
  job.process_ended(job.root(), exit_status{true, SIGTERM, false});
  CHECK(job.finish().has_value());
  CHECK(rank.signal_at_end() == SIGKILL);
}

TEST_CASE("lifetime: a forked child may not act on the job") {
  const job_lifetime job(this_tool, true);
  CHECK(job.is_made_here().has_value());
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const auto refused = job.is_made_here();
    const bool is_refused = !refused && refused.error().code == error_code::invalid_argument && !job.is_own();
    ::_exit(is_refused ? 7 : 0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 7);
}
