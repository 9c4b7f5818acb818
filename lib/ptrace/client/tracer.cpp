// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/process/tracer.hpp"

#include <algorithm>

#include <unistd.h>

#include "client/tracer_client.hpp"
#include "errors/try.hpp"
#include "wire/launch_surroundings.hpp"

namespace mpiacq {

using namespace tracing;

struct tracer::state {
  std::unique_ptr<tracer_client> process;
};

namespace {

/// A program that attaches to itself could not receive the answer, because it would be stopped.
bool is_this_program(process_id process) {
  return process.value() == ::getpid();
}

error not_this_program() {
  return {error_code::invalid_argument, "attach to this program itself: a program cannot trace itself"};
}

/// One answer for each process in the command, even if the tracer server has gone.
template <class T>
std::vector<result<T>> answers_of(result<std::vector<result<T>>> all, std::size_t count) {
  if (!all) return std::vector<result<T>>(count, fail(std::move(all).error()));
  if (all->size() == count) return std::move(*all);
  all->resize(count, fail(error_code::system, "the tracing process has not answered for this one"));
  return std::move(*all);
}

}  // namespace

tracer::tracer(std::unique_ptr<state> s) : state_(std::move(s)) {}

tracer::~tracer() = default;

void tracer::release_everything() noexcept {
  end_all_commands();
}

result<std::unique_ptr<tracer>> tracer::create(const tracer_options& options) {
  auto process = TRY(tracer_client::make(options));
  return std::unique_ptr<tracer>(new tracer(std::make_unique<state>(state{std::move(process)})));
}

result<process_id> tracer::launch(const launch_request& request) {
  auto collected = TRY(collect_surroundings());
  launch_command what{request, std::move(collected.surroundings)};
  if (!what.request.environment) {
    what.request.environment.emplace();
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
      what.request.environment->emplace_back(*entry);
    }
  }
  std::vector<int> descriptors{collected.directory.get()};
  descriptors.insert(descriptors.end(), what.surroundings.descriptors.begin(), what.surroundings.descriptors.end());
  return state_->process->ask(std::move(what), descriptors);
}

result<void> tracer::attach(process_id process, const attach_options& options) {
  if (is_this_program(process)) return fail(not_this_program());
  return state_->process->ask(attach_command{process, options});
}

std::vector<result<void>> tracer::attach_all(std::span<const attach_target> targets, const attach_options& options) {
  const bool all_others = std::none_of(targets.begin(), targets.end(),
                                       [](const attach_target& target) { return is_this_program(target.process); });
  if (all_others) {
    return answers_of(state_->process->ask(attach_all_command{{targets.begin(), targets.end()}, options}),
                      targets.size());
  }
  attach_all_command what{{}, options};
  std::vector<std::size_t> places;
  std::vector<result<void>> outcomes(targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (is_this_program(targets[i].process)) {
      outcomes[i] = fail(not_this_program());
    } else {
      what.targets.push_back(targets[i]);
      places.push_back(i);
    }
  }
  auto answers = answers_of(state_->process->ask(std::move(what)), places.size());
  for (std::size_t i = 0; i < places.size(); ++i) outcomes[places[i]] = std::move(answers[i]);
  return outcomes;
}

result<std::optional<process_event>> tracer::wait(deadline until) {
  return state_->process->next_event(until);
}

result<bool> tracer::is_idle() const {
  return state_->process->ask(is_idle_command{true});
}

int tracer::event_descriptor() const {
  return state_->process->event_descriptor();
}

result<void> tracer::keep_held() {
  return state_->process->keep_held();
}

result<void> tracer::resume(process_id process) {
  return state_->process->ask(resume_command{process});
}

result<void> tracer::interrupt(process_id process) {
  return state_->process->ask(interrupt_command{process});
}

result<void> tracer::detach(process_id process, leave how) {
  return state_->process->ask(detach_command{process, how});
}

std::vector<result<void>> tracer::detach_all(std::span<const process_id> processes, leave how) {
  return answers_of(state_->process->ask(detach_all_command{{processes.begin(), processes.end()}, how}),
                    processes.size());
}

result<void> tracer::kill(process_id process) {
  return state_->process->ask(kill_command{process});
}

result<breakpoint_kind> tracer::insert_breakpoint(process_id process, target_address address, breakpoint_kind kind) {
  return state_->process->ask(insert_breakpoint_command{process, address, kind});
}

result<void> tracer::remove_breakpoint(process_id process, target_address address) {
  return state_->process->ask(remove_breakpoint_command{process, address});
}

result<void> tracer::insert_watchpoint(process_id process, target_address address, std::size_t length) {
  return state_->process->ask(insert_watchpoint_command{process, address, length});
}

result<void> tracer::remove_watchpoint(process_id process, target_address address) {
  return state_->process->ask(remove_watchpoint_command{process, address});
}

result<void> tracer::restore_on_exit(process_id process, target_address address, std::span<const std::byte> bytes) {
  return state_->process->ask(restore_on_exit_command{process, address, {bytes.begin(), bytes.end()}});
}

result<void> tracer::follow_children(process_id process, bool follow) {
  return state_->process->ask(follow_children_command{process, follow});
}

result<std::vector<thread_id>> tracer::threads(process_id process) const {
  return state_->process->ask(threads_command{process});
}

std::vector<result<std::vector<thread_registers>>> tracer::registers(std::span<const process_id> processes,
                                                                     which_threads which, register_sets sets) const {
  return answers_of(state_->process->ask(registers_command{{processes.begin(), processes.end()}, which, sets}),
                    processes.size());
}

}  // namespace mpiacq
