// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "commands/signals.hpp"
#include "mpiacq/check/check.hpp"
#include "mpiacq/mpir/mpir_daemons.hpp"
#include "options/report_options.hpp"
#include "options/starter_line.hpp"
#include "report/report_file.hpp"

namespace mpiacq::tool {

struct check_options {
  report_options report;
  std::optional<double> timeout;  ///< seconds
  starter_line starter;
  std::optional<process_id> running;            ///< a running starter in place of a command line
  std::optional<mpir::daemon_request> daemons;  ///< a program that the starter is asked to launch
};

/// One job that is observed, from its start to the verdicts.
class check_session {
 public:
  check_session(check::run& subject, const check_options& options, report_file& report, signal_catcher& signals);
  /// Returns the exit status when the starter has ended or the time is over.
  [[nodiscard]] int run();

 private:
  void wait_for_something();
  void take_signals();
  void handle(const job_event& event);
  void stop_with_the_starter();
  [[nodiscard]] int judge_and_report();

  check::run& run_;
  const check_options& options_;
  report_file& report_;
  signal_catcher& signals_;

  deadline until_ = no_deadline;  ///< --timeout
  bool terminal_stop_ = false;
  bool starter_stopped_ = false;
  bool ended_ = false;
  bool over_ = false;  ///< a signal ends the observation of a running job
};

}  // namespace mpiacq::tool
