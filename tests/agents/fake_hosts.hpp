// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A job on hosts that are names for this machine (fake_ssh.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "fake_ssh.hpp"
#include "mpiacq/job/job_description.hpp"
#include "mpiacq/ranks/rank_group.hpp"
#include "run_command.hpp"
#include "running_starter.hpp"

namespace mpiacq::test {

/// Ranks on these hosts, one on each. Each waits for a message of the next rank, and the last for the first.
class fake_host_job {
 public:
  explicit fake_host_job(std::vector<std::string> hosts, const std::string& library = "perfect")
      : hosts_(std::move(hosts)) {
    std::vector<table_row> rows;
    for (std::size_t rank = 0; rank < hosts_.size(); ++rank) {
      const std::string from = std::to_string((rank + 1) % hosts_.size());
      processes_.push_back(std::make_unique<live_process>(std::vector<std::string>{
          MPIACQ_QUEUE_RANKS "/queue_rank", std::to_string(rank), std::to_string(hosts_.size()),
          "library:" MPIACQ_QUEUE_LIBRARIES "/libqueue_" + library + ".so", "receive:world:" + from + ":7:64",
          "in:MPI_Recv"}));
      (void)processes_.back()->lines_until_ready();
      rows.push_back({hosts_[rank], MPIACQ_QUEUE_RANKS "/queue_rank", processes_.back()->pid(), 0,
                      rank_number{static_cast<std::int32_t>(rank)}});
    }
    job_.processes =
        std::make_shared<const process_table>(make_process_table(rows, {}, inferred_descriptor_layout({})));
    job_.locality = entry_locality(*job_.processes);
  }
  [[nodiscard]] const job_description& description() const { return job_; }
  [[nodiscard]] pid_t pid(std::size_t rank) const { return static_cast<pid_t>(processes_[rank]->pid().value()); }
  [[nodiscard]] bool is_held(std::size_t rank) const { return status_of(pid(rank), "TracerPid") != "0"; }

 private:
  std::vector<std::string> hosts_;
  std::vector<std::unique_ptr<live_process>> processes_;
  job_description job_;
};

inline std::unique_ptr<rank_group> reach(const fake_host_job& job, const rank_options& options) {
  auto made = job.description().ranks(options);
  INFO((made ? "" : made.error().message));
  REQUIRE(made.has_value());
  return std::make_unique<rank_group>(std::move(*made));
}

}  // namespace mpiacq::test
