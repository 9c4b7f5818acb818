// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Tasks that the kernel attached to us by itself: threads that report before the clone event of their creator does, and
// children, which are let go at once or become processes of ours (following.cpp).
#include <algorithm>
#include <csignal>

#include <fmt/format.h>
#include <unistd.h>

#include "engine/engine.hpp"

namespace mpiacq::tracing {

namespace {

int signal_of(const wait_status& status) {
  const auto* stop = std::get_if<signal_stop>(&status);
  return stop == nullptr ? 0 : stop->signal;
}

/// Puts the original bytes in where a trap stands.
void restore(pid_t process, const std::vector<breakpoint>& breakpoints) {
  const auto trap = arch::trap_instruction();
  for (const breakpoint& b : breakpoints) {
    if (b.kind != breakpoint_kind::software) continue;
    std::vector<std::byte> there(trap.size());
    if (!read_code(process, b.address, there) || !std::equal(trap.begin(), trap.end(), there.begin())) continue;
    static_cast<void>(write_code(process, b.address, b.original));
  }
}

}  // namespace

void engine::on_stranger(pid_t task, const wait_status& status) {
  if (std::holds_alternative<ended>(status)) {
    newborn_.erase(task);
    return;
  }
  const auto about = read_task_status(task);
  if (!about) return;
  if (about->process != task) {
    const auto process = processes_.find(about->process);
    if (process == processes_.end() || process->second.now == phase::released) {
      static_cast<void>(calls_.detach(task, signal_of(status)));
      return;
    }
    return on_stop(process->second, add_thread(process->second, task), status);
  }
  newborn_process& child = newborn_[task];
  child.stopped = true;
  child.signal = signal_of(status);
  if (child.announced) return place_child(task);
  child.parent = about->parent;
  place_unannounced(task);
}

void engine::announce_child(traced_process& parent, pid_t child, birth_stop::how by) {
  // One that came before this and was let go is not ours any more, and one that has ended neither.
  const auto about = read_task_status(child);
  if (!newborn_.contains(child) && (!about || about->tracer != ::gettid())) return;
  newborn_process& newborn = newborn_[child];
  newborn.parent = parent.id;
  newborn.announced = true;
  newborn.followed = follows_children(parent);
  newborn.ends_with_tool = parent.ends_with_tool;
  newborn.shares_memory = by == birth_stop::how::vfork || share_memory(child, parent.id).value_or(false);
  if (newborn.shares_memory && by == birth_stop::how::vfork) {
    if (auto lifted = lift_software(parent); !lifted) report_problem(parent, std::move(lifted).error());
  } else if (newborn.shares_memory && has_software(parent.breakpoints)) {
    // Nobody would tell us when it is done with the memory.
    take_out_software(parent);
    report_problem(parent, {error_code::unsupported,
                            fmt::format("process {} shares its memory with a process {} of its own making: the "
                                        "software breakpoints are taken out, for good",
                                        parent.id, child)});
  }
  if (newborn.stopped) place_child(child);
}

/// All is known of it: it becomes a process of ours, or is let go.
void engine::place_child(pid_t child) {
  const auto found = newborn_.find(child);
  if (found == newborn_.end()) return;
  const newborn_process newborn = found->second;
  newborn_.erase(found);
  clean_child(child, newborn.parent);
  if (newborn.followed && !leaving_all_ && !tool_is_silent_) return adopt(child, newborn);
  static_cast<void>(calls_.detach(child, newborn.signal));
}

/// Traps in its copy of the code would kill it. `parent` is whoever it has now, where its own was killed.
void engine::clean_child(pid_t child, pid_t parent) {
  const auto known = processes_.find(parent);
  bool found = known != processes_.end();
  if (found) {
    restore(child, known->second.breakpoints);
    restore(child, known->second.past_traps);
  }
  for (const left_behind& left : left_behind_) {
    if (left.process != parent) continue;
    restore(child, left.traps);
    found = true;
  }
  if (found) return;
  for (const left_behind& left : left_behind_) restore(child, left.traps);
}

}  // namespace mpiacq::tracing
