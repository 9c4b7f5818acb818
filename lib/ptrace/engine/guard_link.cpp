// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "engine/guard_link.hpp"

#include <utility>

#include "kernel/process_folders.hpp"
#include "server/guard_notes.hpp"
#include "wire/channel.hpp"

namespace mpiacq::tracing {

guard_note note_about(const traced_process& process) {
  guarded_process note;
  note.id = process.id;
  note.launched = process.launched;
  for (const breakpoint& b : process.breakpoints.all) {
    if (b.is_software()) {
      note.traps.push_back({b.address, b.original});
    } else {
      note.has_hardware = true;
    }
  }
  for (const auto& [address, bytes] : process.last_writes) note.writes.push_back({address, bytes});
  const bool leaves_something = process.launched || note.has_hardware || !note.traps.empty() || !note.writes.empty();
  if (process.now == phase::released || !leaves_something) return forgotten_process{note.id};
  note.start_time = process.start_time;
  return note;
}

void guard_link::tell(traced_process& process) const {
  if (!has_guard()) return;
  guard_note note = note_about(process);
  const bool is_known = !process.told_guard.empty();
  if (std::holds_alternative<forgotten_process>(note) && !is_known) return;
  if (auto* of = std::get_if<guarded_process>(&note); of != nullptr && process.start_time == 0) {
    of->start_time = process.start_time = read_start_time(process.id).value_or(0);
  }
  auto bytes = encode(note);
  if (bytes == process.told_guard) return;
  // A guard that does not read, for example because it is stopped, must not delay the job. The note is sent with the
  // next change.
  if (send_packet(socket_, bytes) != packet_outcome::done) return;
  process.told_guard = std::holds_alternative<forgotten_process>(note) ? std::vector<std::byte>{} : std::move(bytes);
}

}  // namespace mpiacq::tracing
