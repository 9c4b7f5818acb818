// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "job_report.hpp"
#include "report_file.hpp"

namespace mpiacq::tool {

[[nodiscard]] inline const job_change* change_in(const std::optional<job_change>& change) {
  return change ? &*change : nullptr;
}

/// Says what happens to a job: its events in the report, everything else on standard error as it comes.
class job_reporter {
 public:
  job_reporter(const job& subject, const report_options& options, report_file& report)
      : job_(subject), options_(options), report_(report) {}

  void report(job_snapshot::event what, const job_change* change = nullptr, std::optional<std::string> reason = {});
  /// Said now, and in every report from now on.
  void problem(const error& what);
  /// Something that we were to do did not work.
  void note_failure(const result<void>& done);
  void note_failure();
  [[nodiscard]] bool failed() const { return failed_; }
  /// Takes the stacks of the selected ranks; the next report has them.
  void take_stacks(job& subject, const job_command_options& asked);
  /// Reads the message queues of the selected ranks; the next report has them.
  void take_queues(job& subject, const job_command_options& asked);
  /// Some rank could not be looked at.
  [[nodiscard]] bool rank_failed() const { return rank_failed_; }
  /// Takes hold of the selected ranks, and says which of them could not be held.
  void hold_ranks(job& subject);

 private:
  const job& job_;
  const report_options& options_;
  report_file& report_;
  std::vector<error> problems_;
  std::optional<stacks_snapshot> stacks_;
  std::optional<queues_snapshot> queues_;
  bool failed_ = false;
  bool rank_failed_ = false;
};

}  // namespace mpiacq::tool
