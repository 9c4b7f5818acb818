// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mpiacq/job/process_table.hpp"
#include "mpiacq/mpir/mpir_acquisition.hpp"
#include "mpiacq/process/tracer.hpp"

namespace mpiacq {

/// What a job does to its ranks on this node beside the starter. With MPIR they are left alone until somebody wants
/// them held; with MPI2DD they are followed, since they raise events.
class rank_control {
 public:
  virtual ~rank_control() = default;

  /// The starter's user (process_table::user): from now on no process of another user is held or written to.
  void belong_to(std::optional<user_id> starters) { user_ = starters; }

  /// Before the job is let run: takes hold of what is to be followed.
  virtual void take_in() {}
  /// All threads of all of them stopped, and each told that it is being debugged. One outcome for each, in order;
  /// errors as `tracer::attach_all`.
  [[nodiscard]] virtual std::vector<result<void>> hold(std::span<const process_id> ranks) = 0;
  [[nodiscard]] virtual bool holds(process_id rank) const = 0;
  /// Those entries of the table whose ranks go on only when their gates are opened.
  [[nodiscard]] virtual std::vector<std::uint32_t> gates(const process_table& table, const mpir::job_facts& facts) = 0;
  /// As `job::lend` and `job::take_back`.
  [[nodiscard]] virtual result<bool> lend(process_id) { return true; }
  virtual void take_back(process_id) {}
  /// Whoever is stopped runs on, but for those at an event that nobody has been told of yet.
  [[nodiscard]] virtual result<void> run_on() = 0;
  /// Nobody is ours any more, and nobody is told that a tool is there. `how` is for those that are held; all others
  /// run.
  [[nodiscard]] virtual result<void> let_go(leave how) = 0;
  /// What became of a rank.
  virtual void handle(const process_event& event) = 0;
  /// Opens a rank's gate, where it is closed. The rank need not be held. False where there is none (yet): its program
  /// may not have been loaded so far. Errors, too, may be of a moment in the middle of an exec.
  [[nodiscard]] virtual result<bool> open_gate(process_id rank) = 0;

 protected:
  [[nodiscard]] std::optional<user_id> user() const { return user_; }

 private:
  std::optional<user_id> user_;
};

}  // namespace mpiacq
