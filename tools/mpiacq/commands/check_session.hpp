// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "commands/command_line.hpp"
#include "commands/signals.hpp"
#include "mpiacq/check/check.hpp"
#include "report/report_file.hpp"

namespace mpiacq::tool {

/// One job that is watched, from its start to the verdicts.
class check_session {
 public:
  check_session(check::run& subject, const check_options& options, report_file& report, signal_catcher& signals);
  /// Until the starter has ended or the time is over; gives the exit status.
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
  bool over_ = false;  ///< somebody wants us to stop looking at a running job
};

}  // namespace mpiacq::tool
