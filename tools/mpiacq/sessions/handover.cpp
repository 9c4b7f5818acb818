// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "sessions/handover.hpp"

#include <fmt/format.h>

namespace mpiacq::tool {

std::string gdb_line(std::span<const process_id> ranks) {
  // Otherwise `continue` runs only the current inferior, and a job whose ranks wait for each other hangs.
  std::string line = "gdb -ex 'set schedule-multiple on'";
  std::size_t inferior = 0;
  for (const process_id rank : ranks) {
    if (++inferior > 1) line += fmt::format(" -ex add-inferior -ex 'inferior {}'", inferior);
    line += fmt::format(" -ex 'attach {}'", rank.value());
  }
  return line;
}

std::string lldb_line(std::span<const process_id> ranks) {
  std::string line = "lldb";
  for (const process_id rank : ranks) {
    line += fmt::format(" -o 'target create /proc/{0}/exe' -o 'process attach --pid {0}'", rank.value());
  }
  return line;
}

std::vector<process_id> ranks_handed_over(const job& subject, const rank_selection& selected) {
  std::vector<process_id> ranks;
  const auto table = subject.processes();
  if (!table) return ranks;
  const auto states = subject.rank_states();
  for (const entry_index entry : table->names().selected(selected, table->size())) {
    if (is_on_this_node(states[entry.value()])) ranks.push_back(table->pid(entry));
  }
  return ranks;
}

namespace {

std::string debugger_lines(const std::vector<process_id>& ranks) {
  if (ranks.empty()) return {};
  return fmt::format("\n  all ranks in one gdb:   {}\n  all ranks in one lldb:  {}", gdb_line(ranks), lldb_line(ranks));
}

}  // namespace

std::string left_stopped(const job& subject, const std::vector<process_id>& ranks) {
  if (subject.interface() == interface_kind::environment || subject.interface() == interface_kind::pmix) {
    return "the ranks of this node are left stopped, and the starter runs: 'gdb -p PID' takes over a rank, 'kill -CONT "
           "PID' continues it" +
           debugger_lines(ranks);
  }
  const std::string text = fmt::format(
      "the starter and the ranks of this node are left stopped: 'mpiacq attach {0}' or 'gdb -p {0}' takes over the "
      "starter, 'kill -CONT {0}' and the same for each rank continue the job{1}",
      subject.starter().pid.value(),
      subject.facts().partial_attach_ok               ? ""
      : subject.interface() == interface_kind::mpi2dd ? "; ranks that wait at their gates need the attach first"
                                                      : "; ranks that wait at MPIR_debug_gate need the attach first");
  return text + debugger_lines(ranks);
}

}  // namespace mpiacq::tool
