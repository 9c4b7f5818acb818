// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Turns the tracer's events, and the results of polling, into observations.
#include <algorithm>
#include <set>
#include <utility>
#include <variant>

#include "framing/overloaded.hpp"
#include "proc/process_state.hpp"
#include "watch/attach_fifo_observation.hpp"
#include "watch/daemon_observation.hpp"
#include "watch/listed_hosts.hpp"
#include "watch/look_at_starter.hpp"
#include "watch/run_state.hpp"

namespace mpiacq::check {

namespace {

using mpir::known;

constexpr std::chrono::milliseconds often{20};
constexpr std::chrono::milliseconds seldom{200};
/// Most that happens after a release happens in its first seconds.
constexpr std::chrono::seconds busy_time{5};
/// The number of looks at a state of 1 without a call. The tracer reports a call within a fraction of one look.
constexpr int looks_that_convince = 3;
constexpr std::chrono::seconds host_limit{1};
constexpr std::size_t hosts_asked_for = 64;

}  // namespace

void run::state::handle(const process_event& event) {
  std::visit(base::overloaded{
                 [&](const entry_reached&) { at_entry(); },
                 [&](const breakpoint_hit& hit) { at_breakpoint(hit.address); },
                 [&](const interrupted&) { stopped = true; },
                 [&](const group_stopped& stop) { coming.emplace_back(starter_stopped{stop.signal}); },
                 [&](const group_continued&) { coming.emplace_back(starter_continued{}); },
                 [&](const tracing_problem& problem) { notice(problem.what); },
                 [&](const control_lost& loss) {
                   stopped = false;
                   detached = true;
                   notice(loss.why);
                 },
                 [&](const auto&) {},  // not asked for: followed children
                 [&](const process_ended& end) { take_end(end); },
             },
             event.what);
}

void run::state::take_end(const process_ended& end) {
  ended = true;
  stopped = false;
  look_at = no_deadline;
  if (!detached) {
    seen.ended = end.status;
    seen.end_known = true;
    if (seen.fifo && seen.fifo->is_fifo) seen.fifo->left_behind = is_still_there(seen.fifo->path);
    if (seen.how == mode::launch) ranks.finish();
    if (!hosts_asked) ask_for_hosts();
  }
  coming.emplace_back(starter_ended{end.status});
}

/// After an exec the process runs another program, so the earlier observations belong to a wrapper.
void run::state::at_entry() {
  stopped = true;
  const mode how = seen.how;
  seen = observations{};
  seen.how = how;
  let_go_at = how == mode::attach ? clock::now() + options.attached_for : no_deadline;
  seen.starter = pid;
  seen.executable = executable_of(pid);
  ranks.clear();
  mpi2dd_breakpoint.reset();
  mpi2dd_look_at = no_deadline;
  spawned_at = no_deadline;
  looks_at_unannounced_spawn = 0;
  symbols.reset();
  link_map_watch.reset();
  cache.forget();
  auto opened = process_symbols::open(pid, cache, options.debug_files);
  if (opened) {
    symbols = std::move(*opened);
    seen.looked = true;
    auto actions = acquisition.at_entry(view());
    look_at_symbols();
    watch_mpi2dd();
    carry_out(std::move(actions));
  } else {
    notice_failure(fail(std::move(opened).error().while_doing("looking for the starter's symbols")));
  }
  run_on();
}

/// Reads the variables before the first write, so that the values are the starter's own.
void run::state::look_at_symbols() {
  const mpir::symbol_set* found = acquisition.symbols();
  if (found == nullptr) return;
  seen.defined = look_at_definitions(*symbols, memory, *found);
  if (seen.how == mode::launch) seen.initially = look_at_values(view(), *found);
  if (found->complete()) look_at = clock::now() + seldom / 2;
}

void run::state::at_breakpoint(target_address where) {
  stopped = true;
  if (where == link_map_watch) {
    const auto changed = symbols->refresh();
    if (!changed) notice_failure(fail(changed.error()));
    if (changed && *changed) watch_mpi2dd();
    if (changed && *changed && !acquisition.symbols()->complete()) {
      auto actions = acquisition.modules_changed(view());
      look_at_symbols();
      carry_out(std::move(actions));
    }
  } else if (where == acquisition.breakpoint()) {
    at_mpir_breakpoint();
  } else if (where == mpi2dd_breakpoint) {
    at_mpi2dd_breakpoint();
  }
  run_on();
}

void run::state::at_mpir_breakpoint() {
  const mpir::symbol_set& found = *acquisition.symbols();
  seen.spawned_without_stop = false;
  seen.stops.push_back(look_at_stop(view(), found, seen.defined, moment::at_breakpoint));
  if (seen.stops.back().table) watch_processes();
}

/// Precondition: the starter is held, and its table has been read.
void run::state::watch_processes() {
  for (error& why : other_users_ranks(*seen.spawn()->table, entry_locality(*seen.spawn()->table))) {
    notice(std::move(why));
  }
  look_for_daemons();
  look_at_fifo_name();
  if (seen.fifo && is_waited_on(pid, seen.fifo->path).value_or(false)) seen.fifo->waited_on = true;
  if (seen.how == mode::attach) {
    ranks.look_at_running(*seen.spawn()->table, pid);
  } else {
    ranks.look_at_spawn(*seen.spawn()->table, pid);
    ranks.starter_goes_on(seen.defined.has(known::partial_attach_ok));
    ranks_watched = true;
  }
  hosts_asked = false;
  spawned_at = clock::now();
  look_at = spawned_at;
}

/// A starter that runs already, just attached to.
void run::state::look_at_attached() {
  stopped = true;
  seen.how = mode::attach;
  seen.executable = executable_of(pid);
  auto opened = process_symbols::open(pid, cache, options.debug_files);
  if (opened) {
    symbols = std::move(*opened);
    seen.looked = true;
    auto actions = acquisition.at_attach(view());
    look_at_symbols();
    take_table_at_attach();
    look_at_mpi2dd_attached();
    carry_out(std::move(actions));
  } else {
    notice_failure(fail(std::move(opened).error().while_doing("looking for the starter's symbols")));
  }
  let_go_at = clock::now() + options.attached_for * (options.daemon ? 10 : 1);
  look_at = clock::now();
  run_on();
}

void run::state::take_table_at_attach() {
  const mpir::symbol_set* found = acquisition.symbols();
  if (found == nullptr) return;
  seen.at_attach = look_at_stop(view(), *found, seen.defined, moment::at_attach);
  seen.at_attach->being_debugged.reset();
  if (seen.at_attach->table) watch_processes();
}

/// A job that is still starting has no table yet. The starter declares the table by MPIR_debug_state.
void run::state::look_for_late_table() {
  if (!seen.at_attach || seen.at_attach->table || !symbols) return;
  const auto& variable = (*acquisition.symbols())[known::debug_state];
  if (!variable || read_integer(memory, symbols->abi(), *variable) != mpir::state_spawned) return;
  if (const auto held = hold(); !held || ended || seen.spawn() != nullptr) return notice_failure(held);
  take_table_at_attach();
  run_on();
}

void run::state::carry_out(result<std::vector<mpir::action>> actions) {
  if (!actions) {
    notice_failure(fail(std::move(actions).error()));
    return;
  }
  bool watch = false;
  bool looked_for_symbols = false;
  for (const mpir::action& action : *actions) {
    if (const auto* plant = std::get_if<mpir::plant_breakpoint>(&action)) {
      looked_for_symbols = true;
      const auto planted = control->insert_breakpoint(pid, plant->address, options.breakpoints);
      if (!planted) notice_failure(fail(planted.error()));
    } else if (const auto* lift = std::get_if<mpir::lift_breakpoint>(&action)) {
      notice_failure(control->remove_breakpoint(pid, lift->address));
    } else if (const auto* write = std::get_if<mpir::write_memory>(&action)) {
      notice_failure(memory.write(write->address, write->bytes));
    } else if (const auto* kick = std::get_if<mpir::kick_fifo>(&action)) {
      notice_failure(kick_attach_fifo(kick->path, pid));
    } else if (std::holds_alternative<mpir::watch_modules>(action)) {
      watch = true;
    } else if (const auto* problem = std::get_if<mpir::report_problem>(&action)) {
      notice(problem->what);
    }
  }
  if (watch || looked_for_symbols) keep_link_map_watch(watch);
}

void run::state::keep_link_map_watch(bool wanted) {
  if (!wanted) {
    if (const auto where = std::exchange(link_map_watch, std::nullopt)) {
      notice_failure(control->remove_breakpoint(pid, *where));
    }
    return;
  }
  const auto where = symbols->link_map_breakpoint();
  if (link_map_watch || !where) return;
  const auto planted = control->insert_breakpoint(pid, *where);
  if (!planted) notice_failure(fail(planted.error()));
  if (planted) link_map_watch = where;
}

void run::state::run_on() {
  cache.forget();
  stopped = false;
  notice_failure(control->resume(pid));
}

void run::state::on_time() {
  look_at_mpi2dd_again();
  look_at_all_else();
  if (!detached && !ended) look_at = std::min(look_at, mpi2dd_look_at);
}

void run::state::look_at_all_else() {
  const bool daemon_seen = seen.daemon && seen.daemon->with_arguments != 0;
  if (clock::now() >= let_go_at || (seen.how == mode::attach && daemon_seen)) {
    if (seen.at_attach && symbols) {
      const auto& variable = (*acquisition.symbols())[known::being_debugged];
      if (variable) seen.at_attach->being_debugged = read_integer(memory, symbols->abi(), *variable);
    }
    notice_failure(let_go());
    return;
  }
  if (options.daemon && (seen.stops.empty() || seen.how == mode::attach)) look_for_daemons();
  if (spawned_at == no_deadline) {
    if (seen.how == mode::launch) look_for_unannounced_spawn();
    if (seen.how == mode::attach) look_for_late_table();
    if (spawned_at != no_deadline) return;
    look_at = std::min(let_go_at, clock::now() + seldom / 2);
    return;
  }
  const bool busy = clock::now() < spawned_at + busy_time;
  if (busy) look_at_fifo_again();
  if (!hosts_asked) ask_for_hosts();
  ranks_watched = ranks_watched && ranks.look_again();
  look_at = ranks_watched || busy ? clock::now() + (busy ? often : seldom) : no_deadline;
  look_at = std::min(look_at, let_go_at);
}

/// An inlined call of MPIR_Breakpoint never reaches the breakpoint, but the state that it announces can be read. The
/// starter is not stopped for this.
void run::state::look_for_unannounced_spawn() {
  const mpir::symbol_set* found = acquisition.symbols();
  if (found == nullptr || !found->complete() || !seen.stops.empty() || !symbols) return;
  const auto value = read_integer(memory, symbols->abi(), *(*found)[known::debug_state]);
  looks_at_unannounced_spawn = value == mpir::state_spawned ? looks_at_unannounced_spawn + 1 : 0;
  seen.spawned_without_stop = seen.spawned_without_stop || looks_at_unannounced_spawn >= looks_that_convince;
}

void run::state::look_at_fifo_name() {
  const auto& variable = (*acquisition.symbols())[known::attach_fifo];
  // A pointer holds no name (9.17a).
  if (!variable || variable->size <= symbols->abi().pointer_size) return;
  if (auto path = read_array_text(view(), variable)) seen.fifo = look_at_fifo(pid, std::move(*path));
}

/// The FIFO need not exist before the starter has gone on.
void run::state::look_at_fifo_again() {
  if (!seen.fifo && symbols) look_at_fifo_name();
  if (!seen.fifo || !seen.fifo->is_fifo || seen.fifo->waited_on == true) return;
  if (const auto waited = is_waited_on(pid, seen.fifo->path)) seen.fifo->waited_on = waited;
}

void run::state::look_for_daemons() {
  if (!options.daemon) return;
  const daemon_seen now = look_for(options.daemon->path, options.daemon->arguments, user_of(pid));
  if (!seen.daemon || now.with_arguments >= seen.daemon->with_arguments) seen.daemon = now;
}

void run::state::ask_for_hosts() {
  hosts_asked = true;
  const stop_seen* spawn = seen.spawn();
  if (spawn == nullptr) return;
  std::set<std::uint32_t> numbers(spawn->table->host_numbers().begin(), spawn->table->host_numbers().end());
  numbers.erase(process_table::no_string);
  std::vector<std::string> names;
  for (const std::uint32_t number : numbers) {
    if (names.size() < hosts_asked_for) names.emplace_back(spawn->table->string(number));
  }
  seen.hosts = translate(names, host_limit);
}

}  // namespace mpiacq::check
