// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "commands/agents_choice.hpp"
#include "commands/signals.hpp"
#include "mpiacq/job/job.hpp"
#include "options/job_command_options.hpp"
#include "report/job_reporter.hpp"
#include "sessions/rank_commands.hpp"

namespace mpiacq::tool {

/// The common part of the sessions of `launch` and `attach`: a job under control, its reports, and the commands of
/// --each.
class job_session {
 public:
  job_session(const job_session&) = delete;
  job_session& operator=(const job_session&) = delete;
  virtual ~job_session() = default;

  /// Serves the job until the session is over. Returns the exit status.
  [[nodiscard]] int run();

 protected:
  job_session(job& subject, const job_command_options& options, agents_of_job& agents, report_file& report,
              signal_catcher& signals);
  /// Handles one event. Returns the exit status if the session is over.
  [[nodiscard]] virtual std::optional<int> handle(const job_event& event) = 0;
  /// Called when no event is left: serves everything else, and waits. Returns the exit status if the session is over.
  [[nodiscard]] virtual std::optional<int> between_events() = 0;

  /// Takes the stacks and queues that the options ask for; the next report contains them.
  void take_looks();
  /// Reports an abort, a change or a notice, after which the job continues. False: the event is of another kind.
  [[nodiscard]] bool report_further(const job_event& event);
  /// Starts commands of --each for new ranks, reads the output of commands, and handles the events of followed ranks.
  void serve();
  [[nodiscard]] bool commands_run() const { return commands_ && !commands_->finished(); }
  /// Waits until the job, a signal, a command or a followed rank is ready, or until `until`.
  /// `other`: instead of a followed rank.
  void wait_until(deadline until, int other = -1) const;
  /// Prints that mpiacq still waits for the starter to do `what`. Only the first call is due (`hint_at_`).
  void say_what_is_missing(std::string_view what);
  /// Releases the job; `what` did not happen within --timeout. Returns the exit status.
  [[nodiscard]] int give_up(std::string_view what);
  /// "mpirun (pid 42)"
  [[nodiscard]] std::string starter_text() const;
  /// ": " and the reason why no table can come; empty if there is none.
  [[nodiscard]] std::string missing_text() const;
  /// The exit status unless it is the starter's.
  [[nodiscard]] int own_status() const;

  job& job_;
  agents_of_job& agents_;
  job_reporter reporter_;
  signal_catcher& signals_;
  deadline table_by_;                        ///< --timeout
  deadline hint_at_;                         ///< the time at which a user expects an explanation
  std::unique_ptr<rank_commands> commands_;  ///< --each, once the job has been released

 private:
  const job_command_options& shared_;
  std::shared_ptr<const process_table> commanded_;  ///< --each: the table whose ranks have commands
};

}  // namespace mpiacq::tool
