// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The C interface of the state machine. It only converts types. No exception leaves it.
#include <new>
#include <string>
#include <vector>

#include "c/c_structs.hpp"
#include "c/c_target.hpp"
#include "errors/try.hpp"
#include "mpiacq/mpir/mpir.h"
#include "mpiacq/mpir/mpir_acquisition.hpp"
#include "mpiacq/mpir/mpir_ranks.hpp"

using namespace mpiacq;

struct mpiacq_mpir {
  mpir::acquisition acquisition;
  std::vector<mpir::action> actions;
  std::shared_ptr<const process_table> table;
  std::vector<std::string> texts;  // the table's strings with their nulls, by number, made at their first use
  std::vector<bool> has_text;
  std::string error;
  const char* bare_error = nullptr;  // replaces `error` when there is no memory for a sentence
  std::string sentence;              // the sentence of the last requested problem
};

namespace {

static_assert(mpir::code_of(error_code::invalid_argument) == MPIACQ_INVALID_ARGUMENT);
static_assert(mpir::code_of(error_code::system) == MPIACQ_SYSTEM);
static_assert(static_cast<int>(mpir::daemon_launch::done) == MPIACQ_DAEMONS_DONE);

int failed(mpiacq_mpir& m, const error& why) {
  m.error = why.message;
  return mpir::code_of(why.code);
}
int invalid(mpiacq_mpir& m, const char* sentence) {
  m.error = sentence;
  return MPIACQ_INVALID_ARGUMENT;
}

/// Clears the last error and runs `body`. An exception becomes an error code.
template <class Body>
int guarded(mpiacq_mpir* m, Body body) noexcept {
  if (m == nullptr) return MPIACQ_INVALID_ARGUMENT;
  m->bare_error = nullptr;
  m->error.clear();
  try {
    return body(*m);
  } catch (const std::bad_alloc&) {
    m->bare_error = "there is not enough memory";
    return MPIACQ_NO_MEMORY;
  } catch (...) {
    m->bare_error = "a callback or the library threw an exception";
    return MPIACQ_INTERNAL;
  }
}

/// Handles one event: `tell` receives the target and returns actions.
template <class Tell>
int answer(mpiacq_mpir* handle, const mpiacq_target* given, Tell tell) noexcept {
  return guarded(handle, [&](mpiacq_mpir& m) -> int {
    m.actions.clear();
    const auto checked = mpir::c_target::check(given);
    if (!checked) return failed(m, checked.error());
    mpir::c_target program(*checked);
    const target view = program.view();
    result<std::vector<mpir::action>> todo = tell(m.acquisition, view);
    if (m.table != m.acquisition.table()) {
      m.texts.clear();
      m.has_text.clear();
      m.table = m.acquisition.table();
    }
    if (!todo) return failed(m, todo.error());
    m.actions = std::move(*todo);
    return MPIACQ_OK;
  });
}

using rank_question = std::vector<mpir::action> (*)(const target_abi&, const mpir::rank_symbols&);

int answer_for_rank(mpiacq_mpir* handle, const mpiacq_target* given, rank_question question) noexcept {
  return answer(handle, given, [&](mpir::acquisition&, const target& rank) -> result<std::vector<mpir::action>> {
    const auto found = TRY(mpir::find_rank_symbols(rank.symbols));
    return question(rank.abi, found);
  });
}

mpir::acquisition_options options_of(const mpiacq_mpir_options& given) {
  mpir::acquisition_options options;
  options.watch_debug_state = given.watch_debug_state != 0;
  if (given.max_entries != 0) options.limits.max_entries = given.max_entries;
  if (given.daemon_path == nullptr) return options;
  mpir::daemon_request daemons{given.daemon_path, {}, given.forward_output != 0};
  for (std::size_t i = 0; given.daemon_arguments != nullptr && i < given.daemon_argument_count; ++i) {
    const char* argument = given.daemon_arguments[i];
    daemons.arguments.emplace_back(argument != nullptr ? argument : "");
  }
  options.daemons = std::move(daemons);
  return options;
}

/// Fills the view of one action. The action owns the memory that the view points to.
struct describe {
  mpiacq_action& into;

