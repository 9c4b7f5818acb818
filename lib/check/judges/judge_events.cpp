// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Judges the events that the starter raised at MPIR_Breakpoint, in their order.
#include <algorithm>

#include <fmt/ranges.h>

#include "judges/judges.hpp"
#include "judges/judging.hpp"

namespace mpiacq::check::judges {

namespace {

using mpir::known;

constexpr std::string_view never_called = "MPIR_Breakpoint was not called (9.9b)";

/// Every look at the interface's variables that the document says something about, in order.
std::vector<const stop_seen*> moments_of(const observations& o) {
  std::vector<const stop_seen*> all;
  if (o.at_attach) all.push_back(&*o.at_attach);
  for (const stop_seen& stop : o.stops) all.push_back(&stop);
  return all;
}

/// "event 2", "the attach"
std::string moment_text(const observations& o, const stop_seen* moment) {
  if (o.at_attach && moment == &*o.at_attach) return "the attach";
  return fmt::format("event {}", moment - o.stops.data() + 1);
}

bool has_state(const stop_seen& stop, std::int64_t state) {
  return stop.debug_state == state;
}

/// Whether every process of one table stands at the same place in the other, which may have more.
bool goes_on_from(const process_table& earlier, const process_table& later) {
  if (later.size() < earlier.size()) return false;
  for (const entry_index entry : earlier.entries()) {
    if (earlier.pid(entry) != later.pid(entry) || earlier.host_name(entry) != later.host_name(entry)) return false;
  }
  return true;
}

std::string states_text(const observations& o) {
  std::vector<std::string> states;
  for (const stop_seen& stop : o.stops) states.push_back(stop.debug_state ? std::to_string(*stop.debug_state) : "?");
  return fmt::format("{}", fmt::join(states, ", "));
}

std::string how_it_ended(const exit_status& end) {
  return end.signaled ? fmt::format("signal {}", end.value) : fmt::format("exit status {}", end.value);
}

}  // namespace

finding spawn_event_raised(const observations& o) {
  if (o.stops.empty()) return not_applicable("{}", never_called);
  if (std::any_of(o.stops.begin(), o.stops.end(), [](const auto& s) { return has_state(s, mpir::state_spawned); })) {
    return passed("MPIR_Breakpoint was called with MPIR_DEBUG_SPAWNED");
  }
  if (std::any_of(o.stops.begin(), o.stops.end(), [](const auto& s) { return has_state(s, mpir::state_aborting); })) {
    return not_applicable("the job aborted before it had spawned");
  }
  return failed("MPIR_Breakpoint was called with MPIR_debug_state {}, never with 1", states_text(o));
}

finding size_initially_zero(const observations& o) {
  if (!o.initially.proctable_size) return not_applicable("MPIR_proctable_size could not be read before the start");
  if (*o.initially.proctable_size != 0)
    return failed("it is {} before the starter has run", *o.initially.proctable_size);
  return passed("0 before the starter has run");
}

finding table_there_at_attach(const observations& o) {
  if (!o.at_attach || !o.defined.has(known::proctable) || !o.defined.has(known::proctable_size)) {
    return not_applicable("the variables of the interface could not be read");
  }
  const stop_seen& then = *o.at_attach;
  if (then.table && !then.table->empty()) return passed("{} entries", then.table->size());
  if (!then.table_problem.empty()) return failed("the table cannot be read: {}", then.table_problem);
  if (then.proctable_size && *then.proctable_size < 0) return not_applicable("MPIR_proctable_size is negative (9.5b)");
  return failed(
      "MPIR_proctable_size is {}{}: it is no starter of a running job, or shows it only to a tool that was there "
      "from the start",
      then.proctable_size.value_or(0), then.proctable && then.proctable->is_null() ? ", and MPIR_proctable null" : "");
}

finding being_debugged_heeded(const observations& o) {
  if (!o.defined.has(known::being_debugged)) return not_applicable("not defined, and it need not be");
  const auto moments = moments_of(o);
  if (moments.empty()) return not_applicable("{}", never_called);
  for (const stop_seen* moment : moments) {
    const auto& value = moment->being_debugged;
    if (!value) return failed("it could not be read at {}", moment_text(o, moment));
    if (*value != 1) return failed("the tool had set it to 1, and it was {} after {}", *value, moment_text(o, moment));
  }
  if (o.stops.empty()) return passed("set to 1 at the attach, and still 1 when we let go");
  return passed("set to 1 by the tool, and still 1 at {}",
                o.stops.size() == 1 ? "the event that followed" : "the events that followed");
}

finding state_initially_null(const observations& o) {
  if (!o.initially.debug_state) return not_applicable("MPIR_debug_state could not be read before the start");
  if (*o.initially.debug_state != mpir::state_null) {
    return failed("it is {} before the starter has run", *o.initially.debug_state);
  }
  return passed("0 before the starter has run");
}

finding states_known(const observations& o) {
  if (!o.defined.any_required() && o.mpi2dd.info) return not_applicable("nothing of the interface was found (3.2)");
  const auto moments = moments_of(o);
  if (moments.empty()) return not_applicable("{}", never_called);
  for (const stop_seen* moment : moments) {
    const auto& state = moment->debug_state;
    if (!state) return failed("it could not be read at {}", moment_text(o, moment));
    if (*state < mpir::state_null || *state > mpir::state_aborting) {
      return failed("it was {} at {}: the document has 0, 1 and 2", *state, moment_text(o, moment));
    }
  }
  if (o.stops.empty()) return passed("{} at the attach", *o.at_attach->debug_state);
  return passed("{}", states_text(o));
}

finding table_filled_at_spawn(const observations& o) {
  const stop_seen* last = nullptr;
  for (const stop_seen* moment : moments_of(o)) {
    const stop_seen& stop = *moment;
    if (!has_state(stop, mpir::state_spawned) || !stop.proctable_size || !stop.proctable) continue;
    last = &stop;
    if (*stop.proctable_size < 0) return not_applicable("MPIR_proctable_size is negative (9.5b)");
    if (*stop.proctable_size == 0) return failed("MPIR_proctable_size was 0 at the spawn event");
    if (stop.proctable->is_null()) {
      return failed("MPIR_proctable was null at the spawn event, and MPIR_proctable_size {}", *stop.proctable_size);
    }
    if (!stop.table && descriptor_members(o).what == verdict::fail) {
      return not_applicable("the entries are not what the document has (9.2b)");
    }
    if (!stop.table) return failed("the table could not be read at the spawn event: {}", stop.table_problem);
  }
  if (last == nullptr) return not_applicable("{}", no_spawn_event);
  const auto entries = *last->proctable_size == 1 ? "1 entry" : fmt::format("{} entries", *last->proctable_size);
  if (o.at_attach && last == &*o.at_attach) return passed("{} at the attach", entries);
  return passed("{} at the {}spawn event", entries, o.stops.size() == 1 ? "" : "last ");
}

finding events_in_order(const observations& o) {
  if (o.stops.empty()) return not_applicable("{}", never_called);
  const process_table* table = nullptr;
  bool aborted = false;
  for (const stop_seen* moment : moments_of(o)) {
    const stop_seen& stop = *moment;
    if (aborted && has_state(stop, mpir::state_spawned)) return failed("a spawn event came after the abort");
    aborted = aborted || has_state(stop, mpir::state_aborting);
    if (!stop.table) continue;
    if (table != nullptr && !goes_on_from(*table, *stop.table)) {
      return failed("a later spawn event, with {} processes, has lost or changed some of the {} before it",
                    stop.table->size(), table->size());
    }
    table = stop.table.get();
  }
  return passed("{}: {}", o.stops.size() == 1 ? "1 event" : fmt::format("{} events", o.stops.size()), states_text(o));
}

finding abort_string_set(const observations& o) {
  const auto abort =
      std::find_if(o.stops.begin(), o.stops.end(), [](const auto& s) { return has_state(s, mpir::state_aborting); });
  if (abort == o.stops.end()) return not_applicable("no abort was reported");
  if (!o.defined.has(known::debug_abort_string)) return not_applicable("not defined, and it need not be");
  if (!abort->abort_problem.empty()) return failed("{}", abort->abort_problem);
  if (!abort->abort_string) return failed("it was null or empty at the abort");
  const auto unprintable = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r';
  };
  if (std::any_of(abort->abort_string->begin(), abort->abort_string->end(), unprintable)) {
    return failed("it is nothing that a person can read: \"{}\"", *abort->abort_string);
  }
  return passed("\"{}\"", *abort->abort_string);
}

finding breakpoint_called(const observations& o) {
  if (!o.stops.empty()) return passed("{}", o.stops.size() == 1 ? "once" : fmt::format("{} times", o.stops.size()));
  for (const mpir::known_symbol& s : mpir::known_symbols()) {
    if (s.required && !o.defined.has(s.id)) return not_applicable("{} is not defined", s.name);
  }
  if (o.spawned_without_stop) return not_applicable("its call has been optimised away (4.1b)");
  if (!o.ended) return not_applicable("not until we let the starter go");
  if (o.ended->as_shell() != 0) {
    return not_applicable("the starter ended ({}) without having started a job", how_it_ended(*o.ended));
  }
  return failed("the starter ended with 0, and MPIR_Breakpoint had not been called");
}

}  // namespace mpiacq::check::judges
