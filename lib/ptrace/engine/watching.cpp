// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Watchpoints: debug registers that stop a thread after it has written to a place.
//
// They are armed and taken out with the hardware breakpoints. Two things differ. A thread does not stand on one: it
// goes on from the next instruction. And one that makes a step off a breakpoint is watched on the way, because the
// instruction under the breakpoint may be the very write.
#include <algorithm>

#include <fmt/format.h>

#include "engine/engine.hpp"

namespace mpiacq::tracing {

namespace {

result<void> check(target_address address, std::uint64_t length) {
  constexpr std::array<std::uint64_t, 4> lengths = {1, 2, 4, 8};
  if (std::find(lengths.begin(), lengths.end(), length) == lengths.end()) {
    return fail(error_code::invalid_argument,
                fmt::format("{} bytes cannot be watched: a register of the processor has 1, 2, 4 or 8", length));
  }
  if (address.is_null() || address.value() % length != 0) {
    return fail(error{error_code::invalid_argument,
                      fmt::format("{} bytes at {:#x} cannot be watched: the address must be a multiple of the length",
                                  length, address.value())}
                    .at(address));
  }
  return {};
}

}  // namespace

result<void> engine::insert_watchpoint(process_id id, target_address address, std::uint64_t length) {
  auto found = find_held(id, "have writes of it watched");
  if (!found) return fail(std::move(found).error());
  traced_process& process = **found;
  if (auto fine = check(address, length); !fine) return fine;
  if (const char* reason = arch::why_no_writes()) return fail(error{error_code::unsupported, reason}.at(address));
  for (const breakpoint& b : process.breakpoints) {
    if (b.address != address || b.written == 0) continue;
    if (b.written == length) return {};
    return fail(
        error{error_code::invalid_argument,
              fmt::format("{} bytes at {:#x} are watched already, so {} cannot be", b.written, address.value(), length)}
            .at(address));
  }
  process.had_breakpoints = true;
  breakpoint planted;
  planted.address = address;
  planted.for_user = true;
  planted.written = static_cast<std::uint8_t>(length);
  if (auto set = plant_hardware(process, planted.trigger()); !set) return set;
  process.breakpoints.push_back(planted);
  return {};
}

result<void> engine::remove_watchpoint(process_id id, target_address address) {
  auto process = find_held(id, "have writes of it watched no more");
  if (!process) return fail(std::move(process).error());
  std::erase_if((*process)->breakpoints, [&](const breakpoint& b) {
    const bool is_it = b.address == address && b.written != 0;
    if (is_it) free_register(**process, b.trigger());
    return is_it;
  });
  return {};
}

void engine::on_write(traced_process& process, traced_thread& thread, target_address at) {
  process.hits.emplace_back(watch_hit{thread_id{thread.id}, at});
  if (process.now == phase::running) begin_stop(process);
}

/// Before a step: the breakpoint that it is to get off must not be armed.
void engine::apply_watches(traced_process& process, traced_thread& thread) {
  arch::hardware_table watches = process.hardware;
  for (auto& trigger : watches) {
    if (trigger && trigger->written == 0) trigger.reset();
  }
  if (watches == arch::hardware_table{}) return;
  thread.registers_due = true;
  if (auto set = arch::set_hardware(calls_, thread.id, watches); !done_or_gone(set)) {
    report_problem(process, std::move(set).error());
  }
}

/// A thread that has ended, or a breakpoint that was taken out since, is of no interest any more.
bool engine::is_of_interest(const traced_process& process, const hit& what) {
  const bool is_write = std::holds_alternative<watch_hit>(what);
  const auto [thread, address] = std::visit(
      [](const auto& h) {
        return std::pair{static_cast<pid_t>(h.thread.value()), h.address};
      },
      what);
  if (!process.threads.contains(thread)) return false;
  return std::any_of(process.breakpoints.begin(), process.breakpoints.end(), [&, at = address](const breakpoint& b) {
    return b.for_user && b.address == at && (b.written != 0) == is_write;
  });
}

}  // namespace mpiacq::tracing