  void operator()(const mpir::plant_breakpoint& a) const { at(MPIACQ_PLANT_BREAKPOINT, a.address); }
  void operator()(const mpir::lift_breakpoint& a) const { at(MPIACQ_LIFT_BREAKPOINT, a.address); }
  void operator()(const mpir::write_memory& a) const {
    at(MPIACQ_WRITE, a.address, a.bytes.size());
    into.bytes = a.bytes.data();
    into.text = mpir::about(a.what).name.data();  // a literal: it has its null
  }
  void operator()(const mpir::watch_variable& a) const { at(MPIACQ_WATCH_VARIABLE, a.address, a.length); }
  void operator()(const mpir::unwatch_variable& a) const { at(MPIACQ_UNWATCH_VARIABLE, a.address, a.length); }
  void operator()(const mpir::kick_fifo& a) const {
    into.kind = MPIACQ_KICK_FIFO;
    into.text = a.path.c_str();
  }
  void operator()(const mpir::watch_modules&) const { into.kind = MPIACQ_WATCH_MODULES; }
  void operator()(const mpir::await_table& a) const {
    into.kind = MPIACQ_AWAIT_TABLE;
    into.claimed = a.claimed;
    into.filled = a.filled;
    into.looks_like_rank = a.looks_like_rank ? 1 : 0;
  }
  void operator()(const mpir::report_processes&) const { into.kind = MPIACQ_REPORT_PROCESSES; }
  void operator()(const mpir::report_abort& a) const {
    into.kind = MPIACQ_REPORT_ABORT;
    into.text = a.reason ? a.reason->c_str() : nullptr;
  }
  void operator()(const mpir::report_daemons&) const { into.kind = MPIACQ_REPORT_DAEMONS; }
  void operator()(const mpir::report_problem& a) const {
    into.kind = MPIACQ_REPORT_PROBLEM;
    into.code = mpir::code_of(a.what.code);
    into.text = a.what.message.c_str();
    if (a.what.address) into.address = a.what.address->value();
  }

 private:
  void at(int kind, target_address address, std::size_t size = 0) const {
    into.kind = kind;
    into.address = address.value();
    into.size = size;
  }
};

const char* or_null(const std::optional<std::string>& text) {
  return text ? text->c_str() : nullptr;
}

/// One of the table's strings with its null. It is valid until another table is reported.
const char* text_of(mpiacq_mpir& m, std::uint32_t number) {
  if (number == process_table::no_string) return nullptr;
  if (m.texts.empty()) {
    m.has_text.assign(m.table->string_count(), false);
    m.texts.resize(m.table->string_count());
  }
  if (!m.has_text[number]) {
    m.texts[number] = m.table->string(number);
    m.has_text[number] = true;
  }
  return m.texts[number].c_str();
}

}  // namespace

