// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "sessions/check_session.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <variant>

#include <fmt/format.h>
#include <poll.h>

#include "commands/complaints.hpp"
#include "commands/exit_status.hpp"
#include "report/check_report.hpp"
#include "report/json/json_writer.hpp"
#include "sessions/session_wait.hpp"

namespace mpiacq::tool {

namespace {

bool any_failed(const std::vector<check::judgement>& verdicts) {
  return std::any_of(verdicts.begin(), verdicts.end(),
                     [](const auto& j) { return j.result.what == check::verdict::fail; });
}

}  // namespace

check_session::check_session(check::run& subject, const check_options& options, report_file& report,
                             signal_catcher& signals)
    : run_(subject), options_(options), report_(report), signals_(signals), until_(deadline_after(options.timeout)) {}

int check_session::run() {
  while (!ended_) {
    auto event = run_.next(clock::now());
    if (!event) {
      complain(event.error());
      return status_tool_failed;
    }
    if (*event) {
      handle(**event);
      continue;
    }
    if (run_.over()) break;
    if (clock::now() >= until_) {
      complain(fmt::format("{} (pid {}) has not ended within {} s; it runs on without mpiacq", run_.seen().executable,
                           run_.seen().starter.value(), *options_.timeout));
      if (auto gone = run_.let_go(); !gone) complain(gone.error());
      break;
    }
    wait_for_something();
    take_signals();
    if (over_) {
      if (auto gone = run_.let_go(); !gone) complain(gone.error());
      break;
    }
  }
  return judge_and_report();
}

void check_session::wait_for_something() {
  std::array<pollfd, 2> sources{pollfd{run_.event_descriptor(), POLLIN, 0}, pollfd{signals_.descriptor(), POLLIN, 0}};
  (void)::poll(sources.data(), sources.size(), milliseconds_until(std::min(run_.wake_at(), until_)));
}

void check_session::take_signals() {
  while (const auto signal = signals_.take()) {
    const bool stops = signal->number == SIGTSTP || signal->number == SIGTTIN || signal->number == SIGTTOU;
    // A signal is meant for a job that mpiacq launched, and for mpiacq if the job ran before.
    if (options_.running) {
      if (!stops) over_ = true;
    } else if (!signal->from_terminal) {
      run_.signal(signal->number);
    } else if (stops) {
      terminal_stop_ = true;
      stop_with_the_starter();
    }
  }
}

/// Stops mpiacq together with the starter, for the reason in launch_session.
void check_session::stop_with_the_starter() {
  if (!terminal_stop_ || !starter_stopped_) return;
  terminal_stop_ = starter_stopped_ = false;
  std::raise(SIGSTOP);
}

void check_session::handle(const job_event& event) {
  if (const auto* notice = std::get_if<job_notice>(&event)) {
    complain(notice->what);
  } else if (const auto* stop = std::get_if<starter_stopped>(&event)) {
    starter_stopped_ = stop->signal != 0;
    stop_with_the_starter();
  } else if (std::holds_alternative<starter_continued>(event)) {
    starter_stopped_ = terminal_stop_ = false;
  } else if (std::holds_alternative<starter_ended>(event)) {
    ended_ = true;
  }
}

int check_session::judge_and_report() {
  const check::observations& seen = run_.seen();
  const std::vector<check::judgement> verdicts = check::judge(seen);
  const bool colour = report_.wants_colour();
  if (options_.report.json) {
    report_.write([document = check_json(seen, verdicts)](report_stream& out) { write_document(out, document); });
  } else {
    report_.write([text = check_text(seen, verdicts, colour)](report_stream& out) { out.write(text); });
  }
  if (any_failed(verdicts)) return status_clause_failed;
  if (seen.spawn() == nullptr && !seen.mpi2dd.job) {
    complain(fmt::format("{} has not started a job that could be checked", seen.executable));
    return status_tool_failed;
  }
  return status_ok;
}

}  // namespace mpiacq::tool
