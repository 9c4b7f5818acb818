// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "mpiacq/mpir.hpp"
#include "variables.hpp"

namespace mpiacq::mpir {

namespace {

/// What stands in the way for good, as against a variable or a table that does not fit.
bool ends_everything(const error& e) {
  return e.code == error_code::process_gone || e.code == error_code::permission;
}

std::string debug_file_of(const module& m) {
  const std::string id = build_id_text(m);
  if (id.size() < 4) return fmt::format("{} has no build id: it takes a build of it with debug information", m.path);
  return fmt::format(
      "its debug file is missing: install the one for build id {} "
      "(/usr/lib/debug/.build-id/{}/{}.debug), or set DEBUGINFOD_URLS",
      id, id.substr(0, 2), id.substr(2));
}

}  // namespace

struct acquisition::state {
  explicit state(table_limits l) : limits(l) {}

  table_limits limits;
  std::optional<symbol_set> symbols;
  std::optional<structure_layout> layout;
  std::shared_ptr<const process_table> table;
  job_facts facts;
  std::optional<target_address> planted;
  std::optional<symbol> debugged;  // MPIR_being_debugged as it was when 1 was handed out for it

  using actions = std::vector<action>;

  /// The symbols as far as they are there, and what that allows to do.
  result<actions> look(const target& starter) {
    auto found = find_symbols(starter.symbols);
    if (!found) return fail(std::move(found).error());
    symbols = std::move(*found);
    note_flags();
    actions todo;
    announce(starter, todo);
    if (!symbols->complete()) {
      todo.push_back(watch_modules{});
      return todo;
    }
    planted = (*symbols)[known::breakpoint]->address();
    todo.push_back(plant_breakpoint{*planted});
    return todo;
  }

  /// By presence alone: flags may be functions, or absolute (MPIR 1.1, 9.10 to 9.14).
  void note_flags() {
    facts.starter_is_rank = symbols->complete() && !symbols->has(known::i_am_starter);
    facts.acquired_pre_main = symbols->has(known::acquired_pre_main);
    facts.force_to_main = symbols->has(known::force_to_main);
    facts.partial_attach_ok = symbols->has(known::partial_attach_ok);
    facts.ignore_queues = symbols->has(known::ignore_queues);
  }

  /// MPIR_being_debugged = 1, as soon as it is there: a starter may look at it long before a library with the rest is
  /// mapped. That it is absent is no problem (9.3).
  void announce(const target& starter, actions& todo) {
    const auto& variable = (*symbols)[known::being_debugged];
    if (!variable || (debugged && debugged->address() == variable->address())) return;
    if (write_being_debugged(starter, *variable, 1, todo)) debugged = variable;
  }

  static bool write_being_debugged(const target& starter, const symbol& variable, std::uint64_t value, actions& todo) {
    const auto width = integer_width(starter.abi, variable);
    if (!width) {
      todo.push_back(report_problem{width.error()});
      return false;
    }
    std::vector<std::byte> bytes(*width);
    encode_integer(value, starter.abi.order, bytes);
    todo.push_back(write_memory{variable.address(), std::move(bytes), known::being_debugged});
    return true;
  }

  result<actions> event(const target& starter) {
    actions todo;
    const auto now = read_integer(starter.memory, starter.abi, *(*symbols)[known::debug_state]);
    if (!now) return problem(std::move(todo), now.error());
    if (*now == state_null) return todo;
    if (*now == state_spawned) return spawned(starter);
    if (*now == state_aborting) return aborting(starter);
    return problem(std::move(todo), error{error_code::bad_format,
                                          fmt::format("MPIR_debug_state is {} at MPIR_Breakpoint: MPIR 1.1, 9.6, knows "
                                                      "0, 1 and 2; the event is ignored",
                                                      *now)});
  }

  /// The event cannot be acted on in full, unless nothing can be read from this process any more.
  static result<actions> problem(actions todo, error what) {
    if (ends_everything(what)) return fail(std::move(what));
    todo.push_back(report_problem{std::move(what)});
    return todo;
  }

  result<actions> aborting(const target& starter) {
    actions todo;
    report_abort report;
    if (const auto& variable = (*symbols)[known::debug_abort_string]) {
      auto reason = read_string_variable(starter.memory, starter.abi, *variable);
      if (reason) {
        report.reason = std::move(*reason);
      } else if (ends_everything(reason.error())) {
        return fail(std::move(reason).error());
      } else {
        todo.push_back(report_problem{std::move(reason).error()});
      }
    }
    todo.push_back(std::move(report));
    return todo;
  }

