// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/tracer.hpp"

#include <csignal>

#include "event_queue.hpp"
#include "tracer_thread.hpp"

namespace mpiacq {

using tracing::engine;
using tracing::reply;

struct tracer::state {
  std::unique_ptr<tracing::event_queue> events;
  std::unique_ptr<tracing::tracer_thread> thread;  // after the queue, so that it ends first

  /// A command whose answer is there at once.
  template <class T>
  result<T> ask(std::function<result<T>(engine&)> command) {
    return thread->ask<T>([command = std::move(command)](engine& e, reply<T> answer) { answer(command(e)); });
  }
};

tracer::tracer(std::unique_ptr<state> s) : state_(std::move(s)) {}

tracer::~tracer() = default;

result<std::unique_ptr<tracer>> tracer::create(tracer_options options) {
  auto s = std::make_unique<state>();
  auto events = tracing::event_queue::create();
  if (!events) return fail(std::move(events).error());
  s->events = std::move(*events);
  auto thread = tracing::tracer_thread::create(options, *s->events);
  if (!thread) return fail(std::move(thread).error());
  s->thread = std::move(*thread);
  return std::unique_ptr<tracer>(new tracer(std::move(s)));
}

result<process_id> tracer::launch(const launch_request& request) {
  sigset_t mask;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return state_->thread->ask<process_id>(
      [&](engine& e, reply<process_id> answer) { e.launch(request, mask, std::move(answer)); });
}

result<std::optional<process_event>> tracer::wait(deadline until) {
  return state_->events->wait(until);
}

int tracer::event_descriptor() const {
  return state_->events->descriptor();
}

result<void> tracer::resume(process_id process) {
  return state_->ask<void>([=](engine& e) { return e.resume(process); });
}

result<void> tracer::interrupt(process_id process) {
  return state_->ask<void>([=](engine& e) { return e.interrupt(process); });
}

result<void> tracer::detach(process_id process, leave how) {
  return state_->thread->ask<void>([=](engine& e, reply<void> answer) { e.detach(process, how, std::move(answer)); });
}

result<void> tracer::kill(process_id process) {
  return state_->ask<void>([=](engine& e) { return e.kill(process); });
}

result<breakpoint_kind> tracer::insert_breakpoint(process_id process, target_address address, breakpoint_kind kind) {
  return state_->ask<breakpoint_kind>([=](engine& e) { return e.insert_breakpoint(process, address, kind); });
}

result<void> tracer::remove_breakpoint(process_id process, target_address address) {
  return state_->ask<void>([=](engine& e) { return e.remove_breakpoint(process, address); });
}

result<std::vector<thread_id>> tracer::threads(process_id process) const {
  return state_->ask<std::vector<thread_id>>([=](engine& e) { return e.threads(process); });
}

}  // namespace mpiacq
