// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "engine/tracee_table.hpp"

#include <algorithm>

namespace mpiacq::tracing {

bool traced_process::is_stopped() const {
  return std::all_of(threads.begin(), threads.end(),
                     [](const auto& entry) { return entry.second.is_stopped() || entry.second.zombie; });
}

bool traced_process::is_stopped_but_for_late_threads() const {
  return std::none_of(threads.begin(), threads.end(), [this](const auto& entry) { return awaits(entry.second); });
}

traced_process* tracee_table::find(pid_t process) {
  const auto found = processes_.find(process);
  return found == processes_.end() ? nullptr : &found->second;
}

const traced_process* tracee_table::find(pid_t process) const {
  const auto found = processes_.find(process);
  return found == processes_.end() ? nullptr : &found->second;
}

traced_process* tracee_table::with_thread(pid_t task) const {
  const auto found = process_of_.find(task);
  return found == process_of_.end() ? nullptr : found->second;
}

traced_process& tracee_table::make(pid_t process) {
  traced_process& made = processes_[process];
  made.id = process;
  return made;
}

void tracee_table::erase(traced_process& process) {
  for (const auto& [task, thread] : process.threads) process_of_.erase(task);
  processes_.erase(process.id);
}

traced_thread& tracee_table::add_thread(traced_process& process, pid_t task) {
  traced_thread& thread = process.threads[task];
  thread.id = task;
  thread.registers_due = process.breakpoints.uses_registers();
  process_of_[task] = &process;
  return thread;
}

void tracee_table::drop_thread(traced_process& process, pid_t task) {
  process.threads.erase(task);
  process_of_.erase(task);
}

void tracee_table::drop_threads(traced_process& process) {
  for (const auto& [task, thread] : process.threads) process_of_.erase(task);
  process.threads.clear();
}

std::vector<pid_t> tracee_table::ids() const {
  std::vector<pid_t> all;
  all.reserve(processes_.size());
  for (const auto& [id, process] : processes_) all.push_back(id);
  return all;
}

bool tracee_table::shares_memory(const traced_process& process) const {
  return process.shares_memory ||
         any_of([&](const traced_process& other) { return other.shares_memory && other.parent == process.id; });
}

}  // namespace mpiacq::tracing
