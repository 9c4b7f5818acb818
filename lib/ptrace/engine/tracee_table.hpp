// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_map>
#include <vector>

#include "engine/tracee.hpp"

namespace mpiacq::tracing {

/// The traced processes, and the process of each thread. Pointers to a process are valid until it is erased.
class tracee_table {
 public:
  [[nodiscard]] traced_process* find(pid_t process);
  [[nodiscard]] const traced_process* find(pid_t process) const;
  /// The process that has a known thread with this number.
  [[nodiscard]] traced_process* with_thread(pid_t task) const;
  /// The process with this pid; added if it is unknown.
  traced_process& make(pid_t process);
  void erase(traced_process& process);
  void reserve_more(std::size_t count) { processes_.reserve(processes_.size() + count); }

  /// The thread with this number; added if it is unknown.
  traced_thread& add_thread(traced_process& process, pid_t task);
  void drop_thread(traced_process& process, pid_t task);
  void drop_threads(traced_process& process);

  /// The pids of all processes. A copy, because handling one process can erase others.
  [[nodiscard]] std::vector<pid_t> ids() const;
  [[nodiscard]] bool empty() const { return processes_.empty(); }
  [[nodiscard]] const std::unordered_map<pid_t, traced_process>& all() const { return processes_; }

  template <class Predicate>
  [[nodiscard]] bool any_of(Predicate is) const {
    for (const auto& [id, process] : processes_) {
      if (is(process)) return true;
    }
    return false;
  }
  /// Whether another traced process shares the memory of this one.
  [[nodiscard]] bool shares_memory(const traced_process& process) const;

 private:
  std::unordered_map<pid_t, traced_process> processes_;
  std::unordered_map<pid_t, traced_process*> process_of_;  ///< by thread
};

}  // namespace mpiacq::tracing
