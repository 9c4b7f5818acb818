// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "engine/children.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

namespace mpiacq::tracing {

namespace {

using namespace std::chrono_literals;

/// A child normally stops within microseconds of its birth; on a loaded machine, when it is scheduled.
constexpr auto longest_birth = 5s;

constexpr std::size_t most_past_parents = 8;

}  // namespace

bool children::follows(const traced_process& process) const {
  return process.follow_children && !process.is_let_go() && !process.attaching && !process.detaching &&
         tool_.keeps_processes();
}

void children::on_stop(pid_t child, pid_t parent, int signal) {
  newborn& known = newborn_[child];
  known.stopped = true;
  known.signal = signal;
  if (known.reported) return place(child);
  known.parent = parent;
  place_unreported(child);
}

void children::on_report(traced_process& parent, pid_t child, birth_stop::how by) {
  // A child that stopped before this and was released is no tracee any more, and neither is one that has ended.
  const auto about = kernel_.tasks.status(child);
  if (!newborn_.contains(child) && (!about || about->tracer != ::gettid())) return;
  newborn& known = newborn_[child];
  known.parent = parent.id;
  known.reported = true;
  known.followed = follows(parent);
  known.ends_with_tool = parent.ends_with_tool;
  known.reports_end = parent.reports_end;
  known.shares_memory = by == birth_stop::how::vfork || kernel_.tasks.share_memory(child, parent.id).value_or(false);
  if (known.shares_memory) make_safe(parent, child, by);
  if (known.stopped) place(child);
}

/// Removes the traps that would kill a child that runs in the memory of its parent.
void children::make_safe(traced_process& parent, pid_t child, birth_stop::how by) {
  if (by == birth_stop::how::vfork) {
    events_.report_if_failed(parent.id, breakpoints_.lift_software(parent));
    return;
  }
  if (!parent.breakpoints.has_software()) return;
  // No event reports when the child stops using the memory.
  breakpoints_.remove_software(parent);
  events_.report_problem(parent.id, {error_code::unsupported,
                                     fmt::format("process {} shares its memory with a process {} of its own making: "
                                                 "the software breakpoints are taken out, for good",
                                                 parent.id, child)});
}

/// The parent in /proc of an unreported child may be untraced. Then a traced process that has just ended made the
/// child.
const children::past_parent* children::past_parent_of(const newborn& child) const {
  const past_parent* likely = nullptr;
  for (const past_parent& past : past_parents_) {
    if (past.process == child.parent) return &past;
    if (clock::now() - past.when < longest_birth) likely = &past;
  }
  return likely;
}

bool children::waits_for_report(pid_t id, const newborn& child) const {
  const traced_process* const parent = tracees_.find(child.parent);
  if (parent != nullptr && parent->now != phase::released) {
    return kernel_.tasks.share_memory(id, child.parent).value_or(false);
  }
  if (past_parent_of(child) != nullptr) return false;
  return tracees_.any_of([](const traced_process& process) { return process.follow_children; });
}

/// Decides about a child that has stopped and that its maker has not reported.
void children::place_unreported(pid_t id) {
  newborn& child = newborn_[id];
  if (waits_for_report(id, child)) return;
  if (const traced_process* const parent = tracees_.find(child.parent)) {
    child.followed = follows(*parent);
    child.ends_with_tool = parent->ends_with_tool;
    child.reports_end = parent->reports_end;
  } else if (const past_parent* const past = past_parent_of(child)) {
    child.parent = past->process;
    child.followed = past->follow_children;
    child.ends_with_tool = past->ends_with_tool;
    child.reports_end = past->reports_end;
  }
  place(id);
}

void children::place_unreported() {
  std::vector<pid_t> all;
  for (const auto& [id, child] : newborn_) {
    if (child.stopped && !child.reported) all.push_back(id);
  }
  for (const pid_t id : all) place_unreported(id);
}

/// Adopts or releases a child of which everything is known.
void children::place(pid_t id) {
  const auto found = newborn_.find(id);
  if (found == newborn_.end()) return;
  const newborn child = found->second;
  newborn_.erase(found);
  remove_traps(id, child.parent);
  if (child.followed && tool_.keeps_processes()) return adopt(id, child);
  static_cast<void>(kernel_.calls.detach(id, child.signal));
}

void children::adopt(pid_t id, const newborn& child) {
  traced_process& process = tracees_.make(id);
  process.parent = child.parent;
  process.ends_with_tool = child.ends_with_tool;
  process.reports_end = child.reports_end;
  // The child inherits its maker's ptrace options.
  process.follow_children = process.sees_forks = true;
  process.shares_memory = child.shares_memory;
  process.hold(clock::now());
  traced_thread& thread = tracees_.add_thread(process, id);
  thread.state = thread_state::stopped;
  thread.signal = child.signal;
  events_.report(id, process_born{process_id{child.parent}, child.shares_memory});
}

/// Removes the traps from the child's copy of the code, which would kill it. If the maker was killed, `parent` is the
/// parent in /proc: the traps of every process that ended lately may then be in the copy.
void children::remove_traps(pid_t child, pid_t parent) {
  const traced_process* const known = tracees_.find(parent);
  bool found = known != nullptr;
  if (found) remove_traps(child, known->breakpoints.inherited_traps());
  for (const past_parent& past : past_parents_) {
    if (past.process != parent) continue;
    remove_traps(child, past.traps);
    found = true;
  }
  if (found) return;
  for (const past_parent& past : past_parents_) remove_traps(child, past.traps);
}

void children::remove_traps(pid_t child, const std::vector<breakpoint>& traps) {
  for (const breakpoint& b : traps) {
    if (!kernel_.memory.holds(child, b.address, arch::trap_instruction())) continue;
    static_cast<void>(kernel_.memory.write(child, b.address, b.original));
  }
}

void children::on_parent_gone(traced_process& process) {
  past_parent past{process.id,          clock::now(),
                   follows(process),    process.ends_with_tool,
                   process.reports_end, process.breakpoints.inherited_traps()};
  if (past.traps.empty() && !past.follow_children) return;
  past_parents_.push_back(std::move(past));
  if (past_parents_.size() > most_past_parents) past_parents_.pop_front();
}

}  // namespace mpiacq::tracing
