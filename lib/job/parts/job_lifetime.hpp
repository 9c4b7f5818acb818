// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <unistd.h>

#include "descriptors/unique_fd.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/process/tracer.hpp"

namespace mpiacq {

/// How far the control of a job has come. It only moves forward.
enum class job_phase : std::uint8_t {
  attaching,   ///< attached to, and no table has been reported yet
  controlled,  ///< launched, or attached to with its table reported
  let_go,      ///< nothing of this program is left in the job; the starter's end may still be reported
  lost,        ///< the same, because the tracing process has let go of the job by itself
  ended,       ///< no event follows
};

/// The phase of a job, the process that was launched or attached to (the root), and how the job is ended.
class job_lifetime {
 public:
  job_lifetime(process_id root, bool is_launched);

  /// A forked child has a copy of the job, which must not change anything. Error: invalid_argument.
  [[nodiscard]] result<void> is_made_here() const;
  /// Whether this is the process that made the job.
  [[nodiscard]] bool is_own() const { return ::getpid() == made_in_; }

  [[nodiscard]] job_phase phase() const { return phase_; }
  [[nodiscard]] bool is_controlled() const { return phase_ <= job_phase::controlled; }
  [[nodiscard]] bool has_ended() const { return phase_ == job_phase::ended; }
  [[nodiscard]] bool is_launched() const { return is_launched_; }
  [[nodiscard]] process_id root() const { return root_; }

  /// A table is reported. True where it is the first one of a job that was attached to.
  [[nodiscard]] bool take_first_table();
  void let_go();
  /// The tracing process has let go of the job.
  void lose();
  /// No further event is reported: the job was attached to, and its end is only reported while it is attached.
  void stop_reporting() { phase_ = job_phase::ended; }

  /// The starter is this process now.
  void set_starter(process_id starter);
  /// A process has ended. Only the root's end is kept.
  void process_ended(process_id process, const exit_status& status);
  [[nodiscard]] bool root_has_ended() const { return root_status_.has_value(); }

  void signal_root(int signal);
  /// Asks the starter to end (SIGTERM). `ranks`: pidfds of the local ranks, which are killed when the starter has
  /// ended.
  void ask_to_end(std::vector<base::unique_fd> ranks);
  /// SIGKILL to the starter and the root.
  void kill();
  /// The root has ended, and with it the job: kills the ranks that were to end and are still there. Gives the status to
  /// report, once.
  [[nodiscard]] std::optional<exit_status> finish();

 private:
  pid_t made_in_ = ::getpid();
  bool is_launched_;
  job_phase phase_;
  process_id root_;
  std::optional<exit_status> root_status_;
  // By pidfds a signal reaches the process that is meant or none.
  base::unique_fd root_descriptor_;
  base::unique_fd starter_descriptor_;
  std::vector<base::unique_fd> ranks_to_kill_;
};

}  // namespace mpiacq
