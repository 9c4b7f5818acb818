// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "mpiacq/job/job_description.hpp"
#include "parts/pmix_watch.hpp"

namespace mpiacq {

/// The table of a launched job, for which the server of its ranks is asked until the table is complete. The ranks of
/// this node have come, and the server must not be traced: a stopped server gives no answer.
class pmix_launch {
 public:
  /// `seen`: the job as the environment of its ranks shows it. `is_chosen`: the caller wants the table of the server or
  /// none.
  pmix_launch(job_description seen, bool is_chosen);

  struct outcome {
    job_description job;
    std::unique_ptr<pmix_watch> watch;  ///< null: the job is as the environment shows it
  };
  /// Asks once. Empty: the table has no pid for some rank yet, and is to be asked for again after `interval`. Where the
  /// server gives no table, the outcome is the job of the environment, with the reason as its first problem; a starter
  /// that is no server is no problem. Error: the same reason, if the caller has chosen PMIx. Waits for an answer no
  /// longer than `session_limits::answer_time`.
  [[nodiscard]] result<std::optional<outcome>> ask(deadline now);
  [[nodiscard]] clock::duration interval() const { return interval_; }

 private:
  /// False: the ranks have no PMIx server on this node.
  [[nodiscard]] result<bool> connect();
  [[nodiscard]] result<std::optional<outcome>> without_table(error why);

  job_description seen_;
  bool is_chosen_;
  std::unique_ptr<pmix_watch> watch_;
  deadline give_up_ = no_deadline;  ///< set by the first question
  clock::duration interval_;
};

/// One problem for each other node that has ranks of the job: nothing has held these ranks.
[[nodiscard]] std::vector<error> ranks_not_held(const job_description& job);

}  // namespace mpiacq
