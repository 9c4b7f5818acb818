// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_map>
#include <vector>

#include "engine/tracee.hpp"

namespace mpiacq::tracing {

/// The traced processes, and which of them a thread belongs to. A process stays where it is until it is erased.
class tracee_table {
 public:
  [[nodiscard]] traced_process* find(pid_t process);
  [[nodiscard]] const traced_process* find(pid_t process) const;
  /// The process that has a known thread of this number.
  [[nodiscard]] traced_process* with_thread(pid_t task) const;
  /// The process of this number, which is made where there is none.
  traced_process& make(pid_t process);
  void erase(traced_process& process);
  void reserve_more(std::size_t count) { processes_.reserve(processes_.size() + count); }

  /// The thread of this number, which is made where there is none.
  traced_thread& add_thread(traced_process& process, pid_t task);
  void drop_thread(traced_process& process, pid_t task);
  void drop_threads(traced_process& process);

  /// The numbers of all processes. Whatever is done about one may erase others, so they are named first.
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
  /// The memory of this process is also another traced process's.
  [[nodiscard]] bool shares_memory(const traced_process& process) const;

 private:
  std::unordered_map<pid_t, traced_process> processes_;
  std::unordered_map<pid_t, traced_process*> process_of_;  ///< by thread
};

}  // namespace mpiacq::tracing
