// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "engine/traps.hpp"

#include <csignal>
#include <utility>

#include "kernel/ptrace_arch.hpp"

namespace mpiacq::tracing {

namespace {

bool is_of_interest(const traced_process& process, const hit& what) {
  const bool is_write = std::holds_alternative<watch_hit>(what);
  const auto [thread, address] = std::visit(
      [](const auto& h) {
        return std::pair{static_cast<pid_t>(h.thread.value()), h.address};
      },
      what);
  if (!process.threads.contains(thread)) return false;
  for (const breakpoint& b : process.breakpoints.all) {
    if (b.for_user && b.address == address && (b.written != 0) == is_write) return true;
  }
  return false;
}

}  // namespace

void traps::on_trap(traced_process& process, traced_thread& thread) const {
  const auto info = calls_.signal_info(thread.id);
  if (!info) return;
  if (arch::is_hardware_hit(info->si_code)) return note_registers(process, thread, kinds::all);
  if (arch::is_trap_instruction(info->si_code)) {
    for (const breakpoint& b : process.breakpoints.all) {
      if (!b.is_software() || !arch::step_back_to(calls_, thread.id, b.address)) continue;
      return note_hit(process, thread, b.address);
    }
  }
  thread.signal = SIGTRAP;
}

bool traps::on_trap_in_step(traced_process& process, traced_thread& thread) const {
  const auto info = calls_.signal_info(thread.id);
  if (!info) return false;
  if (arch::is_step_end(info->si_code)) {
    note_registers(process, thread, kinds::writes);
  } else if (info->si_code == SIGTRAP) {
    // The kernel's own stop (ptrace_notify) at the first instruction of a handler: the signal that was passed on with
    // the step took the thread off the breakpoint, and the thread will come back.
    thread.left_by_signal = thread.leaving;
  } else {
    on_trap(process, thread);
  }
  return true;
}

void traps::note_registers(traced_process& process, traced_thread& thread, kinds which) const {
  const auto triggers = arch::hardware_hits(calls_, thread.id, process.breakpoints.hardware);
  if (!triggers) return;
  for (const arch::hardware_trigger& what : *triggers) {
    if (what.written != 0) {
      process.hits.emplace_back(watch_hit{thread_id{thread.id}, what.address});
    } else if (which == kinds::all) {
      note_hit(process, thread, what.address);
    }
  }
}

void traps::note_hit(traced_process& process, traced_thread& thread, target_address at) const {
  thread.standing_on = at;
  if (const auto left = std::exchange(thread.left_by_signal, std::nullopt); left && left->address == at) {
    const auto stack = arch::stack_pointer(calls_, thread.id);
    if (stack && *stack == left->stack) return;
  }
  const breakpoint* const here = process.breakpoints.at(at);
  if (here == nullptr) return;
  if (here->for_entry) process.at_entry = true;
  if (here->for_user) process.hits.emplace_back(breakpoint_hit{thread_id{thread.id}, at});
}

std::optional<hit> traps::take_hit(traced_process& process) {
  while (!process.hits.empty()) {
    const hit first = process.hits.front();
    process.hits.erase(process.hits.begin());
    if (is_of_interest(process, first)) return first;
  }
  return std::nullopt;
}

}  // namespace mpiacq::tracing
