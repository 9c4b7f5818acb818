// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the engine of the tracing process tells the guard, and what the engine of the guard does when the tracing
// process has been killed: it attaches to each process of which it knows, takes the breakpoints out, and lets go.
#include <algorithm>

#include "engine/engine.hpp"
#include "server/guard_notes.hpp"
#include "wire/channel.hpp"

namespace mpiacq::tracing {

namespace {

/// A program that was exec'ed since has other code at this place.
bool holds_trap(pid_t process, const guarded_trap& trap) {
  const auto instruction = arch::trap_instruction();
  std::vector<std::byte> there(instruction.size());
  return read_code(process, trap.address, there) &&
         std::equal(instruction.begin(), instruction.end(), there.begin(), there.end());
}

}  // namespace

guard_note note_about(const traced_process& process) {
  guarded_process note;
  note.id = process.id;
  note.launched = process.launched;
  for (const breakpoint& b : process.breakpoints) {
    if (b.kind == breakpoint_kind::software) {
      note.traps.push_back({b.address, b.original});
    } else {
      note.has_hardware = true;
    }
  }
  for (const auto& [address, bytes] : process.last_writes) note.writes.push_back({address, bytes});
  const bool is_let_go = process.now == phase::released;
  const bool leaves_something = process.launched || note.has_hardware || !note.traps.empty() || !note.writes.empty();
  if (is_let_go || !leaves_something) return forgotten_process{note.id};
  note.start_time = process.start_time;
  return note;
}

/// Comes before a breakpoint is armed and after it is out, so that at no moment one is armed that the guard does not
/// know of.
void engine::tell_guard(traced_process& process) {
  if (guard_ < 0) return;
  guard_note note = note_about(process);
  const bool is_known = !process.told_guard.empty();
  if (std::holds_alternative<forgotten_process>(note) && !is_known) return;
  if (auto* of = std::get_if<guarded_process>(&note); of != nullptr && process.start_time == 0) {
    of->start_time = process.start_time = read_start_time(process.id).value_or(0);
  }
  auto bytes = encode(note);
  if (bytes == process.told_guard) return;
  // A guard that does not read (somebody has stopped it) must not keep the job: the note is sent with the next change.
  if (send_packet(guard_, bytes) != packet_outcome::done) return;
  process.told_guard = std::holds_alternative<forgotten_process>(note) ? std::vector<std::byte>{} : std::move(bytes);
}

void engine::take_over(const guarded_process& left, const error& why) {
  const auto tell = [this, id = process_id{left.id}, why] { events_.push({id, control_lost{why}}); };
  auto begun = begin_attach(left.id, {});
  if (!begun) return tell();
  traced_process& process = **begun;
  process.had_breakpoints = true;
  if (left.start_time != 0) process.attaching->start_time = left.start_time;
  // Known, and taken for lifted: a thread that meets one of them meanwhile does not take its signal to the program, and
  // no byte is written before all threads are held.
  process.lifted = true;
  for (const guarded_trap& trap : left.traps) {
    breakpoint known;
    known.address = trap.address;
    known.kind = breakpoint_kind::software;
    known.original = trap.original;
    process.breakpoints.push_back(std::move(known));
  }
  for (const guarded_write& write : left.writes) process.last_writes.insert_or_assign(write.address, write.bytes);
  ++being_taken_over_;
  process.attaching->answer = [this, left, tell](const result<void>& held) {
    --being_taken_over_;
    if (held) clean(left);
    tell();
  };
  go_on_attaching(process);
}

/// All threads of it are held.
void engine::clean(const guarded_process& left) {
  const auto found = processes_.find(left.id);
  if (found == processes_.end()) return;
  traced_process& process = found->second;
  for (const guarded_trap& trap : left.traps) {
    if (holds_trap(left.id, trap)) static_cast<void>(write_code(left.id, trap.address, trap.original));
  }
  if (!left.launched) return begin_detach(process, {leave::running, [](const result<void>&) {}, true});
  // The tool waits for the end of what it has launched. The kernel tells it to a tracer.
  write_last(process);
  process.last_writes.clear();
  static_cast<void>(take_out_all(process));
  process.only_for_end = true;
  for (auto& [task, thread] : process.threads) {
    if (thread.state == thread_state::stopped) arch::reset_hardware(calls_, task);
  }
  run_all(process);
}

}  // namespace mpiacq::tracing
