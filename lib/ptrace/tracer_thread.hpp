// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>

#include "engine.hpp"
#include "event_queue.hpp"
#include "waiter.hpp"

namespace mpiacq::tracing {

/// The one thread that traces: it carries out commands and takes wait statuses in turns.
class tracer_thread {
 public:
  [[nodiscard]] static result<std::unique_ptr<tracer_thread>> create(const tracer_options& options,
                                                                     event_queue& events);
  /// Lets go of everything first.
  ~tracer_thread();
  tracer_thread(const tracer_thread&) = delete;
  tracer_thread& operator=(const tracer_thread&) = delete;

  /// Has `command` carried out there, and waits until it has called its reply.
  template <class T>
  [[nodiscard]] result<T> ask(std::function<void(engine&, reply<T>)> command) {
    auto answer = std::make_shared<std::promise<result<T>>>();
    auto future = answer->get_future();
    post([answer, command = std::move(command)](engine& e) {
      command(e, [answer](result<T> r) { answer->set_value(std::move(r)); });
    });
    return future.get();
  }

 private:
  using task = std::function<void(engine&)>;

  tracer_thread(wake_signal signal, const tracer_options& options, event_queue& events)
      : signal_(std::move(signal)), options_(options), events_(events) {}
  void post(task what);
  void run(std::promise<result<void>> started);
  void loop(engine& e, waiter& w);
  [[nodiscard]] std::deque<task> take_commands(bool sleep);

  wake_signal signal_;
  tracer_options options_;
  event_queue& events_;

  std::mutex mutex_;
  std::condition_variable command_there_;
  std::condition_variable command_taken_;
  std::deque<task> commands_;
  bool in_kernel_ = false;  ///< the thread is in waitpid, or about to be, and must be woken by the signal
  bool leave_ = false;
  pid_t tid_ = 0;
  std::unique_ptr<guard> left_guard_;  ///< at the end of the thread
  std::thread thread_;
};

}  // namespace mpiacq::tracing
