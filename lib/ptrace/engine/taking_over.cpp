// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "engine/taking_over.hpp"

#include <utility>

#include "server/guard_notes.hpp"

namespace mpiacq::tracing {

void taking_over::take_over(const guarded_process& left, const error& why) {
  const auto tell = [this, id = left.id, why] { events_.report(id, control_lost{why}); };
  auto begun = attaching_.begin(left.id, attach_options{});
  if (!begun) return tell();
  traced_process& process = **begun;
  process.breakpoints.had_any = true;
  if (left.start_time != 0) process.attaching->start_time = left.start_time;
  // The breakpoints are recorded, so that the SIGTRAP of a thread that meets one meanwhile does not go to the program.
  // They count as lifted, so that no byte is written before all threads are held.
  process.breakpoints.lifted = true;
  for (const guarded_trap& trap : left.traps) {
    breakpoint known;
    known.address = trap.address;
    known.kind = breakpoint_kind::software;
    known.original = trap.original;
    process.breakpoints.all.push_back(std::move(known));
  }
  for (const guarded_write& write : left.writes) process.last_writes.insert_or_assign(write.address, write.bytes);
  ++under_way_;
  process.attaching->answer = [this, left, tell](const result<void>& held) {
    --under_way_;
    if (held) clean(left);
    tell();
  };
  attaching_.go_on(process);
}

/// Removes the breakpoints. All threads of the process are held.
void taking_over::clean(const guarded_process& left) {
  traced_process* const process = tracees_.find(left.id);
  if (process == nullptr) return;
  for (const guarded_trap& trap : left.traps) {
    // A program that was executed since has other code at this place.
    if (!kernel_.memory.holds(left.id, trap.address, arch::trap_instruction())) continue;
    static_cast<void>(kernel_.memory.write(left.id, trap.address, trap.original));
  }
  if (!left.launched) {
    process->detaching = detach_request{leave::running, [](const result<void>&) {}, true};
    return detaching_.finish(*process);
  }
  // The tool waits for the end of the program that it has launched, and the kernel reports that end to a tracer.
  detaching_.restore(*process);
  static_cast<void>(breakpoints_.remove_all(*process));
  process->only_for_end = true;
  for (const auto& [task, thread] : process->threads) {
    if (thread.is_stopped()) arch::reset_hardware(kernel_.calls, task);
  }
  resuming_.run(*process);
}

}  // namespace mpiacq::tracing
