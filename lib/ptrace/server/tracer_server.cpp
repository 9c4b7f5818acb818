// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "server/tracer_server.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include <poll.h>

#include "framing/overloaded.hpp"
#include "kernel/bounded_call.hpp"
#include "wire/channel.hpp"

namespace mpiacq::tracing {

namespace {

/// Bounds the statuses handled in a row, so that a program that stops all the time does not delay commands.
constexpr int most_statuses_in_a_row = 256;

timespec time_until(deadline when) {
  const auto left = std::max<clock::duration>(when - clock::now(), clock::duration::zero());
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  return {seconds.count(), std::chrono::nanoseconds(left - seconds).count()};
}

}  // namespace

tracer_server::tracer_server(tool_ends tool, waiter w)
    : tool_(std::move(tool)),
      waiter_(std::move(w)),
      events_(std::move(tool_.events)),
      engine_(kernel_.access(), events_, options_, tool_.guard.get()) {}

void tracer_server::run() {
  // After the tool has gone, threads that did not stop in time must still be released when they stop.
  while (!leaving_ || !all_let_go()) {
    await_something();
    take_statuses();
    engine_.on_time(clock::now());
    if (tool_gone_ && !leaving_) begin_to_leave();
    if (command_there_ && !leaving_) take_command();
    if (leaving_ && tool_.commands && !engine_.holds_any()) say_goodbye();
  }
}

bool tracer_server::all_let_go() const {
  return !engine_.holds_any() && !engine_.awaits_late_threads();
}

/// The tool waits for this message. It does not wait for threads that are blocked in the kernel, of a traced process or
/// of this one (bounded_call.hpp).
void tracer_server::say_goodbye() {
  static_cast<void>(!send_frame(tool_.commands.get(), encode(engine_.awaits_late_threads() || overdue_calls > 0)));
  tool_.commands.reset();
}

void tracer_server::await_something() {
  const short for_commands = leaving_ ? short{0} : short{POLLIN};
  const short for_events = events_.all_sent() || leaving_ ? short{0} : short{POLLOUT};
  std::array<pollfd, 4> all = {{{waiter_.descriptor(), POLLIN, 0},
                                {leaving_ ? -1 : tool_.commands.get(), for_commands, 0},
                                {leaving_ ? -1 : tool_.process.get(), POLLIN, 0},
                                {for_events == 0 ? -1 : events_.socket(), for_events, 0}}};
  const deadline next = engine_.next_deadline();
  const timespec left = time_until(next);
  signal_there_ = command_there_ = tool_gone_ = false;
  if (::ppoll(all.data(), all.size(), next == no_deadline ? nullptr : &left, nullptr) < 0) return;
  signal_there_ = all[0].revents != 0;
  if (signal_there_) waiter_.drain();
  command_there_ = all[1].revents != 0;
  tool_gone_ = all[2].revents != 0;
  if (all[3].revents != 0) events_.send();
}

void tracer_server::take_statuses() {
  // Every change is signalled. Without a signal, a search by the kernel is unnecessary.
  if (!signal_there_) return;
  engine_.take_expected();
  for (int i = 0; i < most_statuses_in_a_row; ++i) {
    // A released child is left to the process that adopts it, which can then collect its exit status.
    if (leaving_ && all_let_go()) return;
    const auto report = waiter_.next();
    if (!report) return;
    engine_.on_status(report->task, report->status);
  }
  // The signal for the remaining changes is consumed already.
  waiter::look_again();
}

void tracer_server::take_command() {
  auto message = receive_frame(tool_.commands.get());
  if (!message) return begin_to_leave();
  auto request = decode<request_message>(message->bytes);
  if (!request) return begin_to_leave();
  events_.taken(request->events_taken);
  engine_.heard_from_tool();
  carry_out(request->what, message->descriptors);
}

void tracer_server::begin_to_leave() {
  leaving_ = true;
  engine_.leave_all();
}

template <class T>
reply<T> tracer_server::replier() {
  return [this](result<T> answer) {
    // While the tool waited for this answer, it could not make a call.
    engine_.heard_from_tool();
    // The send fails if the tool has gone: there is then no receiver for the answer.
    static_cast<void>(!send_frame(tool_.commands.get(), encode(answer)));
  };
}

void tracer_server::carry_out(command& what, std::vector<unique_fd>& descriptors) {
  const auto answer = [&]<class C>(const C&, result<typename C::answer> with) {
    replier<typename C::answer>()(std::move(with));
  };
  std::visit(
      base::overloaded{
          [&](const begin_command& c) {
            options_.stop_limit = c.stop_limit;
            options_.hold_limit = c.hold_limit;
            if (c.version == build_version) return answer(c, {});
            answer(c, fail(error_code::unsupported, "the tracing program is of version " + std::string{build_version} +
                                                        ", and the library that started it of " + c.version));
          },
          [&](launch_command& c) {
            engine_.launch({std::move(c.request), std::move(c.surroundings), std::move(descriptors)},
                           replier<process_id>());
          },
          [&](const attach_command& c) { engine_.attach(c.process, c.options, replier<void>()); },
          [&](const resume_command& c) { answer(c, engine_.resume(c.process)); },
          [&](const interrupt_command& c) { answer(c, engine_.interrupt(c.process)); },
          [&](const detach_command& c) { engine_.detach(c.process, c.how, replier<void>()); },
          [&](const kill_command& c) { answer(c, engine_.kill(c.process)); },
          [&](const insert_breakpoint_command& c) {
            answer(c, engine_.insert_breakpoint(c.process, c.address, c.kind));
          },
          [&](const remove_breakpoint_command& c) { answer(c, engine_.remove_breakpoint(c.process, c.address)); },
          [&](const insert_watchpoint_command& c) {
            answer(c, engine_.insert_watchpoint(c.process, c.address, c.length));
          },
          [&](const remove_watchpoint_command& c) { answer(c, engine_.remove_watchpoint(c.process, c.address)); },
          [&](restore_on_exit_command& c) {
            answer(c, engine_.restore_on_exit(c.process, c.address, std::move(c.bytes)));
          },
          [&](const follow_children_command& c) { answer(c, engine_.follow_children(c.process, c.follow)); },
          [&](const threads_command& c) { answer(c, engine_.threads(c.process)); },
          [&](const is_idle_command& c) {
            answer(c, engine_.is_idle() && events_.all_sent() && (!c.surely || waiter::has_no_task()));
          },
          [&](const attach_all_command& c) {
            engine_.attach_all(c.targets, c.options, replier<std::vector<result<void>>>());
          },
          [&](const detach_all_command& c) {
            engine_.detach_all(c.processes, c.how, replier<std::vector<result<void>>>());
          },
          [&](const keep_held_command& c) { answer(c, {}); },
          [&](const registers_command& c) { answer(c, engine_.registers(c.processes, c.which, c.sets)); },
      },
      what);
}

}  // namespace mpiacq::tracing
