// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/job/job.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "control/job_state.hpp"
#include "control/mpir_rank_control.hpp"
#include "errors/no_exceptions.hpp"
#include "proc/process_state.hpp"
#include "queue_library.hpp"

namespace mpiacq {

namespace {
/// How long all threads of a starter may take to stop for a detach.
constexpr std::chrono::seconds hold_limit{10};
}  // namespace

std::string_view name(interface_kind kind) {
  return kind == interface_kind::mpi2dd ? "mpi2dd" : "mpir";
}

std::string_view name(rank_state state) {
  constexpr std::array<std::string_view, 7> names = {"held",   "running",    "stopped", "gone",
                                                     "remote", "other-user", "unknown"};
  return names[static_cast<std::size_t>(state)];
}

bool is_on_this_node(rank_state state) {
  return state == rank_state::held || state == rank_state::running || state == rank_state::stopped;
}

job::job(std::unique_ptr<state> s) : state_(std::move(s)) {}
job::~job() {
  if (::getpid() != state_->made_in) return;
  (void)detach();
}

result<std::unique_ptr<job>> job::launch(std::vector<std::string> command, job_options options) {
  return without_exceptions("launching the job", [&]() -> result<std::unique_ptr<job>> {
    tracer_options how;
    how.hold_limit = options.hold_limit;
    auto control = tracer::create(std::move(how));
    if (!control) return fail(std::move(control).error());

    launch_request request;
    request.arguments = command;
    request.environment = options.environment;
    request.kill_with_tool = options.kill_with_tool;
    request.follow_children = true;
    const auto pid = (*control)->launch(request);
    if (!pid) return fail(pid.error());

    auto s = std::make_unique<state>();
    s->control = std::move(*control);
    s->options = std::move(options);
    s->root = s->facts.pid = *pid;
    s->facts.executable = std::move(command.front());  // until its own name for itself can be seen
    s->starter = &s->add_candidate(*pid);
    s->starter_descriptor = open_process(*pid);
    s->root_descriptor = open_process(*pid);
    s->ranks = std::make_unique<mpir_rank_control>(*s->control, s->options.debug_files);
    return std::unique_ptr<job>(new job(std::move(s)));
  });
}

result<std::optional<job_event>> job::next(deadline until) {
  return without_exceptions("following the job", [&]() -> result<std::optional<job_event>> {
    state& s = *state_;
    if (auto here = s.is_made_here(); !here) return fail(std::move(here).error());
    while (s.coming.empty() && !s.ended) {
      if (!s.postponed.empty()) {
        s.take_postponed();
        continue;
      }
      auto event = s.control->wait(std::min(until, wake_at()));
      if (!event) return fail(std::move(event).error());
      if (*event) {
        s.handle(**event);
      } else if (clock::now() >= wake_at()) {
        s.on_time();
      } else {
        return std::nullopt;
      }
    }
    if (s.coming.empty()) return std::nullopt;
    job_event event = std::move(s.coming.front());
    s.coming.pop_front();
    return event;
  });
}

int job::event_descriptor() const {
  return state_->control->event_descriptor();
}

deadline job::wake_at() const {
  if (!state_->coming.empty() || !state_->postponed.empty()) return clock::now();
  return std::min({state_->kill_at, state_->look_at, state_->gates_at, state_->daemons_at, state_->finish_at});
}

void job::state::on_time() {
  const auto now = clock::now();
  if (now >= kill_at) force_end();
  if (now >= finish_at) return finish();
  if (now >= gates_at) try_gates();
  if (now >= daemons_at) look_for_daemons();
  if (now >= look_at) look_again();
}

void job::keep_held() {
  (void)state_->control->keep_held();
}

result<void> job::resume() {
  state& s = *state_;
  if (auto here = s.is_made_here(); !here) return here;
  if (!s.detached && !s.ended) s.ranks->take_in();
  s.open_gates(true);
  s.let_nobody_wait_for_what_is_refused();
  const auto ranks = s.ranks->run_on();
  if (!s.starter->stopped || s.is_untold(s.facts.pid)) return ranks;
  s.starter->program.about_to_run();
  s.starter->stopped = s.starter->stays = s.starter->waits = s.for_caller = false;
  auto resumed = s.control->resume(s.facts.pid);
  return resumed ? ranks : resumed;
}

result<void> job::state::is_made_here() const {
  if (::getpid() == made_in) return {};
  return fail(error_code::invalid_argument,
              fmt::format("process {} has forked from process {}, which controls this job: only that one can do this",
                          ::getpid(), made_in));
}

result<void> job::state::hold() {
  if (starter->stopped || starter->ended || ended) return {};
  if (auto asked = control->interrupt(facts.pid); !asked) return asked;
  const deadline until = clock::now() + hold_limit;
  holding = true;
  result<void> outcome;
  while (outcome && !starter->stopped && !starter->ended && !ended) {
    auto event = control->wait(until);
    if (!event) {
      outcome = fail(std::move(event).error());
    } else if (!*event) {
      outcome =
          fail(error_code::timed_out, fmt::format("stopping the starter {}: not all of its threads stopped within {} s",
                                                  facts.pid.value(), hold_limit.count()));
    } else {
      // Whatever stops it first will do; what it says is kept for `next`.
      handle(**event);
    }
  }
  holding = false;
  return outcome;
}

result<void> job::state::withdraw(leave how) {
  const result<void> held = hold();
  if (ended) return {};
  look_at = daemons_at = no_deadline;
  postponed.clear();
  open_gates(how == leave::running);
  withdrawing = true;
  auto ranks_left = ranks->let_go(how);
  withdrawing = false;
  if (!decided) let_go_of_others();
  if (held && !starter->ended && starter->program.symbols() != nullptr) {
    auto steps = starter->interface->before_detach(starter->program.view());
    if (steps && starter->announced) {
      std::erase_if(*steps, [](const step& next) {
        const auto* write = std::get_if<write_bytes>(&next);
        return write != nullptr && write->until_the_table;
      });
    }
    withdrawing = true;
    (void)carry_out(*starter, std::move(steps));
    withdrawing = false;
    notice_failure(starter->program.stop_watching_link_map());
  }
  starter->program.about_to_run();
  starter->stopped = for_caller = false;
  detached = true;
  return ranks_left;
}

result<void> job::detach(leave how) {
  state& s = *state_;
  if (auto here = s.is_made_here(); !here) return here;
  if (s.detached || s.ended) return {};
  auto withdrawn = s.withdraw(how);
  if (s.ended) return {};
  result<void> left;
  if (!s.starter->ended) left = s.control->detach(s.starter->pid, how);
  // The kernel tells only its parent of the end of a process that is not traced, which we are of what was launched.
  if (s.root_ended) s.finish();
  s.ended = s.ended || !s.facts.launched;
  return left ? withdrawn : left;
}

result<void> job::end(std::chrono::milliseconds grace) {
  state& s = *state_;
  if (auto here = s.is_made_here(); !here) return here;
  if (s.ended) return {};
  if (const auto table = processes()) {
    std::set<process_id> known{s.facts.pid};
    for (std::size_t i = 0; i < table->size(); ++i) {
      if (!s.is_local(*table, i) || !known.insert(table->pid(i)).second) continue;
      // The pidfd comes first: from then on it is this process or none.
      base::unique_fd process = open_process(table->pid(i));
      if (process.is_open() && is_on_this_node(s.state_of_rank(*table, i)))
        s.doomed_ranks.push_back(std::move(process));
    }
  }
  s.kill_at = clock::now() + grace;
  signal_process(s.starter_descriptor, SIGTERM);
  // A starter that somebody has stopped would never see it.
  signal_process(s.starter_descriptor, SIGCONT);
  if (s.detached || s.facts.launched) return detach(leave::running);
  // How a process ends is told to its parent and to its tracer, which therefore stays.
  auto withdrawn = s.withdraw(leave::running);
  if (s.ended || s.starter->ended) return {};
  auto resumed = s.control->resume(s.starter->pid);
  return resumed ? withdrawn : resumed;
}

void job::state::force_end() {
  kill_at = no_deadline;
  notice(error{error_code::timed_out,
               fmt::format("the starter {} did not end on SIGTERM in time: it was killed", facts.pid.value())});
  signal_process(starter_descriptor, SIGKILL);
  signal_process(root_descriptor, SIGKILL);
}

void job::signal(int number) {
  signal_process(state_->root_descriptor, number);
}

const starter_facts& job::starter() const {
  return state_->facts;
}
const mpir::job_facts& job::facts() const {
  return state_->starter->interface->facts();
}
std::shared_ptr<const process_table> job::processes() const {
  return state_->processes;
}
interface_kind job::interface() const {
  return state_->starter->interface->kind();
}
const mpir::symbol_set* job::symbols() const {
  return state_->starter->interface->symbols();
}

std::vector<symbol> job::interface_symbols() const {
  std::vector<symbol> all;
  const auto add = [&](const std::optional<symbol>& one) {
    if (one) all.push_back(*one);
  };
  if (const mpir::symbol_set* found = symbols()) {
    for (const mpir::known_symbol& known : mpir::known_symbols()) {
      add((*found)[known.id]);
      // Some spell it otherwise.
      if (found->has(known.id)) all.back().name = known.name;
    }
  } else if (process_symbols* searched = state_->starter->program.symbols()) {
    constexpr std::array<std::string_view, 2> names = {mpi2dd::info_symbol, mpi2dd::breakpoint_symbol};
    const auto of_mpi2dd = searched->find_symbols(names);
    if (of_mpi2dd) std::for_each(of_mpi2dd->begin(), of_mpi2dd->end(), add);
  }
  return all;
}

std::optional<std::string> job::missing_symbols() const {
  const process_symbols* searched = state_->starter->program.symbols();
  return searched == nullptr ? std::nullopt : state_->starter->interface->missing_symbols(*searched);
}

bool job::state::is_local(const process_table& table, std::size_t entry) const {
  const std::uint32_t host = table.host_numbers()[entry];
  return host < host_is_local.size() && host_is_local[host];
}

rank_state job::state::state_of_rank(const process_table& table, std::size_t entry) const {
  if (!is_local(table, entry)) return rank_state::remote;
  const process_id pid = table.pid(entry);
  if ((starter->stopped && pid == facts.pid) || ranks->holds(pid)) return rank_state::held;
  if (pid != facts.pid && is_other_users(pid)) return rank_state::other_user;
  switch (state_of(pid)) {
    case run_state::running:
      return rank_state::running;
    case run_state::stopped:
    case run_state::traced:
      return rank_state::stopped;
    case run_state::unknown:
      return rank_state::unknown;
    case run_state::gone:
      break;
  }
  return rank_state::gone;
}

std::vector<rank_state> job::rank_states() const {
  std::vector<rank_state> states;
  const auto table = processes();
  if (!table) return states;
  states.reserve(table->size());
  // A table may name one process many times.
  std::unordered_map<process_id, rank_state> known;
  for (std::size_t i = 0; i < table->size(); ++i) {
    if (!state_->is_local(*table, i)) {
      states.push_back(rank_state::remote);
      continue;
    }
    const auto [at, is_new] = known.try_emplace(table->pid(i), rank_state::gone);
    if (is_new) at->second = state_->state_of_rank(*table, i);
    states.push_back(at->second);
  }
  return states;
}

bool job::is_local(std::size_t entry) const {
  const auto table = processes();
  return table && entry < table->size() && state_->is_local(*table, entry);
}

std::optional<std::string> job::queue_library() const {
  if (facts().ignore_queues) return std::nullopt;
  const auto table = processes();
  if (!table) return std::nullopt;
  // One rank speaks for all: they run the same MPI library. The first that lives on this node is asked.
  for (std::size_t i = 0; i < table->size(); ++i) {
    if (!is_on_this_node(state_->state_of_rank(*table, i))) continue;
    return queue_library_of(table->pid(i), state_->facts.pid);
  }
  return std::nullopt;
}

}  // namespace mpiacq
