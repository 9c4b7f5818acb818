// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <climits>
#include <utility>

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "errors/try.hpp"
#include "watch/run_state.hpp"

namespace mpiacq::check {

namespace {
/// How long all threads of a starter may take to stop.
constexpr std::chrono::seconds hold_limit{10};
}  // namespace

run::state::state(std::unique_ptr<tracer> t, process_id p, run_options o)
    : options(std::move(o)), control(std::move(t)), pid(p), memory(p), cache(memory), ranks(options) {
  mpir::acquisition_options asked;
  asked.daemons = options.daemon;
  acquisition = mpir::acquisition(std::move(asked));
  // By number: the C library's wrapper is newer than some systems we run on.
  if (p.value() > 0 && p.value() <= INT_MAX)
    pidfd = static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(p.value()), 0));
  seen.starter = p;
}

run::state::~state() {
  if (pidfd >= 0) ::close(pidfd);
}

run::run(std::unique_ptr<state> s) : state_(std::move(s)) {}
run::~run() {
  (void)let_go();
}

result<std::unique_ptr<run>> run::launch(std::vector<std::string> command, run_options options) {
  auto control = TRY(tracer::create());
  launch_request request;
  request.arguments = command;
  request.environment = options.environment;
  const auto pid = TRY(control->launch(request));
  auto s = std::make_unique<state>(std::move(control), pid, std::move(options));
  s->seen.executable = std::move(command.front());  // until its own name for itself can be seen
  return std::unique_ptr<run>(new run(std::move(s)));
}

result<std::unique_ptr<run>> run::attach(process_id starter, run_options options) {
  auto control = TRY(tracer::create());
  TRY(control->attach(starter));
  auto s = std::make_unique<state>(std::move(control), starter, std::move(options));
  s->look_at_attached();
  return std::unique_ptr<run>(new run(std::move(s)));
}

result<std::optional<job_event>> run::next(deadline until) {
  state& s = *state_;
  TRY(s.is_made_here());
  while (s.coming.empty() && !s.ended && !(s.detached && s.seen.how == mode::attach)) {
    auto event = TRY(s.control->wait(std::min(until, s.look_at)));
    if (event) {
      s.handle(*event);
    } else if (clock::now() >= s.look_at) {
      s.on_time();
    } else {
      return std::nullopt;
    }
  }
  if (s.coming.empty()) return std::nullopt;
  job_event event = std::move(s.coming.front());
  s.coming.pop_front();
  return event;
}

int run::event_descriptor() const {
  return state_->control->event_descriptor();
}

deadline run::wake_at() const {
  return state_->look_at;
}

const observations& run::seen() const {
  state_->ranks.report(state_->seen);
  return state_->seen;
}

void run::signal(int number) {
  if (state_->pidfd >= 0) ::syscall(SYS_pidfd_send_signal, state_->pidfd, number, nullptr, 0);
}

result<void> run::state::is_made_here() const {
  if (::getpid() == made_in) return {};
  return fail(error_code::invalid_argument,
              fmt::format("process {} has forked from process {}, which watches this job: only that one can do this",
                          ::getpid(), made_in));
}

result<void> run::state::hold() {
  if (stopped || ended) return {};
  if (auto asked = control->interrupt(pid); !asked) return asked;
  const deadline until = clock::now() + hold_limit;
  while (!stopped && !ended) {
    auto event = TRY(control->wait(until));
    if (!event) {
      return fail(error_code::timed_out,
                  fmt::format("stopping the starter {}: not all of its threads stopped within {} s", pid.value(),
                              hold_limit.count()));
    }
    // The starter may stop first for another reason: then it is released at once, and the stop is requested again.
    const bool is_answer = std::holds_alternative<interrupted>(event->what);
    handle(*event);
    if (!is_answer && !stopped && !ended) (void)control->interrupt(pid);
  }
  return {};
}

result<void> run::state::let_go() {
  if (detached || ended) return {};
  ranks.open_all_gates();
  const result<void> held = hold();
  if (ended) return {};
  if (held && symbols) carry_out(acquisition.before_detach(view()));
  if (const auto where = std::exchange(mpi2dd_breakpoint, std::nullopt); where && held) {
    notice_failure(control->remove_breakpoint(pid, *where));
  }
  stopped = false;
  detached = true;
  look_at = no_deadline;
  return control->detach(pid, leave::running);
}

result<void> run::let_go() {
  if (auto here = state_->is_made_here(); !here) return here;
  return state_->let_go();
}

bool run::over() const {
  return state_->ended || state_->detached;
}

}  // namespace mpiacq::check
