// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "commands/agents_choice.hpp"
#include "commands/rank_commands.hpp"
#include "commands/signals.hpp"
#include "mpiacq/job/job.hpp"
#include "options/job_command_options.hpp"
#include "report/job_reporter.hpp"
#include "report/report_file.hpp"

namespace mpiacq::tool {

/// A running job, from the attach to the detach. A signal is for mpiacq: it releases the job and ends.
class attach_session {
 public:
  attach_session(job& subject, const attach_command_options& options, agents_of_job& agents, report_file& report,
                 signal_catcher& signals);
  [[nodiscard]] int run();

 private:
  /// Gives the exit status if the session is over.
  [[nodiscard]] std::optional<int> handle(const job_event& event);
  [[nodiscard]] std::optional<int> on_table(job_snapshot::event what, const std::optional<job_change>& change);
  [[nodiscard]] std::optional<int> leave_it();
  [[nodiscard]] std::optional<int> leave_without_daemons();
  [[nodiscard]] int leave_without_table();
  [[nodiscard]] int give_up();
  [[nodiscard]] std::optional<int> take_signals();
  void say_what_is_missing();
  [[nodiscard]] int own_status() const;

  job& job_;
  const attach_command_options& options_;
  agents_of_job& agents_;
  job_reporter reporter_;
  signal_catcher& signals_;
  deadline table_by_ = no_deadline;  ///< --timeout
  deadline hint_at_;
  deadline daemons_by_ = no_deadline;  ///< set while mpiacq only waits for the launch of the daemons
  bool reported_ = false;
  bool left_ = false;                               ///< mpiacq only waits for the commands of --each
  std::shared_ptr<const process_table> commanded_;  ///< --each: the table whose ranks have commands
  std::unique_ptr<rank_commands> commands_;         ///< --each, once the job has been released
};

}  // namespace mpiacq::tool
