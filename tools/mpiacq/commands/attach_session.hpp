// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "commands/agents_choice.hpp"
#include "commands/command_line.hpp"
#include "commands/rank_commands.hpp"
#include "commands/signals.hpp"
#include "mpiacq/job/job.hpp"
#include "report/job_reporter.hpp"
#include "report/report_file.hpp"

namespace mpiacq::tool {

/// A running job, from the attach to where we leave it. Signals that we get are for us: we let go, and end by them.
class attach_session {
 public:
  attach_session(job& subject, const attach_command_options& options, agents_of_job& agents, report_file& report,
                 signal_catcher& signals);
  [[nodiscard]] int run();

 private:
  /// The exit status, once there is one.
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
  deadline daemons_by_ = no_deadline;  ///< set while all that is left is to see the daemons launched
  bool reported_ = false;
  bool left_ = false;                               ///< only the commands of --each are still to end
  std::shared_ptr<const process_table> commanded_;  ///< --each: the table that commands were made for
  std::unique_ptr<rank_commands> commands_;         ///< --each, once the job has been let go
};

}  // namespace mpiacq::tool
