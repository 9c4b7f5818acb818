// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Which of the processes is the starter: what was launched may be a script, and the starter its child or grandchild.
// All are followed until one spawns the job. One that has the interface is not followed further, because what it makes
// are its ranks; the others are, because to have the interface is not to be the starter (Open MPI's ompi_info maps the
// library that defines it, and so does each rank).
#include <algorithm>
#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "control/job_state.hpp"
#include "proc/process_state.hpp"

namespace mpiacq {

namespace {
constexpr std::chrono::milliseconds birth_delay{100};
}  // namespace

followed_process& job::state::add_candidate(process_id pid) {
  followed_processes.erase(pid);
  auto half = make_interface({options.interface, {options.limits, options.daemons, true}, {}});
  return followed_processes.try_emplace(pid, *control, pid, options.debug_files, std::move(half)).first->second;
}

void job::state::favour(followed_process& process) {
  starter = &process;
  if (facts.pid == process.pid) return;
  facts.pid = process.pid;
  if (!process.executable.empty()) facts.executable = process.executable;
  starter_descriptor = open_process(process.pid);
}

void job::state::decide(followed_process& process) {
  if (std::exchange(decided, true)) return;
  favour(process);
  if (process.pid != root) {
    facts.found_how = fmt::format("what was launched is process {}; the starter is {}, which that has started",
                                  root.value(), process.pid.value());
  }
  let_go_of_others();
}

void job::state::let_go_of_others() {
  for (auto& [pid, other] : followed_processes) {
    if (&other == starter || other.ended) continue;
    // What was told that a tool is there is told that it has gone.
    if (other.program.symbols() != nullptr) {
      auto steps = other.interface->before_detach(other.program.view());
      for (const step& next : steps.value_or(std::vector<step>{})) {
        if (const auto* write = std::get_if<write_bytes>(&next)) {
          static_cast<void>(other.program.write(write->address, write->bytes));
        }
      }
    }
    notice_failure(control->detach(pid));
  }
}

void job::state::at_end(followed_process& process, const exit_status& status) {
  process.ended = true;
  process.stopped = false;
  if (process.pid == root) root_ended = status;
  const bool others_live = std::any_of(followed_processes.begin(), followed_processes.end(),
                                       [](const auto& entry) { return !entry.second.ended; });
  if (&process == starter && !decided && others_live) {
    // It has the interface, and was not the starter.
    for (auto& [pid, other] : followed_processes) {
      if (!other.ended) favour(other);
    }
  }
  // Whoever launched a script waits for that, and takes its status.
  if (!root_ended) return;
  // After a detach no process is followed any more, so no birth is still to come.
  if (decided || detached) {
    if (process.pid == root || &process == starter) finish();
  } else if (!others_live) {
    // A child that it made in its last moment is told of when that has stopped, which may be after its maker's end.
    // What has been told already is taken in before this is due.
    const bool no_more_births = control->is_idle().value_or(false);
    finish_at = no_more_births ? clock::now() : clock::now() + birth_delay;
  }
}

void job::state::at_loss(followed_process& process, const error& why) {
  process.stopped = process.stays = process.waits = false;
  const bool is_starter = &process == starter;
  // Its end is reported only for what was launched.
  process.ended = !facts.launched || process.pid != root;
  if (process.is_member) {
    members.erase(process.pid);
    return;
  }
  if (!is_starter || detached) return;
  detached = true;
  for_caller = false;
  look_at = gates_at = daemons_at = no_deadline;
  // What the caller has not been given yet asks for answers that are of no use any more.
  postponed.clear();
  std::erase_if(coming, [](const job_event& event) { return !std::holds_alternative<job_notice>(event); });
  coming.emplace_back(job_lost{why});
  ended = !facts.launched;
}

void job::state::finish() {
  ended = true;
  kill_at = finish_at = no_deadline;
  // The starter took its ranks with it, or left some behind that `end` has promised to end.
  for (const base::unique_fd& process : std::exchange(doomed_ranks, {})) signal_process(process, SIGKILL);
  coming.emplace_back(starter_ended{*root_ended});
}

}  // namespace mpiacq
