// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sessions/job_session.hpp"
#include "sessions/job_watcher.hpp"

namespace mpiacq::tool {

/// One launched job, from its start to the exit status of mpiacq.
class launch_session final : private job_session {
 public:
  /// `watcher`: watches the ranks after the spawn, which is then not reported; null: nothing is watched.
  launch_session(job& subject, const launch_options& options, agents_of_job& agents, report_file& report,
                 signal_catcher& signals, job_watcher* watcher = nullptr);
  /// The session is over when the starter has ended or mpiacq has given up on it.
  using job_session::run;

 private:
  [[nodiscard]] std::optional<int> handle(const job_event& event) override;
  [[nodiscard]] std::optional<int> between_events() override;
  void take_signals();
  void on_spawn(const job_spawned& spawn);
  void after_report();
  /// The watcher has the ranks now.
  void begin_watch();
  /// The watcher has written a report.
  void after_watch_report();
  void stop_with_the_starter();
  [[nodiscard]] int final_status(const starter_ended& end);

  const launch_options& options_;
  job_watcher* watcher_;
  bool ended_by_watch_ = false;
  bool spawned_ = false;
  bool left_ = false;  ///< released on request: its stops no longer concern mpiacq
  bool terminal_stop_ = false;
  bool starter_stopped_ = false;
  std::optional<starter_ended> ended_;
};

}  // namespace mpiacq::tool
