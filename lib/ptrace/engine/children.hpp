// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Children of traced processes, which the kernel attaches to the tracer before they have run.
//
// The kernel reports a child twice, in either order: the child stops, and its maker stops and names it. A child that
// stops first is treated as a child of its parent, with two exceptions. A child that shares its parent's memory waits
// for the maker's report: traps in that memory must be out before the child runs, and must not come back before the
// maker's report. A child that was made with CLONE_PARENT has its maker's parent, so it waits as well. A maker that was
// killed reports nothing any more: its end, or its exec, takes the place of its report.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "engine/breakpoints.hpp"
#include "engine/hold_limit.hpp"
#include "kernel/wait_status.hpp"

namespace mpiacq::tracing {

class children {
 public:
  children(kernel_access kernel, tracee_table& tracees, breakpoints& armed, event_queue& events, const hold_limit& tool)
      : kernel_(kernel), tracees_(tracees), breakpoints_(armed), events_(events), tool_(tool) {}

  /// An unknown process has stopped. `parent`: its parent in /proc.
  void on_stop(pid_t child, pid_t parent, int signal);
  /// An unknown process has ended.
  void on_end(pid_t child) { newborn_.erase(child); }
  /// A thread of `parent` has reported this child.
  void on_report(traced_process& parent, pid_t child, birth_stop::how by);
  /// The process ends, or has executed another program. Children of it that report later are still treated as its own.
  void on_parent_gone(traced_process& process);
  /// Decides about children that wait for the report of a process that has gone.
  void place_unreported();

  [[nodiscard]] bool is_expected(pid_t child) const { return newborn_.contains(child); }
  [[nodiscard]] bool empty() const { return newborn_.empty(); }

 private:
  /// A child until it has stopped and, if that matters, until its maker has reported it.
  struct newborn {
    pid_t parent = 0;  ///< the maker; until the maker's report, the parent in /proc
    bool stopped = false;
    bool reported = false;
    bool followed = false;  ///< it is traced after its first stop
    bool shares_memory = false;
    bool ends_with_tool = false;
    bool reports_end = false;
    int signal = 0;
  };
  /// How to treat the children of a process that has ended or executed another program.
  struct past_parent {
    pid_t process = 0;
    clock::time_point when;
    bool follow_children = false;
    bool ends_with_tool = false;
    bool reports_end = false;
    std::vector<breakpoint> traps;
  };

  [[nodiscard]] bool follows(const traced_process& process) const;
  [[nodiscard]] const past_parent* past_parent_of(const newborn& child) const;
  [[nodiscard]] bool waits_for_report(pid_t id, const newborn& child) const;
  void make_safe(traced_process& parent, pid_t child, birth_stop::how by);
  void place_unreported(pid_t id);
  void place(pid_t id);
  void adopt(pid_t id, const newborn& child);
  void remove_traps(pid_t child, pid_t parent);
  void remove_traps(pid_t child, const std::vector<breakpoint>& traps);

  kernel_access kernel_;
  tracee_table& tracees_;
  breakpoints& breakpoints_;
  event_queue& events_;
  const hold_limit& tool_;
  std::map<pid_t, newborn> newborn_;
  std::deque<past_parent> past_parents_;
};

}  // namespace mpiacq::tracing