  result<actions> spawned(const target& starter) {
    actions todo;
    for (const auto& [id, into] :
         {std::pair{known::totalview_jobid, &facts.job_id}, std::pair{known::totalview_stepid, &facts.step_id}}) {
      if (!symbols->has(id)) continue;
      auto text = read_string_variable(starter.memory, starter.abi, *(*symbols)[id]);
      if (text) {
        *into = std::move(*text);
      } else if (ends_everything(text.error())) {
        return fail(std::move(text).error());
      } else {
        todo.push_back(report_problem{std::move(text).error()});
      }
    }
    return processes(starter, std::move(todo));
  }

  result<actions> processes(const target& starter, actions todo) {
    const auto size = read_integer(starter.memory, starter.abi, *(*symbols)[known::proctable_size]);
    if (!size) return problem(std::move(todo), size.error());
    if (*size < 0) {
      todo.push_back(report_problem{
          error{error_code::bad_format,
                fmt::format("MPIR_proctable_size is {} at the spawn event: the table counts as empty", *size)}});
    }
    if (*size <= 0) return report(std::move(todo), process_table());  // chapter 8, step 10

    const symbol& variable = *(*symbols)[known::proctable];
    const auto base = read_pointer_variable(starter.memory, starter.abi, variable);
    if (!base) return problem(std::move(todo), base.error());
    if (base->is_null()) {
      return problem(
          std::move(todo),
          error{error_code::bad_format,
                fmt::format("MPIR_proctable is null at the spawn event, though MPIR_proctable_size is {}", *size)});
    }
    const auto entries = static_cast<std::uint64_t>(*size);
    if (!layout || layout->source == layout_source::inferred) {
      if (auto learnt = learn_layout(starter, *base, entries, todo); !learnt) {
        return problem(std::move(todo), std::move(learnt).error());
      }
    }
    auto read = read_process_table(starter.memory, starter.abi, *layout, *base, entries, limits);
    if (!read) return problem(std::move(todo), std::move(read).error());
    return report(std::move(todo), std::move(*read));
  }

  /// From debug information (chapter 8, step 11), else inferred from the ABI and checked against this very table.
  result<void> learn_layout(const target& starter, target_address base, std::uint64_t entries, actions& todo) {
    const symbol& variable = *(*symbols)[known::proctable];
    const symbol& near = *(*symbols)[known::breakpoint];
    const bool is_near = near.home != nullptr && near.home == variable.home;
    auto known_layout = starter.symbols.layout_pointed_to_by(variable, is_near ? &near : nullptr);
    if (!known_layout) {
      if (ends_everything(known_layout.error())) return fail(std::move(known_layout).error());
      todo.push_back(
          report_problem{std::move(known_layout).error().while_doing("looking for the type of MPIR_proctable")});
    } else if (known_layout->has_value()) {
      layout = std::move(**known_layout);
      return {};
    }
    structure_layout inferred = inferred_descriptor_layout(starter.abi);
    if (variable.home) inferred.module_path = variable.home->path;
    auto checked = check_layout_against_data(starter.memory, starter.abi, inferred, base, entries);
    if (!checked) {
      if (checked.error().code != error_code::bad_format || !variable.home) return checked;
      error refused = std::move(checked).error();
      refused.path = variable.home->path;
      refused.message +=
          fmt::format("; {} has no debug information for MPIR_proctable, so that this layout was inferred: {}",
                      variable.home->path, debug_file_of(*variable.home));
      return fail(std::move(refused));
    }
    layout = std::move(inferred);
    return {};
  }

  result<actions> report(actions todo, process_table read) {
    if (read.shortfall()) todo.push_back(report_problem{*read.shortfall()});
    if (table && table->same_processes(read)) return todo;
    table = std::make_shared<const process_table>(std::move(read));
    todo.push_back(report_processes{table});
    return todo;
  }
};

acquisition::acquisition(table_limits limits) : state_(std::make_unique<state>(limits)) {}
acquisition::~acquisition() = default;
acquisition::acquisition(acquisition&&) noexcept = default;
acquisition& acquisition::operator=(acquisition&&) noexcept = default;

result<std::vector<action>> acquisition::at_entry(const target& starter) {
  // An exec has taken everything away: the old program's breakpoint, its symbols, its table.
  *state_ = state(state_->limits);
  return state_->look(starter);
}

result<std::vector<action>> acquisition::modules_changed(const target& starter) {
  if (state_->planted) return std::vector<action>{};
  return state_->look(starter);
}

result<std::vector<action>> acquisition::at_breakpoint(const target& starter) {
  if (!state_->symbols || !state_->symbols->complete()) {
    return fail(error_code::invalid_argument, "a stop at MPIR_Breakpoint was announced before its symbols were found");
  }
  return state_->event(starter);
}

result<std::vector<action>> acquisition::before_detach(const target& starter) {
  std::vector<action> todo;
  if (state_->debugged) {
    (void)state::write_being_debugged(starter, *state_->debugged, 0, todo);
    state_->debugged.reset();
  }
  if (state_->planted) {
    todo.push_back(lift_breakpoint{*state_->planted});
    state_->planted.reset();
  }
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
