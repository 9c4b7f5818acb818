// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "commands/signals.hpp"
#include "mpiacq/process/tracer.hpp"
#include "mpiacq/ranks/job_watch.hpp"
#include "mpiacq/ranks/stack_history.hpp"
#include "options/watch_options.hpp"
#include "report/findings.hpp"
#include "report/report_file.hpp"
#include "sessions/crash_follower.hpp"
#include "sessions/ranks_look.hpp"
#include "sessions/report_session.hpp"

namespace mpiacq::tool {

/// What a watch has seen, for the test view of a CI service.
struct watched_end {
  std::shared_ptr<const findings> found;  ///< the last report; null: none
  std::string sentence;                   ///< of that report: "no rank has moved for 5 s: deadlock: ..."
  std::optional<exit_status> starter;     ///< of a starter that this command launched
};

/// Watches the ranks of a job, and writes a report when it stands still or has run for too long.
class job_watcher {
 public:
  /// `stop`: readable when a signal waits; it ends a look. Reports without a folder go to `text`.
  job_watcher(const watch_options& options, report_file& text, int stop);

  /// The job has ranks now.
  void begin(ranks_look look);
  /// When `serve` has something to do; never before the job has ranks, and after they have ended.
  [[nodiscard]] deadline wake_at() const;
  /// Readable when `serve` has something to do; -1: nothing comes from there.
  [[nodiscard]] int descriptor() const;
  /// The user ends the job: the end of its ranks is no failure.
  void expect_end() { crash_.reset(); }
  /// Looks at the ranks if it is time to. True: a report was written, and the job is to be treated as the user wishes.
  [[nodiscard]] bool serve();
  /// The starter has ended. Reports ranks that have failed; they may be held at their ends.
  void serve_last();
  /// A signal has come. True: it asks for a report, which `serve` writes as soon as the job has ranks.
  [[nodiscard]] bool takes(int signal);
  /// The starter has ended.
  void note_end(const exit_status& starter) { outcome_.starter = starter; }
  [[nodiscard]] const watched_end& outcome() const { return outcome_; }
  /// All ranks have ended, or none of them can be looked at any more.
  [[nodiscard]] bool have_ranks_ended() const { return ended_; }

 private:
  void report(report_cause cause, const std::string& what, const job_stands_still* still = nullptr);
  void report_crash(const group_ends& ends);
  void write(report_look done, const std::string& what);
  void take_sample();

  const watch_options& options_;
  report_file& text_;
  int stop_;
  deadline report_by_;  ///< --timeout
  std::optional<ranks_look> look_;
  std::unique_ptr<job_watch> watch_;
  std::unique_ptr<crash_follower> crash_;  ///< null: no rank is followed to its end
  stack_history history_;                  ///< --every
  deadline next_sample_ = no_deadline;     ///< of the history
  deadline next_end_check_ = no_deadline;  ///< after a failure
  bool is_asked_ = false;                  ///< by a signal
  watched_end outcome_;
  bool ended_ = false;
};

}  // namespace mpiacq::tool
