// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The events that the starter reports through MPIR_debug_state (MPIR 1.1, 9.6; chapter 8, step 9).
#include <algorithm>

#include <fmt/format.h>

#include "errors/try.hpp"
#include "mpir_acquisition_state.hpp"
#include "mpir_variables.hpp"

namespace mpiacq::mpir {

namespace {

error unknown_state(std::int64_t state) {
  return {error_code::bad_format, fmt::format("MPIR_debug_state is {} at MPIR_Breakpoint: MPIR 1.1, 9.6, knows "
                                              "0, 1 and 2; the event is ignored",
                                              state)};
}

/// The number of entries without a fault in any field.
std::uint64_t complete_entries(const process_table& table) {
  if (table.problem_count() == 0) return table.size();
  std::uint64_t faulty = 0;
  std::optional<entry_index> last;
  for (const field_problem& p : table.problems()) {
    if (p.entry != last) ++faulty;
    last = p.entry;
  }
  return table.size() - faulty;
}

}  // namespace

result<std::int64_t> acquisition::state::debug_state(const target& starter) const {
  return read_integer(starter.memory, starter.abi, *(*symbols)[known::debug_state]);
}

result<actions> acquisition::state::at_breakpoint(const target& starter) {
  actions todo;
  const auto done = [&]() -> result<void> {
    const auto now = debug_state(starter);
    if (!now) return add_problem(now.error(), todo);
    if (*now == state_null) return {};
    if (*now == state_aborting) return tell_abort(starter, true, todo);
    if (*now != state_spawned) return add_problem(unknown_state(*now), todo);
    if (auto ids = read_ids(starter, todo); !ids) return ids;
    if (auto reported = report_event(starter, todo); !reported) return reported;
    if (facts.daemons > daemon_launch::refused && facts.daemons != daemon_launch::done) {
      facts.daemons = daemon_launch::done;
      todo.push_back(report_daemons{});
    }
    return {};
  }();
  if (!done) return fail(done.error());
  return todo;
}

/// Chapter 8, steps 10 to 14: the starter declares the table complete.
result<void> acquisition::state::report_event(const target& starter, actions& todo) {
  const auto where = table_extent(starter);
  if (!where) return add_problem(where.error(), todo);
  if (where->entries < 0) {
    todo.push_back(report_problem{
        {error_code::bad_format,
         fmt::format("MPIR_proctable_size is {} at the spawn event: the table counts as empty", where->entries)}});
  }
  if (where->entries <= 0) {  // step 10
    report(process_table(), todo);
    return {};
  }
  if (where->base.is_null()) {
    return add_problem(
        {error_code::bad_format,
         fmt::format("MPIR_proctable is null at the spawn event, though MPIR_proctable_size is {}", where->entries)},
        todo);
  }
  auto read = read_table(starter, *where, todo);
  if (!read) return add_problem(std::move(read).error(), todo);
  report(std::move(*read), todo);
  return {};
}

/// A launched starter that is asked for daemons launches them first and then raises the spawn event (7.1, steps 3 to
/// 5). The table may be complete before that, and on a busy machine long before. So the table is reported with the
/// event, unless the event does not come: a starter whose MPIR_Breakpoint was inlined never calls it.
bool acquisition::state::event_brings_daemons() {
  constexpr int most_looks_without_event = 100;
  return facts.daemons == daemon_launch::at_spawn && ++looks_without_event <= most_looks_without_event;
}

result<actions> acquisition::state::at_state_written(const target& starter) {
  actions todo;
  const auto now = debug_state(starter);
  if (!now) {
    TRY(add_problem(now.error(), todo));
    return todo;
  }
  // An unknown value is ignored here: a starter that writes the variable byte by byte shows values in between.
  if (*now != state_spawned && *now != state_aborting) return todo;
  if (*now == state_spawned && event_brings_daemons()) {
    todo.push_back(await_table{});
    return todo;
  }
  // The document requires a filled table only before MPIR_Breakpoint is called, not before the state is written.
  auto looked = TRY(look_at_table(starter, *now == state_spawned ? state_null : *now, taking::when_complete, todo));
  if (looked) todo.push_back(*looked);
  return todo;
}

result<std::optional<await_table>> acquisition::state::look_at_table(const target& starter, std::int64_t now,
                                                                     taking how, actions& todo) {
  const auto where = table_extent(starter);
  // A variable that cannot be read now cannot be read later either, so the tool does not wait for it.
  if (!where) {
    TRY(add_problem(where.error(), todo));
    return std::nullopt;
  }
  std::optional<await_table> awaited;
  if (!where->is_there()) {
    const auto claimed = static_cast<std::uint64_t>(std::max<std::int64_t>(where->entries, 0));
    awaited = await_table{claimed, 0, attached && !planted && looks_like_rank()};
  } else {
    actions seen;
    auto read = read_table(starter, *where, seen);
    if (!read && ends_everything(read.error())) return fail(std::move(read).error());
    const bool is_said = now == state_spawned || now == state_aborting || how == taking::as_it_is;
    const bool is_whole = read && read->problem_count() == 0 && !read->shortfall();
    if (is_said || is_whole) {
      TRY(read_ids(starter, todo));
      std::move(seen.begin(), seen.end(), std::back_inserter(todo));
      if (read) {
        report(std::move(*read), todo);
      } else {
        todo.push_back(report_problem{std::move(read).error()});
      }
    } else {
      awaited = await_table{static_cast<std::uint64_t>(where->entries), read ? complete_entries(*read) : 0, false};
    }
  }
  if (now == state_aborting) {
    TRY(tell_abort(starter, false, todo));
    awaited.reset();  // a job that has aborted publishes nothing more
  }
  return awaited;
}

result<void> acquisition::state::tell_abort(const target& starter, bool at_breakpoint, actions& todo) {
  report_abort report;
  if (const auto& variable = (*symbols)[known::debug_abort_string]) {
    auto reason = read_string_variable(starter.memory, starter.abi, *variable);
    if (reason) {
      report.reason = std::move(*reason);
    } else if (auto added = add_problem(std::move(reason).error(), todo); !added) {
      return added;
    }
  }
  const bool is_told = told_abort && *told_abort == report.reason;
  told_abort.reset();
  if (!at_breakpoint) told_abort.emplace(report.reason);
  if (!is_told) todo.push_back(std::move(report));
  return {};
}

}  // namespace mpiacq::mpir
