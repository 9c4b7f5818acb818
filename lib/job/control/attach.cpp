// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// MPIR's attach mode: a starter that runs already.
#include <algorithm>
#include <utility>

#include "control/job_state.hpp"
#include "control/mpir_rank_control.hpp"
#include "errors/no_exceptions.hpp"
#include "mpiacq/process/process_user.hpp"
#include "proc/process_state.hpp"
#include "starter/find_starter.hpp"

namespace mpiacq {

namespace {
constexpr std::chrono::milliseconds daemons_interval{20};
/// Until a starter that could not be stopped to look at its table is tried again.
constexpr std::chrono::seconds hold_again_interval{1};
}  // namespace

result<std::unique_ptr<job>> job::attach(process_id named, job_options options) {
  return without_exceptions("attaching to the job", [&]() -> result<std::unique_ptr<job>> {
    auto found = find_starter(named, options.debug_files, options.interface);
    if (!found) return fail(std::move(found).error());
    tracer_options how;
    how.hold_limit = options.hold_limit;
    auto control = tracer::create(std::move(how));
    if (!control) return fail(std::move(control).error());

    auto s = std::make_unique<state>();
    s->control = std::move(*control);
    s->options = std::move(options);
    s->options.interface = found->interface;
    s->root = s->facts.pid = found->pid;
    s->facts.launched = false;
    s->facts.found_how = std::move(found->how);
    s->starter_descriptor = open_process(found->pid);
    s->root_descriptor = open_process(found->pid);
    if (auto attached = s->control->attach(found->pid); !attached) return fail(std::move(attached).error());
    if (auto same = still_the_starter(*found); !same) {
      (void)s->control->detach(found->pid);
      return fail(std::move(same).error());
    }
    s->facts.executable = found->process ? found->process->executable().value_or("") : "";
    s->ranks = std::make_unique<mpir_rank_control>(*s->control, s->options.debug_files);
    s->starter = &s->add_candidate(found->pid);
    s->starter->executable = s->facts.executable;
    s->starter->stopped = s->attaching = true;
    std::unique_ptr<job> attached(new job(std::move(s)));
    state& own = *attached->state_;
    followed_process& starter = *own.starter;
    if (auto opened = starter.program.open(); !opened) {
      return fail(std::move(opened).error().while_doing("looking for the starter's symbols"));
    }
    const bool stays = own.carry_out(starter, starter.interface->at_attach(starter.program.view()));
    own.expect_daemons();
    if (!stays) own.run_on(starter);
    return attached;
  });
}

void job::state::look_again() {
  look_at = no_deadline;
  if (starter->stopped || detached) return;
  if (const auto held = hold(); !held) {
    look_at = clock::now() + hold_again_interval;
    return notice_failure(held);
  }
  // What stopped it may have been the table's announcement.
  if (ended || starter->ended || for_caller) return;
  if (!carry_out(*starter, starter->interface->look_again(starter->program.view()))) run_on(*starter);
}

void job::state::expect_daemons() {
  const auto how = starter->interface->facts().daemons;
  if (how != mpir::daemon_launch::by_fifo && how != mpir::daemon_launch::by_polling) return;
  const auto children = children_of(facts.pid);
  children_before = {children.begin(), children.end()};
  faults_before = faults_of_ended_children(facts.pid);
  daemons_at = clock::now() + daemons_interval;
}

/// A new child; or one that came and went between two looks. Where a child of before has gone, too, the faults may be
/// its.
void job::state::look_for_daemons() {
  const bool one_has_ended = faults_of_ended_children(facts.pid) != faults_before;
  const auto children = children_of(facts.pid);
  const auto known =
      std::count_if(children.begin(), children.end(), [&](process_id c) { return children_before.contains(c); });
  const auto all_known = static_cast<std::ptrdiff_t>(children_before.size());
  const bool is_new = known < static_cast<std::ptrdiff_t>(children.size());
  if (is_new || (one_has_ended && known == all_known)) return report_daemons();
  daemons_at = clock::now() + daemons_interval;
}

void job::state::report_daemons() {
  daemons_at = no_deadline;
  if (!std::exchange(daemons_reported, true)) coming.emplace_back(daemons_launched{});
}

}  // namespace mpiacq
