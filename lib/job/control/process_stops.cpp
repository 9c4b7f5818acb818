// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The processes that a job follows: which of them is the starter, and how they stop and run on.
#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "control/job_state.hpp"
#include "errors/try.hpp"

namespace mpiacq {

namespace {
/// How long all threads of processes that are to be held may take to stop.
constexpr std::chrono::seconds stop_limit{10};
}  // namespace

followed_process& job::state::follow(process_id pid) {
  processes.erase(pid);
  auto half = make_interface({options.interface, {options.limits, options.daemons, true}, {}});
  return processes.try_emplace(pid, traps, pid, options.debug_files, std::move(half)).first->second;
}

void job::state::take_as_starter(followed_process& process) {
  if (facts.pid == process.pid) return;
  facts.pid = process.pid;
  if (!process.executable.empty()) facts.executable = process.executable;
  life.set_starter(process.pid);
}

void job::state::has_spawned(followed_process& process) {
  if (!search.has_spawned(process.pid)) return;
  take_as_starter(process);
  if (process.pid != life.root()) {
    facts.found_how = fmt::format("what was launched is process {}; the starter is process {}, its descendant",
                                  life.root().value(), process.pid.value());
  }
  let_go_of_others();
}

void job::state::undo_in(followed_process& process) {
  if (process.program.symbols() == nullptr) return;
  const auto steps = process.interface->before_detach(process.program.view());
  for (const step& next : steps.value_or(std::vector<step>{})) {
    if (const auto* write = std::get_if<write_bytes>(&next)) (void)process.program.write(write->address, write->bytes);
  }
}

void job::state::let_go_of_others() {
  for (const process_id pid : search.others()) {
    // It was told that a tool is there.
    undo_in(processes.at(pid));
    events.notice_failure(control->detach(pid));
  }
}

followed_process* job::state::find(process_id pid) {
  const auto found = processes.find(pid);
  return found == processes.end() ? nullptr : &found->second;
}

/// A process that was taken for the starter once, and was let go since, is not traced any more.
bool job::state::traces(process_id pid) const {
  if (!life.is_controlled()) return false;
  const auto found = processes.find(pid);
  // The ranks that MPIR's `hold_ranks` holds have no interface that is followed.
  if (found == processes.end()) return ranks->holds(pid);
  const followed_process& process = found->second;
  return !process.ended && process.is_traced && (pid == search.starter() || process.is_member);
}

void job::state::run_on(followed_process& process) {
  if (process.stays || !process.is_traced) return;
  process.program.about_to_run();
  process.stopped = false;
  events.notice_failure(control->resume(process.pid));
}

void job::state::stop_all(std::span<const process_id> which) {
  const auto runs = [&](process_id pid) {
    const followed_process* process = find(pid);
    return process != nullptr && process->is_traced && !process->stopped && !process->ended;
  };
  for (const process_id pid : which) {
    if (runs(pid)) events.notice_failure(control->interrupt(pid));
  }
  const deadline until = clock::now() + stop_limit;
  while (std::any_of(which.begin(), which.end(), runs)) {
    auto event = control->wait(until);
    if (!event) return events.notice(std::move(event).error());
    if (!*event) return;
    if (!defer(**event)) handle(**event);
  }
}

/// A breakpoint of the interface is handled after what the caller has been told so far.
bool job::state::defer(const process_event& event) {
  const auto* hit = std::get_if<breakpoint_hit>(&event.what);
  followed_process* const process = hit == nullptr ? nullptr : find(event.process);
  if (process == nullptr || process->program.is_link_map_watch(hit->address)) return false;
  process->stopped = process->waits = true;
  events.defer(event);
  return true;
}

/// Any event that stops the starter will do. What it says is kept for the caller.
result<void> job::state::stop_starter() {
  if (pmix || starter().stopped || starter().ended || !starter().is_traced || !life.is_controlled()) return {};
  TRY(control->interrupt(starter().pid));
  const deadline until = clock::now() + stop_limit;
  while (!starter().stopped && !starter().ended && life.is_controlled()) {
    const auto event = TRY(control->wait(until));
    if (!event) {
      return fail(error_code::timed_out,
                  fmt::format("stopping the starter {}: not all of its threads stopped within {} s", facts.pid.value(),
                              stop_limit.count()));
    }
    followed_process& wanted = starter();
    const bool stayed_before = std::exchange(wanted.stays, true);
    handle(*event);
    wanted.stays = stayed_before;
  }
  return {};
}

}  // namespace mpiacq
