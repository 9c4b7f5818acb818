// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Processes of a job that are stopped for a look, while its caller may have an event to answer.
#include <algorithm>
#include <utility>
#include <variant>

#include "control/job_state.hpp"

namespace mpiacq {

namespace {
/// How long all threads of processes that are to be held may take to stop.
constexpr std::chrono::seconds stop_limit{10};
}  // namespace

void job::state::stop_all(std::span<const process_id> which) {
  const auto runs = [&](process_id pid) {
    const followed_process* process = find(pid);
    return process != nullptr && !process->stopped && !process->ended;
  };
  for (const process_id pid : which) {
    if (runs(pid)) notice_failure(control->interrupt(pid));
  }
  const deadline until = clock::now() + stop_limit;
  while (std::any_of(which.begin(), which.end(), runs)) {
    auto event = control->wait(until);
    if (!event) return notice(std::move(event).error());
    if (!*event) return;
    if (!postpone(**event)) handle(**event);
  }
}

bool job::state::postpone(const process_event& event) {
  const auto* hit = std::get_if<breakpoint_hit>(&event.what);
  followed_process* const process = hit == nullptr ? nullptr : find(event.process);
  if (process == nullptr || process->program.is_link_map_watch(hit->address)) return false;
  process->stopped = process->waits = true;
  postponed.push_back(event);
  return true;
}

void job::state::take_postponed() {
  const process_event event = std::move(postponed.front());
  postponed.pop_front();
  if (followed_process* const process = find(event.process)) process->waits = false;
  handle(event);
}

bool job::state::is_untold(process_id process) const {
  const auto raised = [&](const auto& event) {
    return event.change ? event.change->raised_by == process : facts.pid == process;
  };
  const auto is_its = [&](const process_event& event) { return event.process == process; };
  if (std::any_of(postponed.begin(), postponed.end(), is_its)) return true;
  return std::any_of(coming.begin(), coming.end(), [&](const job_event& event) {
    if (const auto* spawned = std::get_if<job_spawned>(&event)) return raised(*spawned);
    if (const auto* aborting = std::get_if<job_aborting>(&event)) return raised(*aborting);
    if (const auto* changed = std::get_if<job_changed>(&event)) return changed->change.raised_by == process;
    return std::holds_alternative<job_attached>(event) && facts.pid == process;
  });
}

}  // namespace mpiacq
