// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "engine/engine.hpp"

namespace mpiacq::tracing {

namespace {

bool really_all_stopped(const traced_process& process) {
  return std::all_of(process.threads.begin(), process.threads.end(), [](const auto& entry) {
    return entry.second.state == thread_state::stopped || entry.second.zombie;
  });
}

constexpr std::size_t most_left_behind = 8;

void remember(std::vector<breakpoint>& past, const breakpoint& b) {
  if (std::none_of(past.begin(), past.end(), [&](const breakpoint& p) { return p.address == b.address; })) {
    past.push_back(b);
  }
}

/// Writes, reads back and compares: a write that seems to work and does not would be a stop that never comes.
result<void> write_and_verify(pid_t process, target_address address, std::span<const std::byte> bytes) {
  if (auto written = write_code(process, address, bytes); !written) return written;
  std::vector<std::byte> there(bytes.size());
  if (auto read = read_code(process, address, there); !read) return read;
  if (std::equal(bytes.begin(), bytes.end(), there.begin())) return {};
  return fail(
      error{error_code::unreadable_memory,
            fmt::format("the code at {:#x} of process {} did not take what was written", address.value(), process)}
          .at(address));
}

}  // namespace

result<breakpoint_kind> engine::insert_breakpoint(process_id id, target_address address, breakpoint_kind kind) {
  auto process = find_held(id, "put a breakpoint in");
  if (!process) return fail(std::move(process).error());
  return plant(**process, address, kind, &breakpoint::for_user);
}

result<void> engine::remove_breakpoint(process_id id, target_address address) {
  auto process = find_held(id, "take a breakpoint out");
  if (!process) return fail(std::move(process).error());
  return take_out(**process, &breakpoint::for_user, address);
}

result<breakpoint_kind> engine::plant(traced_process& process, target_address address, breakpoint_kind kind,
                                      role for_whom) {
  for (breakpoint& b : process.breakpoints) {
    if (!b.is_at(address)) continue;
    b.*for_whom = true;
    return b.kind;
  }
  if (address.is_null() || !arch::is_code_address(address)) {
    return fail(
        error{error_code::invalid_argument, fmt::format("no code can stand at {:#x}", address.value())}.at(address));
  }
  process.had_breakpoints = true;
  breakpoint planted;
  planted.address = address;
  planted.*for_whom = true;
  if (kind != breakpoint_kind::software) {
    auto hardware = plant_hardware(process, planted.trigger());
    if (!hardware && (kind == breakpoint_kind::hardware || hardware.error().code != error_code::unsupported)) {
      return fail(std::move(hardware).error());
    }
    if (hardware) {
      process.breakpoints.push_back(std::move(planted));
      return breakpoint_kind::hardware;
    }
  }
  auto original = plant_software(process, address);
  if (!original) return fail(std::move(original).error());
  planted.kind = breakpoint_kind::software;
  planted.original = std::move(*original);
  process.breakpoints.push_back(std::move(planted));
  set_options(process);
  return breakpoint_kind::software;
}

result<void> engine::plant_hardware(traced_process& process, const arch::hardware_trigger& trigger) {
  const auto free = std::find(process.hardware.begin(), process.hardware.end(), std::nullopt);
  if (free == process.hardware.end()) {
    return fail(error{error_code::unsupported, fmt::format("all {} breakpoint registers of process {} are in use",
                                                           process.hardware.size(), process.id)}
                    .at(trigger.address));
  }
  *free = trigger;
  // Tried in every thread now, so that a refusal is the answer; set for good when the thread runs.
  result<void> outcome;
  for (auto& [task, thread] : process.threads) {
    thread.registers_due = true;
    if (thread.state != thread_state::stopped || !outcome) continue;
    auto set = arch::set_hardware(calls_, task, process.hardware);
    arch::clear_hardware(calls_, task);
    if (!done_or_gone(set)) outcome = std::move(set);
  }
  if (!outcome) free->reset();
  return outcome;
}

void engine::apply_hardware(traced_process& process, traced_thread& thread) {
  thread.registers_due = false;
  auto set = arch::set_hardware(calls_, thread.id, process.hardware);
  if (!done_or_gone(set)) report_problem(process, std::move(set).error());
}

result<std::vector<std::byte>> engine::plant_software(traced_process& process, target_address address) {
  if (!really_all_stopped(process)) {
    return fail(error_code::timed_out,
                fmt::format("a thread of process {} has not stopped, and might be sharing its memory with a child of "
                            "vfork: no trap is written into its code",
                            process.id));
  }
  if (shares_memory_with_another(process)) {
    return fail(error_code::unsupported,
                fmt::format("process {} shares its memory with another process, which a trap in its code would kill; "
                            "only a hardware breakpoint can be put in",
                            process.id));
  }
  const auto trap = arch::trap_instruction();
  std::vector<std::byte> original(trap.size());
  if (auto read = read_code(process.id, address, original); !read) return fail(std::move(read).error());
  if (auto put = write_and_verify(process.id, address, trap); !put) {
    static_cast<void>(write_code(process.id, address, original));
    return fail(std::move(put).error());
  }
  process.lifted = true;
  if (auto back = write_and_verify(process.id, address, original); !back) return fail(std::move(back).error());
  return original;
}

result<void> engine::take_out(traced_process& process, role for_whom, std::optional<target_address> only) {
  result<void> outcome;
  for (auto b = process.breakpoints.begin(); b != process.breakpoints.end();) {
    if (b->written != 0 ? only.has_value() : only && b->address != *only) {
      ++b;
      continue;
    }
    (*b).*for_whom = false;
    if (b->for_user || b->for_entry) {
      ++b;
      continue;
    }
    if (b->kind == breakpoint_kind::hardware) {
      free_register(process, b->trigger());
    } else if (!process.lifted) {
      if (auto put = write_and_verify(process.id, b->address, b->original); !done_or_gone(put)) outcome = put;
    }
    if (b->kind == breakpoint_kind::software) remember(process.past_traps, *b);
    b = process.breakpoints.erase(b);
  }
  set_options(process);
  return outcome;
}

void engine::free_register(traced_process& process, const arch::hardware_trigger& trigger) {
  std::replace(process.hardware.begin(), process.hardware.end(), std::optional{trigger},
               std::optional<arch::hardware_trigger>{});
  for (auto& [task, thread] : process.threads) thread.registers_due = true;
}

result<void> engine::take_out_all(traced_process& process) {
  auto outcome = take_out(process, &breakpoint::for_entry);
  if (auto users = take_out(process, &breakpoint::for_user); !users) outcome = users;
  return outcome;
}

result<void> engine::lift_software(traced_process& process) {
  if (process.lifted) return {};
  process.lifted = has_software(process.breakpoints);
  result<void> outcome;
  for (const breakpoint& b : process.breakpoints) {
    if (b.kind != breakpoint_kind::software) continue;
    if (auto put = write_and_verify(process.id, b.address, b.original); !done_or_gone(put)) outcome = put;
  }
  return outcome;
}

void engine::disarm(traced_process& process) {
  if (auto lifted = lift_software(process); !lifted) report_problem(process, std::move(lifted).error());
  if (process.hardware == arch::hardware_table{}) return;
  for (auto& [task, thread] : process.threads) {
    if (thread.state == thread_state::stopped) arch::clear_hardware(calls_, task);
    thread.registers_due = true;
  }
}

void engine::take_out_software(traced_process& process) {
  std::vector<target_address> traps;
  for (const breakpoint& b : process.breakpoints) {
    if (b.kind == breakpoint_kind::software) traps.push_back(b.address);
  }
  for (const target_address at : traps) {
    for (const role whose : {&breakpoint::for_entry, &breakpoint::for_user}) {
      if (auto out = take_out(process, whose, at); !out) report_problem(process, std::move(out).error());
    }
  }
}

/// What is to be done with a child that was made already, and has not reported yet.
void engine::leave_behind_of(traced_process& process) {
  if (process.past_traps.empty() && process.breakpoints.empty() && !process.follow_children) return;
  left_behind left{process.id, clock::now(), follows_children(process), process.ends_with_tool,
                   std::exchange(process.past_traps, {})};
  for (const breakpoint& b : process.breakpoints) {
    if (b.kind == breakpoint_kind::software) remember(left.traps, b);
  }
  if (left.traps.empty() && !left.follow_children) return;
  left_behind_.push_back(std::move(left));
  if (left_behind_.size() > most_left_behind) left_behind_.pop_front();
}

/// Only for a process that runs, and not while a child of vfork runs in its memory.
void engine::put_back_software(traced_process& process) {
  if (process.now != phase::running && process.now != phase::stopping) return;
  const bool shared = std::any_of(process.threads.begin(), process.threads.end(),
                                  [](const auto& entry) { return entry.second.in_vfork; });
  if (!process.lifted || shared) return;
  process.lifted = false;
  for (const breakpoint& b : process.breakpoints) {
    if (b.kind != breakpoint_kind::software) continue;
    auto put = write_and_verify(process.id, b.address, arch::trap_instruction());
    if (!done_or_gone(put)) report_problem(process, std::move(put).error());
  }
}

}  // namespace mpiacq::tracing
