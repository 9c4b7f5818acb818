// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <set>
#include <span>
#include <vector>

#include "control/job_state.hpp"
#include "rank_stopper.hpp"

namespace mpiacq {

/// Processes that the job traces (the starter, ranks that it follows, ranks that it holds) are reached through the
/// job's tracer: those that run are stopped and run on afterwards, those that are held stay so. A second tracer takes
/// all other ranks.
class job::state::job_rank_stopper final : public rank_stopper {
 public:
  job_rank_stopper(state& job, tracer_options options) : job_(job), options_(std::move(options)) {}
  /// Whoever is held still runs on.
  ~job_rank_stopper() override;
  job_rank_stopper(const job_rank_stopper&) = delete;
  job_rank_stopper& operator=(const job_rank_stopper&) = delete;

  std::vector<result<void>> take(std::span<const attach_target> ranks) override;
  std::vector<result<void>> let_go(std::span<const process_id> ranks, leave how) override;
  std::vector<result<std::vector<thread_registers>>> registers(std::span<const process_id> ranks,
                                                               which_threads which) const override;
  void keep_held() override;
  std::optional<process_event> next_event() override;

 private:
  [[nodiscard]] bool is_the_jobs(process_id rank) const;
  [[nodiscard]] std::vector<result<void>> take_others(std::span<const attach_target> ranks);

  state& job_;
  tracer_options options_;
  std::unique_ptr<tracer> beside_;    ///< from the first rank on that the job does not follow
  std::set<process_id> interrupted_;  ///< they ran before
};

}  // namespace mpiacq
