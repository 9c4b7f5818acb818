// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The symbols, and the writes and the breakpoint that follow once they are found (MPIR 1.1, chapter 8, steps 1 to 8;
// chapter 7).
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "errors/try.hpp"
#include "mpir_acquisition_state.hpp"
#include "mpir_variables.hpp"

namespace mpiacq::mpir {

result<void> add_problem(error what, actions& todo) {
  if (ends_everything(what)) return fail(std::move(what));
  todo.push_back(report_problem{std::move(what)});
  return {};
}

result<void> acquisition::state::find(const target& starter) {
  auto found = TRY(find_symbols(starter.symbols));
  symbols = std::move(found);
  note_flags();
  return {};
}

/// The presence of a flag's symbol is its value: the symbol may be a function, or absolute (MPIR 1.1, 9.10 to 9.14).
void acquisition::state::note_flags() {
  facts.starter_is_rank = symbols->complete() && !symbols->has(known::i_am_starter);
  facts.acquired_pre_main = symbols->has(known::acquired_pre_main);
  facts.force_to_main = symbols->has(known::force_to_main);
  facts.partial_attach_ok = symbols->has(known::partial_attach_ok);
  facts.ignore_queues = symbols->has(known::ignore_queues);
  facts.can_launch_daemons = symbols->has(known::executable_path) && symbols->has(known::server_arguments);
  facts.can_forward_output = symbols->has(known::forward_output);
}

result<actions> acquisition::state::look_at_launched(const target& starter) {
  TRY(find(starter));
  actions todo;
  if (symbols->complete()) {
    TRY(take_hold(starter, todo));
    return todo;
  }
  // A starter may read MPIR_being_debugged long before it maps the library with the other symbols, so this variable is
  // written as soon as it exists. The daemons' variables must be written before it.
  if (!options.daemons || facts.can_launch_daemons) {
    TRY(ask_for_daemons(starter, todo));
    announce(starter, todo);
  }
  todo.push_back(watch_modules{});
  return todo;
}

result<actions> acquisition::state::look_at_attached(const target& starter) {
  TRY(find(starter));
  const bool is_alive = starter.writer != nullptr;
  actions todo;
  if (!symbols->complete()) {
    if (is_alive) todo.push_back(watch_modules{});
    return todo;
  }
  const auto now = debug_state(starter);
  std::optional<await_table> awaited;
  if (!now) {
    TRY(add_problem(now.error(), todo));
  } else {
    if (*now < state_null || *now > state_aborting) {
      todo.push_back(report_problem{
          {error_code::bad_format,
           fmt::format("MPIR_debug_state is {} in the running starter: MPIR 1.1, 9.6, knows 0, 1 and 2", *now)}});
    }
    auto looked = TRY(look_at_table(starter, *now, is_alive ? taking::when_complete : taking::as_it_is, todo));
    awaited = looked;
  }
  if (!is_alive) {
    if (awaited) {
      todo.push_back(report_problem{{error_code::not_found,
                                     "the starter had published no process table yet: "
                                     "MPIR_proctable is null, or MPIR_proctable_size not "
                                     "more than 0"}});
    }
    return todo;
  }
  if (awaited && awaited->looks_like_rank) return actions{*awaited};
  TRY(take_hold(starter, todo));
  if (awaited) todo.push_back(*awaited);
  return todo;
}

/// Chapter 8, steps 7 and 8, with the steps that chapter 7 adds before and after them.
result<void> acquisition::state::take_hold(const target& starter, actions& todo) {
  if (auto asked = ask_for_daemons(starter, todo); !asked) return asked;
  announce(starter, todo);
  planted = (*symbols)[known::breakpoint]->address();
  todo.push_back(plant_breakpoint{*planted});
  if (const symbol& variable = *(*symbols)[known::debug_state]; options.watch_debug_state) {
    if (const auto width = integer_width(starter.abi, variable)) {
      watched = watch_variable{variable.address(), *width};
      todo.push_back(*watched);
    }
  }
  return wake_starter(starter, todo);
}

/// 7.1, step 1.
result<void> acquisition::state::ask_for_daemons(const target& starter, actions& todo) {
  if (facts.daemons != daemon_launch::not_asked) return {};
  if (!options.daemons) return attached ? empty_leftover(starter, todo) : result<void>{};
  auto writes = daemons.request(starter, *symbols, *options.daemons);
  if (!writes) {
    facts.daemons = daemon_launch::refused;
    if (options.daemons->only_if_possible) return {};
    return add_problem(std::move(writes).error(), todo);
  }
  for (write_memory& write : *writes) todo.push_back(std::move(write));
  facts.daemons = attached ? daemon_launch::by_polling : daemon_launch::at_spawn;
  if (options.daemons->forward_output && !facts.can_forward_output) {
    todo.push_back(report_problem{
        {error_code::unsupported, "the daemons' output cannot be forwarded: the starter has no MPIR_forward_output"}});
  }
  return {};
}

/// A path that another tool has left would be launched again when being_debugged becomes 1 (7.1, step 3).
result<void> acquisition::state::empty_leftover(const target& starter, actions& todo) {
  auto found = daemons.hide_leftover(starter, *symbols);
  if (!found) return add_problem(std::move(found).error(), todo);
  if (!*found) return {};
  todo.push_back(report_problem{
      {error_code::busy,
       fmt::format("MPIR_executable_path is \"{}\": another tool has left this path, or is attached now. "
                   "mpiacq empties the variable until the detach, so that the starter does not "
                   "launch that daemon again",
                   (*found)->path)}});
  todo.push_back(std::move((*found)->hide));
  return {};
}

/// MPIR_being_debugged = 1. The starter need not define the variable (9.3).
void acquisition::state::announce(const target& starter, actions& todo) {
  const auto& variable = (*symbols)[known::being_debugged];
  if (!variable || (debugged && debugged->address() == variable->address())) return;
  auto one = integer_bytes(starter.abi, *variable, 1);
  if (!one) {
    todo.push_back(report_problem{std::move(one).error()});
    return;
  }
  todo.push_back(write_memory{variable->address(), std::move(*one), known::being_debugged});
  debugged = variable;
}

/// 7.2, step 2. Only with daemons to launch: 7.2 exists "to support the attach mode of the tool daemon launch
/// extension", and for the byte 1 the starter "reacts accordingly (see 7.1)": it launches what MPIR_executable_path
/// names. A tool without daemons asks for nothing, so a byte would only wake a thread of the starter.
result<void> acquisition::state::wake_starter(const target& starter, actions& todo) {
  if (facts.daemons != daemon_launch::by_polling) return {};
  const auto& variable = (*symbols)[known::attach_fifo];
  if (!variable) return {};
  auto path = read_char_array(starter.memory, *variable, capacity_of(known::attach_fifo, *variable));
  if (!path) return add_problem(std::move(path).error(), todo);
  if (!*path) return {};  // the starter polls
  facts.daemons = daemon_launch::by_fifo;
  facts.attach_fifo = **path;
  todo.push_back(kick_fifo{std::move(**path)});
  return {};
}

/// Valid only for a process without a table.
bool acquisition::state::looks_like_rank() const {
  if (facts.starter_is_rank) return true;
  const auto all = known_symbols();
  return std::any_of(all.begin(), all.end(),
                     [&](const known_symbol& s) { return s.where == found_in::rank && symbols->has(s.id); });
}

}  // namespace mpiacq::mpir
