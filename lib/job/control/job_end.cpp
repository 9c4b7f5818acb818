// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// How a job is let go, how its end is asked for, and how its end is reported.
#include <set>
#include <utility>

#include <fmt/format.h>

#include "control/job_state.hpp"
#include "errors/try.hpp"
#include "proc/process_state.hpp"

namespace mpiacq {

result<void> job::state::withdraw(leave how) {
  const result<void> stopped = stop_starter();
  if (!life.is_controlled()) return {};
  timers.clear(job_timer::table);
  timers.clear(job_timer::ranks);
  asking.reset();
  daemons.stop();
  events.drop_deferred();
  open_gates(how == leave::running);
  auto ranks_left = ranks->let_go(how);
  if (!search.is_over()) let_go_of_others();
  followed_process& last = starter();
  if (stopped && !last.ended && last.program.symbols() != nullptr) {
    auto steps = last.interface->before_detach(last.program.view());
    if (steps && last.announced) {
      std::erase_if(*steps, [](const step& next) {
        const auto* write = std::get_if<write_bytes>(&next);
        return write != nullptr && write->until_the_table;
      });
    }
    (void)carry_out(last, std::move(steps), write_duration::for_good);
    events.notice_failure(last.program.stop_watching_link_map());
  }
  last.program.about_to_run();
  last.stopped = last.waits = false;
  life.let_go();
  return ranks_left;
}

result<void> job::detach(leave how) {
  state& s = *state_;
  TRY(s.life.is_made_here());
  if (!s.life.is_controlled()) return {};
  auto withdrawn = s.withdraw(how);
  if (s.life.has_ended()) return {};
  result<void> left;
  if (!s.starter().ended && !s.pmix && s.starter().is_traced) left = s.control->detach(s.starter().pid, how);
  if (s.life.root_has_ended()) s.finish();
  // The kernel reports the end of a process that is not traced only to its parent.
  if (!s.life.is_launched()) s.life.stop_reporting();
  return left ? withdrawn : left;
}

result<void> job::end(std::chrono::milliseconds grace) {
  state& s = *state_;
  TRY(s.life.is_made_here());
  if (s.life.has_ended()) return {};
  TRY(s.trace_starter());
  std::vector<base::unique_fd> local_ranks;
  const auto& table = s.table.processes();
  std::set<process_id> known{s.facts.pid};
  for (std::size_t i = 0; table && i < table->size(); ++i) {
    const entry_index entry{i};
    if (!s.table.is_local(entry) || !known.insert(table->pid(entry)).second) continue;
    // The pidfd comes first: from then on it is this process or none.
    base::unique_fd process = open_process(table->pid(entry));
    if (process.is_open() && is_on_this_node(s.state_of_rank(entry))) local_ranks.push_back(std::move(process));
  }
  s.timers.set(job_timer::kill, grace);
  s.life.ask_to_end(std::move(local_ranks));
  if (!s.life.is_controlled() || s.life.is_launched()) return detach(leave::running);
  // The kernel reports how a process ends to its parent and to its tracer, so the tracer stays.
  auto withdrawn = s.withdraw(leave::running);
  if (s.life.has_ended() || s.starter().ended || s.pmix) return withdrawn;
  TRY(s.control->resume(s.starter().pid));
  return withdrawn;
}

void job::state::kill_starter() {
  events.notice(error{error_code::timed_out,
                      fmt::format("the starter {} did not end on SIGTERM in time: it was killed", facts.pid.value())});
  life.kill();
}

void job::state::finish() {
  // What the server has said of the end comes before the end.
  if (pmix && life.is_launched() && !life.has_ended()) look_at_pmix(false);
  const auto status = life.finish();
  if (!status) return;
  timers.clear(job_timer::kill);
  timers.clear(job_timer::finish);
  timers.clear(job_timer::ranks);
  note_unreported_ranks();
  // The kernel gives the status to a parent or a tracer alone.
  events.add(starter_ended{*status, life.is_launched() || !pmix});
}

}  // namespace mpiacq
