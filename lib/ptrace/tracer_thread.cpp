// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "tracer_thread.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>

#include <sys/syscall.h>
#include <unistd.h>

#include "overloaded.hpp"

namespace mpiacq::tracing {

using namespace std::chrono_literals;

result<std::unique_ptr<tracer_thread>> tracer_thread::create(const tracer_options& options, event_queue& events) {
  auto signal = wake_signal::acquire(options.wake_signal);
  if (!signal) return fail(std::move(signal).error());
  std::unique_ptr<tracer_thread> self(new tracer_thread(std::move(*signal), options, events));
  std::promise<result<void>> started;
  auto outcome = started.get_future();
  // The new thread begins with our mask. It must not take one of the host program's signals before it has its own.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    self->thread_ = std::thread([raw = self.get(), s = std::move(started)]() mutable { raw->run(std::move(s)); });
  } catch (const std::system_error& e) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return fail(error{error_code::system, "no thread for the tracer"}.with_errno(e.code().value()));
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (auto running = outcome.get(); !running) return fail(std::move(running).error());
  return self;
}

tracer_thread::~tracer_thread() {
  if (!thread_.joinable()) return;
  if (tid_ != 0) {
    post([this](engine& e) {
      e.detach_all();
      leave_ = true;
    });
  }
  thread_.join();
  if (left_guard_) left_guard_->await_take_over();
}

void tracer_thread::post(task what) {
  std::unique_lock lock(mutex_);
  commands_.push_back(std::move(what));
  command_there_.notify_one();
  // The signal may come just before the system call that it is to end, so it is sent until the command was taken.
  while (!commands_.empty()) {
    if (in_kernel_) ::syscall(SYS_tgkill, ::getpid(), tid_, signal_.number());
    command_taken_.wait_for(lock, 1ms);
  }
}

void tracer_thread::run(std::promise<result<void>> started) {
  tid_ = ::gettid();
  ::pthread_setname_np(::pthread_self(), "mpiacq-tracer");
  auto w = waiter::create(signal_.number());
  if (!w) {
    tid_ = 0;
    return started.set_value(fail(std::move(w).error()));
  }
  engine e(events_, options_);
  started.set_value({});
  loop(e, **w);
  left_guard_ = e.hand_over_guard();
}

void tracer_thread::loop(engine& e, waiter& w) {
  bool anything_to_wait_for = true;
  while (!leave_ || e.holds_any()) {
    for (const task& t : take_commands(!anything_to_wait_for)) {
      t(e);
      anything_to_wait_for = true;
    }
    if (leave_ && !e.holds_any()) break;
    w.wake_at(e.next_deadline());
    {
      const std::lock_guard lock(mutex_);
      if (!commands_.empty()) continue;
      in_kernel_ = true;
    }
    const wait_outcome outcome = w.wait_any();
    {
      const std::lock_guard lock(mutex_);
      in_kernel_ = false;
    }
    std::visit(overloaded{
                   [&](const task_report& r) { e.on_status(r.task, r.status); },
                   [&](const woken&) {},
                   [&](const nothing_to_wait_for&) {
                     anything_to_wait_for = false;
                     e.on_nothing_left();
                   },
               },
               outcome);
    e.on_time(clock::now());
  }
}

std::deque<tracer_thread::task> tracer_thread::take_commands(bool sleep) {
  std::unique_lock lock(mutex_);
  if (sleep) command_there_.wait(lock, [&] { return !commands_.empty(); });
  std::deque<task> taken;
  taken.swap(commands_);
  command_taken_.notify_all();
  return taken;
}

}  // namespace mpiacq::tracing