extern "C" {

int mpiacq_mpir_create(const mpiacq_mpir_options* options, mpiacq_mpir** into) {
  if (into == nullptr) return MPIACQ_INVALID_ARGUMENT;
  *into = nullptr;
  try {
    mpiacq_mpir_options given{};
    if (options != nullptr) {
      const auto known = mpir::known_part(options);
      if (!known) return MPIACQ_INVALID_ARGUMENT;
      given = *known;
    }
    auto made = std::make_unique<mpiacq_mpir>();
    made->acquisition = mpir::acquisition(options_of(given));
    *into = made.release();
    return MPIACQ_OK;
  } catch (const std::bad_alloc&) {
    return MPIACQ_NO_MEMORY;
  } catch (...) {
    return MPIACQ_INTERNAL;
  }
}

void mpiacq_mpir_destroy(mpiacq_mpir* m) {
  delete m;
}

const char* mpiacq_mpir_error(const mpiacq_mpir* m) {
  if (m == nullptr) return "there is no handle";
  return m->bare_error != nullptr ? m->bare_error : m->error.c_str();
}

int mpiacq_mpir_at_entry(mpiacq_mpir* m, const mpiacq_target* starter) {
  return answer(m, starter, [](mpir::acquisition& a, const target& t) { return a.at_entry(t); });
}
int mpiacq_mpir_at_attach(mpiacq_mpir* m, const mpiacq_target* starter) {
  return answer(m, starter, [](mpir::acquisition& a, const target& t) { return a.at_attach(t); });
}
int mpiacq_mpir_look_again(mpiacq_mpir* m, const mpiacq_target* starter, int as_it_is) {
  const auto how = as_it_is != 0 ? mpir::taking::as_it_is : mpir::taking::when_complete;
  return answer(m, starter, [how](mpir::acquisition& a, const target& t) { return a.look_again(t, how); });
}
int mpiacq_mpir_modules_changed(mpiacq_mpir* m, const mpiacq_target* starter) {
  return answer(m, starter, [](mpir::acquisition& a, const target& t) { return a.modules_changed(t); });
}
int mpiacq_mpir_at_breakpoint(mpiacq_mpir* m, const mpiacq_target* starter) {
  return answer(m, starter, [](mpir::acquisition& a, const target& t) { return a.at_breakpoint(t); });
}
int mpiacq_mpir_at_state_written(mpiacq_mpir* m, const mpiacq_target* starter) {
  return answer(m, starter, [](mpir::acquisition& a, const target& t) { return a.at_state_written(t); });
}
int mpiacq_mpir_before_detach(mpiacq_mpir* m, const mpiacq_target* starter) {
  return answer(m, starter, [](mpir::acquisition& a, const target& t) { return a.before_detach(t); });
}
int mpiacq_mpir_rank_attached(mpiacq_mpir* m, const mpiacq_target* rank) {
  return answer_for_rank(m, rank, mpir::rank_attached);
}
int mpiacq_mpir_rank_release(mpiacq_mpir* m, const mpiacq_target* rank) {
  return answer_for_rank(m, rank, mpir::rank_release);
}
int mpiacq_mpir_rank_before_detach(mpiacq_mpir* m, const mpiacq_target* rank) {
  return answer_for_rank(m, rank, mpir::rank_before_detach);
}

size_t mpiacq_mpir_action_count(const mpiacq_mpir* m) {
  return m == nullptr ? 0 : m->actions.size();
}
int mpiacq_mpir_action(const mpiacq_mpir* m, size_t index, mpiacq_action* into) {
  if (m == nullptr) return MPIACQ_INVALID_ARGUMENT;
  if (index >= m->actions.size()) return MPIACQ_NOT_FOUND;
  mpiacq_action view{};
  std::visit(describe{view}, m->actions[index]);
  return mpir::hand_out(view, into) ? MPIACQ_OK : MPIACQ_INVALID_ARGUMENT;
}
int mpiacq_mpir_carry_out_writes(mpiacq_mpir* handle, const mpiacq_target* given) {
  return guarded(handle, [&](mpiacq_mpir& m) -> int {
    const auto checked = mpir::c_target::check(given);
    if (!checked) return failed(m, checked.error());
    if (checked->write == nullptr) return invalid(m, "the target has no function to write memory");
    mpir::c_target program(*checked);
    for (const mpir::action& a : m.actions) {
      const auto* write = std::get_if<mpir::write_memory>(&a);
      if (write == nullptr) continue;
      if (auto done = program.write(write->address, write->bytes); !done) {
        return failed(m, std::move(done).error().while_doing(mpir::about(write->what).name));
      }
    }
    return MPIACQ_OK;
  });
}

const char* mpiacq_mpir_missing(const mpiacq_mpir* m, size_t index) {
  const mpir::symbol_set none;
  const mpir::symbol_set* found = m == nullptr ? nullptr : m->acquisition.symbols();
  if (found == nullptr) found = &none;
  for (const mpir::known_symbol& s : mpir::known_symbols()) {
    if (s.required && !found->has(s.id) && index-- == 0) return s.name.data();  // a literal
  }
  return nullptr;
}
uint64_t mpiacq_mpir_breakpoint(const mpiacq_mpir* m) {
  if (m == nullptr) return 0;
  return m->acquisition.breakpoint().value_or(target_address{}).value();
}
int mpiacq_mpir_facts(const mpiacq_mpir* m, mpiacq_facts* into) {
  if (m == nullptr) return MPIACQ_INVALID_ARGUMENT;
  const mpir::job_facts& known = m->acquisition.facts();
  mpiacq_facts facts{};
  facts.starter_is_rank = known.starter_is_rank ? 1 : 0;
  facts.acquired_pre_main = known.acquired_pre_main ? 1 : 0;
  facts.force_to_main = known.force_to_main ? 1 : 0;
  facts.partial_attach_ok = known.partial_attach_ok ? 1 : 0;
  facts.ignore_queues = known.ignore_queues ? 1 : 0;
  facts.can_launch_daemons = known.can_launch_daemons ? 1 : 0;
  facts.can_forward_output = known.can_forward_output ? 1 : 0;
  facts.daemons = static_cast<int>(known.daemons);
  facts.attach_fifo = or_null(known.attach_fifo);
  facts.job_id = or_null(known.job_id);
  facts.step_id = or_null(known.step_id);
  return mpir::hand_out(facts, into) ? MPIACQ_OK : MPIACQ_INVALID_ARGUMENT;
}

size_t mpiacq_mpir_rank_count(const mpiacq_mpir* m) {
  return m == nullptr || m->table == nullptr ? 0 : m->table->size();
}
int mpiacq_mpir_rank(mpiacq_mpir* handle, size_t index, mpiacq_rank* into) {
  return guarded(handle, [&](mpiacq_mpir& m) -> int {
    if (index >= mpiacq_mpir_rank_count(&m)) return MPIACQ_NOT_FOUND;
    mpiacq_rank rank{};
    rank.pid = m.table->pid(entry_index{index}).value();
    rank.host = text_of(m, m.table->host_numbers()[index]);
    rank.executable = text_of(m, m.table->executable_numbers()[index]);
    return mpir::hand_out(rank, into) ? MPIACQ_OK : MPIACQ_INVALID_ARGUMENT;
  });
}
size_t mpiacq_mpir_problem_count(const mpiacq_mpir* m) {
  return m == nullptr || m->table == nullptr ? 0 : m->table->problems().size();
}
int mpiacq_mpir_problem(mpiacq_mpir* handle, size_t index, mpiacq_problem* into) {
  return guarded(handle, [&](mpiacq_mpir& m) -> int {
    if (index >= mpiacq_mpir_problem_count(&m)) return MPIACQ_NOT_FOUND;
    const field_problem& found = m.table->problems()[index];
    m.sentence = found.sentence();
    mpiacq_problem problem{};
    problem.rank = found.entry.value();
    problem.sentence = m.sentence.c_str();
    return mpir::hand_out(problem, into) ? MPIACQ_OK : MPIACQ_INVALID_ARGUMENT;
  });
}
const char* mpiacq_mpir_layout_source(const mpiacq_mpir* m) {
  const structure_layout* layout = m == nullptr ? nullptr : m->acquisition.layout();
  return layout == nullptr ? nullptr : name(layout->source).data();  // a literal
}

}  // extern "C"
