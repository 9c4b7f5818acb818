// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sessions/job_session.hpp"

namespace mpiacq::tool {

/// A running job, from the attach to the detach. A signal is for mpiacq: it releases the job and ends.
class attach_session final : private job_session {
 public:
  attach_session(job& subject, const attach_command_options& options, agents_of_job& agents, report_file& report,
                 signal_catcher& signals);
  using job_session::run;

 private:
  [[nodiscard]] std::optional<int> handle(const job_event& event) override;
  [[nodiscard]] std::optional<int> between_events() override;
  /// Returns the exit status if the session is over, as the following do.
  [[nodiscard]] std::optional<int> on_table(job_snapshot::event what, const std::optional<job_change>& change);
  [[nodiscard]] std::optional<int> leave_it();
  [[nodiscard]] std::optional<int> leave_without_daemons();
  [[nodiscard]] int leave_without_table(const job_aborting& abort);
  [[nodiscard]] std::optional<int> take_signals();

  const attach_command_options& options_;
  deadline daemons_by_ = no_deadline;  ///< set while mpiacq only waits for the launch of the daemons
  bool reported_ = false;
  bool left_ = false;  ///< mpiacq only waits for the commands of --each
};

}  // namespace mpiacq::tool
