// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Children that are followed, as tracer::follow_children says.
//
// The kernel attaches a child to us before it has run, and tells twice of it, in either order: the child stops, and its
// maker stops and names it. A child that stops first is placed by its parent's number, but for two cases. One that
// shares its parent's memory waits, because traps in that must be out before it runs, and must not come back before its
// maker's event. One that was made with CLONE_PARENT has its maker's parent, so it waits for the maker's word as well.
// A maker that was killed says nothing any more: its end, or its exec, is the word.
#include <fmt/format.h>

#include "engine/engine.hpp"
#include "engine/kernel_ptrace.hpp"
#include "engine/tracing_options.hpp"

namespace mpiacq::tracing {

namespace {

using namespace std::chrono_literals;

/// A child stops within microseconds after it was made, and on a loaded machine when its turn comes.
constexpr auto longest_birth = 5s;

}  // namespace

result<void> engine::follow_children(process_id id, bool follow) {
  auto process = follow ? find_held(id, "have its children followed") : find(id);
  if (!process) return fail(std::move(process).error());
  (*process)->follow_children = follow;
  // Of one that runs, children are let go as they come until it stops the next time.
  if ((*process)->now == phase::held) set_options(**process);
  return {};
}

bool engine::follows_children(const traced_process& process) const {
  const bool ours = process.now != phase::leaving && process.now != phase::released;
  return process.follow_children && ours && !process.attaching && !process.detaching && !leaving_all_ &&
         !tool_is_silent_;
}

/// Of a child whose parent is not ours: the process that was ours and has ended just now.
const left_behind* engine::who_may_have_made(const newborn_process& child) const {
  const left_behind* who = nullptr;
  for (const left_behind& left : left_behind_) {
    if (left.process == child.parent) return &left;
    if (clock::now() - left.when < longest_birth) who = &left;
  }
  return who;
}

bool engine::waits_for_word(pid_t id, const newborn_process& child) const {
  const auto parent = processes_.find(child.parent);
  if (parent != processes_.end() && parent->second.now != phase::released) {
    return share_memory(id, child.parent).value_or(false);
  }
  if (who_may_have_made(child) != nullptr) return false;
  return std::any_of(processes_.begin(), processes_.end(),
                     [](const auto& entry) { return entry.second.follow_children; });
}

/// It has stopped, and nobody has told of it.
void engine::place_unannounced(pid_t id) {
  newborn_process& child = newborn_[id];
  if (waits_for_word(id, child)) return;
  const auto parent = processes_.find(child.parent);
  if (parent != processes_.end()) {
    child.followed = follows_children(parent->second);
    child.ends_with_tool = parent->second.ends_with_tool;
  } else if (const left_behind* left = who_may_have_made(child)) {
    child.parent = left->process;
    child.followed = left->follow_children;
    child.ends_with_tool = left->ends_with_tool;
  }
  place_child(id);
}

void engine::place_unannounced_children() {
  std::vector<pid_t> all;
  for (const auto& [id, child] : newborn_) {
    if (child.stopped && !child.announced) all.push_back(id);
  }
  for (const pid_t id : all) place_unannounced(id);
}

void engine::adopt(pid_t child, const newborn_process& newborn) {
  traced_process& process = processes_[child];
  process.id = child;
  process.parent = newborn.parent;
  process.ends_with_tool = newborn.ends_with_tool;
  // The kernel has given it its maker's options.
  process.follow_children = process.sees_forks = true;
  process.shares_memory = newborn.shares_memory;
  process.now = phase::held;
  traced_thread& thread = add_thread(process, child);
  thread.state = thread_state::stopped;
  thread.signal = newborn.signal;
  report(process, process_born{process_id{newborn.parent}, newborn.shares_memory});
}

/// Forks cost a stop each, so they are told of only while somebody wants the children, or a trap is there for them to
/// inherit. No thread is in the middle of one, because all are stopped, and a stop is not reported from within fork.
void engine::set_options(traced_process& process) {
  const bool wanted = process.follow_children || has_software(process.breakpoints);
  if (process.sees_forks == wanted) return;
  process.sees_forks = wanted;
  unsigned long options = process.ends_with_tool ? base_options | PTRACE_O_EXITKILL : base_options;
  if (wanted) options |= fork_options;
  for (const auto& [task, thread] : process.threads) {
    if (thread.state == thread_state::stopped) static_cast<void>(calls_.set_options(task, options));
  }
}

bool engine::shares_memory_with_another(const traced_process& process) const {
  if (process.shares_memory) return true;
  return std::any_of(processes_.begin(), processes_.end(), [&](const auto& entry) {
    return entry.second.shares_memory && entry.second.parent == process.id;
  });
}

}  // namespace mpiacq::tracing
