// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <set>
#include <span>
#include <vector>

#include "parts/process_loop.hpp"
#include "rank_stopper.hpp"

namespace mpiacq {

/// Stops ranks for a look into them. Processes that the job traces (the starter, ranks that it follows, ranks that it
/// holds) are reached through the job's tracer: those that run are stopped and run on afterwards, those that are held
/// stay so. A second tracer attaches to all other ranks.
class job_rank_stopper final : public rank_stopper {
 public:
  job_rank_stopper(process_loop& loop, tracer& control, tracer_options options)
      : loop_(loop), control_(control), options_(std::move(options)) {}
  /// Ranks that this object has stopped run on.
  ~job_rank_stopper() override;
  job_rank_stopper(const job_rank_stopper&) = delete;
  job_rank_stopper& operator=(const job_rank_stopper&) = delete;

  std::vector<result<void>> take(std::span<const attach_target> ranks) override;
  std::vector<result<void>> let_go(std::span<const process_id> ranks, leave how) override;
  [[nodiscard]] std::vector<result<std::vector<thread_registers>>> registers(std::span<const process_id> ranks,
                                                                             which_threads which,
                                                                             register_sets sets) const override;
  void keep_held() override;
  std::optional<process_event> next_event() override;
  [[nodiscard]] bool is_in_group_stop(process_id rank) const override;

 private:
  [[nodiscard]] std::vector<result<void>> stop_traced(std::span<const attach_target> ranks);
  [[nodiscard]] std::vector<result<void>> attach_others(std::span<const attach_target> ranks);

  process_loop& loop_;
  tracer& control_;  ///< the job's
  tracer_options options_;
  std::unique_ptr<tracer> second_;    ///< from the first rank on that the job does not trace
  std::set<process_id> interrupted_;  ///< they ran before
};

}  // namespace mpiacq
