// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/tracer.hpp"

#include <unistd.h>

#include "launch_surroundings.hpp"
#include "tracing_process.hpp"

namespace mpiacq {

using namespace tracing;

struct tracer::state {
  std::unique_ptr<tracing_process> process;
};

tracer::tracer(std::unique_ptr<state> s) : state_(std::move(s)) {}

tracer::~tracer() = default;

result<std::unique_ptr<tracer>> tracer::create(tracer_options options) {
  auto process = tracing_process::start(options);
  if (!process) return fail(std::move(process).error());
  return std::unique_ptr<tracer>(new tracer(std::make_unique<state>(state{std::move(*process)})));
}

result<process_id> tracer::launch(const launch_request& request) {
  auto collected = collect_surroundings();
  if (!collected) return fail(std::move(collected).error());
  launch_command what{request, std::move(collected->surroundings)};
  if (!what.request.environment) {
    what.request.environment.emplace();
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
      what.request.environment->emplace_back(*entry);
    }
  }
  std::vector<int> descriptors{collected->directory.get()};
  descriptors.insert(descriptors.end(), what.surroundings.descriptors.begin(), what.surroundings.descriptors.end());
  return state_->process->ask(std::move(what), descriptors);
}

result<void> tracer::attach(process_id process, const attach_options& options) {
  // The answer would be for a program that stands still.
  if (process.value() == ::getpid()) {
    return fail(error_code::invalid_argument, "attach to this program itself: a program cannot trace itself");
  }
  return state_->process->ask(attach_command{process, options});
}

result<std::optional<process_event>> tracer::wait(deadline until) {
  return state_->process->next_event(until);
}

int tracer::event_descriptor() const {
  return state_->process->event_descriptor();
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

result<void> tracer::write_at_our_end(process_id process, target_address address, std::span<const std::byte> bytes) {
  return state_->process->ask(write_at_our_end_command{process, address, {bytes.begin(), bytes.end()}});
}

result<void> tracer::follow_children(process_id process, bool follow) {
  return state_->process->ask(follow_children_command{process, follow});
}

result<std::vector<thread_id>> tracer::threads(process_id process) const {
  return state_->process->ask(threads_command{process});
}

}  // namespace mpiacq
