// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the caller of a job asks for.
#include "mpiacq/job/job.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "control/job_state.hpp"
#include "control/mpir_rank_control.hpp"
#include "errors/no_exceptions.hpp"
#include "errors/try.hpp"
#include "mpiacq/base/remedies.hpp"
#include "proc/process_facts.hpp"
#include "starter/find_starter.hpp"
#include "views/environment_description.hpp"
#include "views/pmix_description.hpp"

namespace mpiacq {

namespace {

result<std::unique_ptr<tracer>> make_tracer(const job_options& options, bool when_needed) {
  tracer_options how;
  how.start_when_needed = when_needed;
  how.hold_limit = options.hold_limit;
  return tracer::create(how);
}

/// An epoll descriptor that is readable when another descriptor is.
result<base::unique_fd> readable_with(int other) {
  base::unique_fd any{::epoll_create1(EPOLL_CLOEXEC)};
  epoll_event what{};
  what.events = EPOLLIN;
  if (!any || ::epoll_ctl(any.get(), EPOLL_CTL_ADD, other, &what) != 0) {
    return fail(error{error_code::system, "cannot make an epoll descriptor"}.with_errno(errno));
  }
  return any;
}

/// Followed by PMIx; or why not, where there is a server.
struct pmix_subject {
  std::unique_ptr<pmix_watch> watch;
  std::optional<pmix_shortfall> shortfall;
};

/// The PMIx job that the caller means; its server is being asked. Neither: another source is more capable, or there is
/// no server.
result<pmix_subject> begin_with_pmix(process_id named, const job_options& options) {
  const bool is_chosen = options.interface == interface_kind::pmix;
  if (options.interface && !is_chosen) return pmix_subject{};
  auto place = is_chosen ? find_pmix_place_anywhere(named) : find_pmix_place(named);
  if (is_chosen) {
    if (!place) return fail(std::move(place).error());
    if (!*place) return fail(no_pmix_job(named));
    auto session = TRY(begin_pmix_session(**place, true, nullptr));
    return pmix_subject{TRY(pmix_watch::begin_start(std::move(**place), std::move(*session))), std::nullopt};
  }
  // The variables of a rank may say where the server listens.
  if (!place) place = find_pmix_place_anywhere(named);
  if (!place) return pmix_subject{nullptr, pmix_shortfall{std::move(place).error(), {}}};
  if (!*place) return pmix_subject{};
  if (auto why = pmix::known_harm_of((*place)->server)) {
    if (has_older_interface(*(*place)->server.process, options.debug_files)) return pmix_subject{};
    return pmix_subject{nullptr, pmix_shortfall{std::move(*why), {}}};
  }
  auto session = begin_pmix_session(**place, true, &options.debug_files);
  if (!session) return pmix_subject{nullptr, pmix_shortfall{std::move(session).error(), {}}};
  if (!*session) return pmix_subject{};
  auto watch = pmix_watch::begin_start(std::move(**place), std::move(**session));
  if (!watch) return pmix_subject{nullptr, pmix_shortfall{std::move(watch).error(), {}}};
  return pmix_subject{std::move(*watch), std::nullopt};
}

/// The job, after the server's answer.
result<pmix_subject> finish_with_pmix(pmix_subject begun, const job_options& options) {
  if (!begun.watch) return begun;
  auto answered = begun.watch->finish_start();
  if (options.interface == interface_kind::pmix) {
    TRY(std::move(answered));
    return begun;
  }
  if (!answered) return pmix_subject{nullptr, pmix_shortfall{std::move(answered).error(), {}}};
  if (auto shortfall = shortfall_of(begun.watch->first())) return pmix_subject{nullptr, std::move(shortfall)};
  return begun;
}

/// The starter; or the whole job, where no starter of this node has an interface. `no_pmix`: why PMIx gives no table.
result<std::variant<found_starter, job_description>> job_to_control(process_id named, const job_options& options,
                                                                    std::optional<pmix_shortfall> no_pmix) {
  find_options how;
  how.agents = options.agents;
  how.hosts = options.hosts;
  if (options.interface == interface_kind::environment) {
    if (auto job = TRY(find_environment_job(named, clock::now(), how))) return std::move(*job);
    return fail(no_environment_job(named));
  }
  auto found = find_starter(named, options.debug_files, options.interface);
  if (found) return std::move(*found);
  if (!options.interface && found.error().code == error_code::not_found) {
    if (no_pmix) return TRY(environment_job_after(std::move(*no_pmix), named, how, clock::now()));
    if (auto job = TRY(find_environment_job(named, clock::now(), how))) return std::move(*job);
  }
  return fail(std::move(found).error());
}

/// "NAME=value" each with its null byte, as in /proc/PID/environ.
std::string environment_of_starter(const job_options& options) {
  if (!options.environment) {
    const auto own = process_facts::open(process_id{::getpid()});
    return own ? own->environment().value_or("") : "";
  }
  std::string all;
  for (const std::string& one : *options.environment) (all += one) += '\0';
  return all;
}

}  // namespace

job::state::state(std::unique_ptr<tracer> made, job_options wanted, starter_facts known)
    : options(std::move(wanted)),
      facts(std::move(known)),
      control(std::move(made)),
      traps(*control),
      life(facts.pid, facts.launched),
      search(facts.pid),
      patches(traps, options.breakpoints, facts.launched),
      table(events),
      gates(events, timers),
      decisions(options.opens_gates_elsewhere),
      daemons(children_in_proc(), events, timers),
      ranks(std::make_unique<mpir_rank_control>(*control, options.debug_files)) {
  follow(facts.pid);
}

job::job(std::unique_ptr<state> s) : state_(std::move(s)) {}
job::~job() {
  if (!state_->life.is_own()) return;
  (void)detach();
  if (state_->pmix) state_->pmix->begin_end();
}

result<std::unique_ptr<job>> job::launch(std::vector<std::string> command, job_options options) {
  return without_exceptions("launching the job", [&]() -> result<std::unique_ptr<job>> {
    auto control = TRY(make_tracer(options, false));
    auto any = TRY(readable_with(control->event_descriptor()));
    launch_request request;
    request.arguments = command;
    request.environment = options.environment;
    request.kill_with_tool = options.kill_with_tool;
    request.follow_children = true;
    starter_facts facts;
    facts.pid = TRY(control->launch(request));
    facts.executable = std::move(command.front());  // until /proc names it
    std::unique_ptr<job> launched(
        new job(std::make_unique<state>(std::move(control), std::move(options), std::move(facts))));
    state& own = *launched->state_;
    own.any = std::move(any);
    // MPIR and MPI2DD, if the caller has chosen one of them, need no look for ranks.
    const auto choice = own.options.interface.value_or(interface_kind::environment);
    if (choice == interface_kind::environment || choice == interface_kind::pmix) {
      own.awaited.emplace(environment_of_starter(own.options));
      own.timers.set(job_timer::ranks, own.awaited->next_look({}));
    }
    return launched;
  });
}

result<std::unique_ptr<job>> job::attach(process_id named, job_options options) {
  return without_exceptions("attaching to the job", [&]() -> result<std::unique_ptr<job>> {
    auto asked = TRY(begin_with_pmix(named, options));
    // A job that a PMIx server or the environment shows needs no tracer until its ranks are to be held.
    auto control = TRY(make_tracer(options, true));
    auto by_pmix = TRY(finish_with_pmix(std::move(asked), options));
    if (by_pmix.watch) {
      options.interface = interface_kind::pmix;
      starter_facts known = by_pmix.watch->first().starter;
      std::unique_ptr<job> followed(
          new job(std::make_unique<state>(std::move(control), std::move(options), std::move(known))));
      followed->state_->begin_pmix(std::move(by_pmix.watch));
      return followed;
    }
    auto known = TRY(job_to_control(named, options, std::move(by_pmix.shortfall)));
    if (auto* seen = std::get_if<job_description>(&known)) {
      options.interface = interface_kind::environment;
      std::unique_ptr<job> observed(
          new job(std::make_unique<state>(std::move(control), std::move(options), seen->starter)));
      observed->state_->take_environment_job(std::move(*seen));
      return observed;
    }
    // MPIR's attach mode.
    found_starter found = std::get<found_starter>(std::move(known));
    TRY(control->attach(found.pid));
    if (auto same = still_the_starter(found); !same) {
      (void)control->detach(found.pid);
      return fail(std::move(same).error());
    }
    options.interface = found.interface;
    starter_facts facts;
    facts.pid = found.pid;
    facts.launched = false;
    facts.found_how = std::move(found.how);
    facts.executable = found.process ? found.process->executable().value_or("") : "";
    std::unique_ptr<job> attached(
        new job(std::make_unique<state>(std::move(control), std::move(options), std::move(facts))));
    state& own = *attached->state_;
    followed_process& starter = own.starter();
    starter.executable = own.facts.executable;
    starter.stopped = true;
    if (auto opened = starter.program.open(); !opened) {
      return fail(std::move(opened).error().while_doing("looking for the starter's symbols"));
    }
    const bool stays =
        own.carry_out(starter, starter.interface->at_attach(starter.program.view()), write_duration::while_controlled);
    own.daemons.expect_from(starter.pid, starter.interface->facts().daemons);
    if (!stays) own.run_on(starter);
    return attached;
  });
}

result<std::optional<job_event>> job::next(deadline until) {
  return without_exceptions("following the job", [&]() -> result<std::optional<job_event>> {
    state& s = *state_;
    TRY(s.life.is_made_here());
    while (!s.events.has_events() && !s.life.has_ended()) {
      if (s.events.has_deferred()) {
        s.handle_deferred();
        continue;
      }
      const deadline wake = std::min(until, wake_at());
      const bool is_by_pmix = s.pmix != nullptr;  // the wait may end with the starter, and `pmix` with it
      const auto event = is_by_pmix ? TRY(s.wait_beside_pmix(wake)) : TRY(s.control->wait(wake));
      if (event) {
        s.handle(*event);
      } else if (!s.handle_due_timers() && (!is_by_pmix || clock::now() >= until)) {
        // What happened while PMIx was waited for counts, also after the deadline.
        if (!s.events.has_events()) return std::nullopt;
      }
    }
    return s.events.take();
  });
}

int job::event_descriptor() const {
  return state_->descriptor();
}

deadline job::wake_at() const {
  const bool has_something = state_->events.has_events() || state_->events.has_deferred();
  return has_something ? state_->timers.now() : state_->timers.wake_at();
}

void job::keep_held() {
  (void)state_->control->keep_held();
}

result<void> job::resume() {
  state& s = *state_;
  TRY(s.life.is_made_here());
  if (s.life.is_controlled()) s.ranks->follow_new();
  s.open_gates(true);
  s.clear_refused_gates();
  const auto ranks = s.ranks->run_on();
  followed_process& starter = s.starter();
  if (!starter.stopped || s.events.has_event_of(starter.pid, starter.pid)) return ranks;
  starter.program.about_to_run();
  starter.stopped = starter.stays = starter.waits = false;
  TRY(s.control->resume(starter.pid));
  return ranks;
}

void job::signal(int number) {
  state_->life.signal_root(number);
}

}  // namespace mpiacq
