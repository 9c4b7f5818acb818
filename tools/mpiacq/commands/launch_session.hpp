// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "commands/agents_choice.hpp"
#include "commands/rank_commands.hpp"
#include "commands/signals.hpp"
#include "mpiacq/job/job.hpp"
#include "options/job_command_options.hpp"
#include "report/job_reporter.hpp"

namespace mpiacq::tool {

/// One launched job, from its start to the exit status of mpiacq.
class launch_session {
 public:
  launch_session(job& subject, const launch_options& options, agents_of_job& agents, report_file& report,
                 signal_catcher& signals);
  /// Returns when the starter has ended or mpiacq has given up on it.
  [[nodiscard]] int run();

 private:
  void take_signals();
  void handle(const job_event& event);
  void after_report();
  void stop_with_the_starter();
  void say_what_is_missing();
  [[nodiscard]] int give_up();
  [[nodiscard]] int final_status(const starter_ended& end);

  job& job_;
  const launch_options& options_;
  agents_of_job& agents_;
  job_reporter reporter_;
  signal_catcher& signals_;

  deadline spawn_by_ = no_deadline;  ///< --timeout
  deadline hint_at_;                 ///< a person begins to wonder now
  bool spawned_ = false;
  bool left_ = false;  ///< released on purpose: its stops no longer concern mpiacq
  bool terminal_stop_ = false;
  bool starter_stopped_ = false;
  std::optional<starter_ended> ended_;
  std::shared_ptr<const process_table> commanded_;  ///< --each: the table whose ranks have commands
  std::unique_ptr<rank_commands> commands_;         ///< --each, once the job has been released
};

}  // namespace mpiacq::tool
