// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "errors/try.hpp"
#include "mpir_acquisition_state.hpp"
#include "mpir_variables.hpp"

namespace mpiacq::mpir {

acquisition::acquisition(acquisition_options options) : state_(std::make_unique<state>(std::move(options))) {}
acquisition::~acquisition() = default;
acquisition::acquisition(acquisition&&) noexcept = default;
acquisition& acquisition::operator=(acquisition&&) noexcept = default;

result<std::vector<action>> acquisition::at_entry(const target& starter) {
  // An exec removes the old program with its breakpoint, its symbols and its table.
  *state_ = state(std::move(state_->options));
  return state_->look_at_launched(starter);
}

result<std::vector<action>> acquisition::at_attach(const target& starter) {
  *state_ = state(std::move(state_->options));
  state_->attached = true;
  return state_->look_at_attached(starter);
}

result<std::vector<action>> acquisition::modules_changed(const target& starter) {
  if (state_->planted || state_->let_go) return actions{};
  return state_->attached ? state_->look_at_attached(starter) : state_->look_at_launched(starter);
}

result<std::vector<action>> acquisition::look_again(const target& starter, taking how) {
  state& s = *state_;
  if (!s.symbols || !s.symbols->complete() || s.let_go) return actions{};
  actions todo;
  std::optional<await_table> awaited;
  if (!s.table) {
    const auto now = s.debug_state(starter);
    if (!now) {
      TRY(add_problem(now.error(), todo));
      return todo;
    }
    if (how == taking::when_complete && *now == state_spawned && s.event_brings_daemons()) {
      awaited.emplace();
    } else {
      auto looked = TRY(s.look_at_table(starter, *now, how, todo));
      awaited = looked;
    }
  }
  // A caller that looks again at a process that looked like a rank wants it treated as a starter.
  if (awaited) awaited->looks_like_rank = false;
  if (!s.planted && starter.writer != nullptr) {
    TRY(s.take_hold(starter, todo));
  }
  if (awaited && how == taking::when_complete) todo.push_back(*awaited);
  return todo;
}

result<std::vector<action>> acquisition::at_breakpoint(const target& starter) {
  if (!state_->symbols || !state_->symbols->complete()) {
    return fail(error_code::invalid_argument, "a stop at MPIR_Breakpoint was announced before its symbols were found");
  }
  return state_->at_breakpoint(starter);
}

result<std::vector<action>> acquisition::at_state_written(const target& starter) {
  if (!state_->symbols || !state_->symbols->complete()) {
    return fail(error_code::invalid_argument,
                "a write of MPIR_debug_state was announced before its symbols were found");
  }
  return state_->at_state_written(starter);
}

result<std::vector<action>> acquisition::before_detach(const target& starter) {
  state& s = *state_;
  actions todo;
  s.let_go = true;
  if (const auto variable = std::exchange(s.debugged, std::nullopt)) {
    // The size of the variable was checked when 1 was written.
    auto zero = integer_bytes(starter.abi, *variable, 0);
    if (zero) todo.push_back(write_memory{variable->address(), std::move(*zero), known::being_debugged});
  }
  for (write_memory& write : s.daemons.put_back()) todo.push_back(std::move(write));
  if (const auto watched = std::exchange(s.watched, std::nullopt)) {
    todo.push_back(unwatch_variable{watched->address, watched->length});
  }
  if (const auto planted = std::exchange(s.planted, std::nullopt)) todo.push_back(lift_breakpoint{*planted});
  return todo;
}

const symbol_set* acquisition::symbols() const {
  return state_->symbols ? &*state_->symbols : nullptr;
}
std::optional<target_address> acquisition::breakpoint() const {
  if (!state_->symbols || !state_->symbols->has(known::breakpoint)) return std::nullopt;
  return (*state_->symbols)[known::breakpoint]->address();
}
const structure_layout* acquisition::layout() const {
  return state_->layout ? &*state_->layout : nullptr;
}
std::shared_ptr<const process_table> acquisition::table() const {
  return state_->table;
}
const job_facts& acquisition::facts() const {
  return state_->facts;
}

}  // namespace mpiacq::mpir
