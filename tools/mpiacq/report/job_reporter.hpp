// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "commands/agents_choice.hpp"
#include "mpiacq/ranks/spawn_watch.hpp"
#include "options/job_command_options.hpp"
#include "report/job_problems.hpp"
#include "report/job_report.hpp"
#include "report/report_file.hpp"

namespace mpiacq::tool {

/// Reports the events of a job, and prints everything else to standard error at once.
class job_reporter {
 public:
  job_reporter(const job& subject, const report_options& options, report_file& report)
      : job_(subject), options_(options), report_(report), problems_(options.json) {}

  /// Queues a report for writing. The job may be released at once: no caller waits for the report's reader.
  void report(job_snapshot::event what, std::optional<job_change> change = {}, std::optional<std::string> reason = {},
              std::optional<rank_spawn> spawn = {});
  /// Adds the problem to the next report, or prints it if no report is to be expected (job_problems.hpp).
  void problem(const error& what) { problems_.add(what); }
  /// Prints the problems that no report has shown: none is to be expected soon.
  void expect_no_report() { problems_.wait_no_longer(); }
  /// Records that an action of mpiacq failed.
  void note_failure(const result<void>& done);
  void note_failure();
  [[nodiscard]] bool failed() const { return failed_; }
  /// Takes the stacks of the selected ranks; the next report contains them.
  void take_stacks(job& subject, const job_command_options& asked, agents_of_job& agents);
  /// Reads the message queues of the selected ranks; the next report contains them. If mpiacq follows the job
  /// afterwards, it also follows the ranks whose libraries name a function for new processes.
  void take_queues(job& subject, const job_command_options& asked, agents_of_job& agents);
  /// Reports new processes that followed ranks have announced since the last call.
  void serve_spawns();
  /// Readable if there may be some; -1 if no rank is followed.
  [[nodiscard]] int spawn_descriptor() const { return spawns_ ? spawns_->event_descriptor() : -1; }
  /// Stops following ranks.
  void leave_spawns() { spawns_.reset(); }
  /// Whether a rank could not be read.
  [[nodiscard]] bool rank_failed() const { return rank_failed_; }
  /// Holds the selected ranks, and prints which of them could not be held.
  void hold_ranks(job& subject);

 private:
  /// Reports the new processes that ranks have announced until now, and stops following ranks. A process has one tracer
  /// at a time, and a look at stacks or queues uses another tracer than the one that follows ranks.
  void free_followed_ranks();
  const job& job_;
  const report_options& options_;
  report_file& report_;
  job_problems problems_;
  std::optional<stacks_snapshot> stacks_;
  std::optional<queues_snapshot> queues_;
  std::unique_ptr<spawn_watch> spawns_;
  std::optional<queues_snapshot> followed_queues_;  ///< of the ranks that `spawns_` follows, including the processes
                                                    ///< that they have announced since
  bool failed_ = false;
  bool rank_failed_ = false;
};

}  // namespace mpiacq::tool
