// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "engine/breakpoints.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/fork_reports.hpp"
#include "errors/try.hpp"

namespace mpiacq::tracing {

result<breakpoint_kind> breakpoints::insert(traced_process& process, target_address address, breakpoint_kind kind,
                                            breakpoint_role for_whom) {
  breakpoint_set& set = process.breakpoints;
  if (breakpoint* const known = set.at(address)) {
    known->*for_whom = true;
    return known->kind;
  }
  if (address.is_null() || !arch::is_code_address(address)) {
    return fail(
        error{error_code::invalid_argument, fmt::format("no code can stand at {:#x}", address.value())}.at(address));
  }
  set.had_any = true;
  breakpoint planted;
  planted.address = address;
  planted.*for_whom = true;
  if (kind != breakpoint_kind::software) {
    auto hardware = insert_hardware(process, planted.trigger());
    if (!hardware && (kind == breakpoint_kind::hardware || hardware.error().code != error_code::unsupported)) {
      return fail(std::move(hardware).error());
    }
    if (hardware) {
      set.all.push_back(std::move(planted));
      return breakpoint_kind::hardware;
    }
  }
  planted.kind = breakpoint_kind::software;
  planted.original = TRY(insert_software(process, address));
  set.all.push_back(std::move(planted));
  update_fork_reports(kernel_.calls, process);
  return breakpoint_kind::software;
}

result<void> breakpoints::insert_hardware(traced_process& process, const arch::hardware_trigger& trigger) {
  if (!kernel_.calls.has_breakpoint_registers()) {
    return fail(error{error_code::unsupported,
                      "the breakpoint registers of this machine's processor stop no thread: a process of mpiacq's own "
                      "ran over a breakpoint that the kernel had accepted, as happens in some virtual machines"}
                    .at(trigger.address));
  }
  breakpoint_set& set = process.breakpoints;
  if (!set.take_register(trigger)) {
    return fail(error{error_code::unsupported, fmt::format("all {} breakpoint registers of process {} are in use",
                                                           set.hardware.size(), process.id)}
                    .at(trigger.address));
  }
  // The registers of every thread are set now, so that the caller receives a refusal as the answer. Afterwards they are
  // set only while the thread runs.
  result<void> outcome;
  for (auto& [task, thread] : process.threads) {
    thread.registers_due = true;
    if (!thread.is_stopped() || !outcome) continue;
    auto tried = arch::set_hardware(kernel_.calls, task, set.hardware);
    arch::clear_hardware(kernel_.calls, task);
    if (!done_or_gone(tried)) outcome = std::move(tried);
  }
  if (!outcome) set.free_register(trigger);
  return outcome;
}

result<std::vector<std::byte>> breakpoints::insert_software(traced_process& process, target_address address) {
  if (!process.is_stopped()) {
    return fail(error_code::timed_out,
                fmt::format("a thread of process {} has not stopped, and might be sharing its memory with a child of "
                            "vfork: no trap is written into its code",
                            process.id));
  }
  if (tracees_.shares_memory(process)) {
    return fail(error_code::unsupported,
                fmt::format("process {} shares its memory with another process, which a trap in its code would kill; "
                            "only a hardware breakpoint can be put in",
                            process.id));
  }
  const auto trap = arch::trap_instruction();
  std::vector<std::byte> original(trap.size());
  TRY(kernel_.memory.read(process.id, address, original));
  if (auto put = kernel_.memory.write_and_verify(process.id, address, trap); !put) {
    static_cast<void>(kernel_.memory.write(process.id, address, original));
    return fail(std::move(put).error());
  }
  process.breakpoints.lifted = true;
  TRY(kernel_.memory.write_and_verify(process.id, address, original));
  return original;
}

result<void> breakpoints::remove(traced_process& process, breakpoint_role for_whom,
                                 std::optional<target_address> only) {
  result<void> outcome;
  auto& all = process.breakpoints.all;
  for (auto b = all.begin(); b != all.end();) {
    const bool is_meant = only ? b->is_at(*only) : true;
    if (is_meant) (*b).*for_whom = false;
    if (!is_meant || b->for_user || b->for_entry) {
      ++b;
      continue;
    }
    if (auto out = take_out(process, *b); !out) outcome = std::move(out);
    b = all.erase(b);
  }
  update_fork_reports(kernel_.calls, process);
  return outcome;
}

result<void> breakpoints::take_out(traced_process& process, breakpoint& one) {
  if (!one.is_software()) {
    free_register(process, one.trigger());
    return {};
  }
  remember_trap(process.breakpoints.past_traps, one);
  if (process.breakpoints.lifted) return {};
  auto put = kernel_.memory.write_and_verify(process.id, one.address, one.original);
  return done_or_gone(put) ? result<void>{} : put;
}

result<void> breakpoints::remove_all(traced_process& process) {
  auto outcome = remove(process, &breakpoint::for_entry);
  if (auto users = remove(process, &breakpoint::for_user); !users) outcome = users;
  return outcome;
}

void breakpoints::remove_software(traced_process& process) {
  std::vector<target_address> traps;
  for (const breakpoint& b : process.breakpoints.all) {
    if (b.is_software()) traps.push_back(b.address);
  }
  for (const target_address at : traps) {
    for (const breakpoint_role whose : {&breakpoint::for_entry, &breakpoint::for_user}) {
      events_.report_if_failed(process.id, remove(process, whose, at));
    }
  }
}

void breakpoints::free_register(traced_process& process, const arch::hardware_trigger& trigger) {
  process.breakpoints.free_register(trigger);
  for (auto& [task, thread] : process.threads) thread.registers_due = true;
}

void breakpoints::disarm(traced_process& process) {
  events_.report_if_failed(process.id, lift_software(process));
  if (!process.breakpoints.uses_registers()) return;
  for (auto& [task, thread] : process.threads) {
    if (thread.is_stopped()) arch::clear_hardware(kernel_.calls, task);
    thread.registers_due = true;
  }
}

result<void> breakpoints::lift_software(traced_process& process) {
  breakpoint_set& set = process.breakpoints;
  if (set.lifted) return {};
  set.lifted = set.has_software();
  result<void> outcome;
  for (const breakpoint& b : set.all) {
    if (!b.is_software()) continue;
    if (auto put = kernel_.memory.write_and_verify(process.id, b.address, b.original); !done_or_gone(put)) {
      outcome = put;
    }
  }
  return outcome;
}

void breakpoints::put_back_software(traced_process& process) {
  breakpoint_set& set = process.breakpoints;
  if (process.now != phase::running && process.now != phase::stopping) return;
  const bool shared = std::any_of(process.threads.begin(), process.threads.end(),
                                  [](const auto& entry) { return entry.second.in_vfork; });
  if (!set.lifted || shared) return;
  set.lifted = false;
  for (const breakpoint& b : set.all) {
    if (!b.is_software()) continue;
    auto put = kernel_.memory.write_and_verify(process.id, b.address, arch::trap_instruction());
    if (!done_or_gone(put)) events_.report_problem(process.id, std::move(put).error());
  }
}

void breakpoints::arm_registers(traced_process& process, traced_thread& thread) {
  thread.registers_due = false;
  auto set = arch::set_hardware(kernel_.calls, thread.id, process.breakpoints.hardware);
  if (!done_or_gone(set)) events_.report_problem(process.id, std::move(set).error());
}

void breakpoints::arm_for_step(traced_process& process, traced_thread& thread) {
  const arch::hardware_table watches = process.breakpoints.watches();
  if (watches == arch::hardware_table{}) return;
  thread.registers_due = true;
  auto set = arch::set_hardware(kernel_.calls, thread.id, watches);
  if (!done_or_gone(set)) events_.report_problem(process.id, std::move(set).error());
}

}  // namespace mpiacq::tracing
