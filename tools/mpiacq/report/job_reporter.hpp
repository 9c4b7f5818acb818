// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "commands/agents_choice.hpp"
#include "mpiacq/ranks/spawn_watch.hpp"
#include "options/job_command_options.hpp"
#include "report/job_report.hpp"
#include "report/report_file.hpp"

namespace mpiacq::tool {

/// Says what happens to a job: its events in the report, everything else on standard error as it comes.
class job_reporter {
 public:
  job_reporter(const job& subject, const report_options& options, report_file& report)
      : job_(subject), options_(options), report_(report) {}

  /// Hands a report over to be written. The job may be let go at once: nothing waits for the report's reader.
  void report(job_snapshot::event what, std::optional<job_change> change = {}, std::optional<std::string> reason = {},
              std::optional<rank_spawn> spawn = {});
  /// Said now, and in every report from now on.
  void problem(const error& what);
  /// Something that we were to do did not work.
  void note_failure(const result<void>& done);
  void note_failure();
  [[nodiscard]] bool failed() const { return failed_; }
  /// Takes the stacks of the selected ranks; the next report has them.
  void take_stacks(job& subject, const job_command_options& asked, agents_of_job& agents);
  /// Reads the message queues of the selected ranks; the next report has them. Where the job is followed from then on,
  /// so are those of its ranks whose libraries say where they announce new processes.
  void take_queues(job& subject, const job_command_options& asked, agents_of_job& agents);
  /// Reports new processes that ranks have told of since.
  void serve_spawns();
  /// Readable where there may be some; -1 where nobody is followed.
  [[nodiscard]] int spawn_descriptor() const { return spawns_ ? spawns_->event_descriptor() : -1; }
  /// Follows no rank any more.
  void leave_spawns() { spawns_.reset(); }
  /// Some rank could not be looked at.
  [[nodiscard]] bool rank_failed() const { return rank_failed_; }
  /// Takes hold of the selected ranks, and says which of them could not be held.
  void hold_ranks(job& subject);

 private:
  /// Reports the new processes that ranks have announced until now, and follows no rank any more: a process has one
  /// tracer at a time, and a look at stacks or queues is another tracer than the one that follows ranks.
  void free_followed_ranks();
  const job& job_;
  const report_options& options_;
  report_file& report_;
  std::vector<error> problems_;
  std::optional<stacks_snapshot> stacks_;
  std::optional<queues_snapshot> queues_;
  std::unique_ptr<spawn_watch> spawns_;
  std::optional<queues_snapshot>
      followed_queues_;  ///< of the ranks that `spawns_` follows, with what they have told since
  bool failed_ = false;
  bool rank_failed_ = false;
};

}  // namespace mpiacq::tool
