// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "mpiacq/job/process_table.hpp"
#include "mpiacq/mpir/mpir_acquisition.hpp"
#include "mpiacq/process/tracer.hpp"
#include "parts/local_gates.hpp"

namespace mpiacq {

/// What a job does to its ranks on this node beside the starter. MPIR's ranks are left alone until the caller wants
/// them held. MPI2DD's ranks are followed, because they raise events.
class rank_control : public gate_opener {
 public:
  /// The starter's user (process_table::user): from now on no process of another user is held or written to.
  void belong_to(std::optional<user_id> starters) { user_ = starters; }

  /// Attaches to the ranks that are to be followed, before the job runs on.
  virtual void follow_new() {}
  /// Stops all threads of all of these ranks, and tells each that it is being debugged. One outcome for each, in order;
  /// errors as `tracer::attach_all`.
  [[nodiscard]] virtual std::vector<result<void>> hold(std::span<const process_id> ranks) = 0;
  [[nodiscard]] virtual bool holds(process_id rank) const = 0;
  /// The rank stands at the entry point of its program.
  [[nodiscard]] virtual bool is_before_main(process_id) const { return false; }
  /// Those entries of the table whose ranks go on only when their gates are opened.
  [[nodiscard]] virtual std::vector<entry_index> gates(const process_table& table, const mpir::job_facts& facts) = 0;
  /// As `job::lend`.
  [[nodiscard]] virtual result<bool> lend(process_id) { return true; }
  /// The rank is not lent any more. True where it was.
  [[nodiscard]] virtual bool end_loan(process_id) { return false; }
  /// Resumes the stopped ranks that do not stand at an event.
  virtual void run_on_idle() {}
  /// Resumes the stopped ranks, but for those with an event that the caller has not taken yet.
  [[nodiscard]] virtual result<void> run_on() = 0;
  /// Lets go of all ranks, and takes back in each that a tool is there. `how` is for those that are held; all others
  /// run.
  [[nodiscard]] virtual result<void> let_go(leave how) = 0;
  /// What became of a rank.
  virtual void handle(const process_event& event) = 0;

 protected:
  [[nodiscard]] std::optional<user_id> user() const { return user_; }
  /// Attaches once to each of the ranks that `holds` denies. One outcome for each, in order: an error of
  /// `tracer::attach_all`, or the outcome of `begin`, which is called with each rank that has been attached to.
  [[nodiscard]] std::vector<result<void>> attach_to(std::span<const process_id> ranks, tracer& control,
                                                    const std::function<result<void>(process_id)>& begin) const;
  /// The event says that the process is traced no more.
  [[nodiscard]] static bool is_gone(const process_event& event);

 private:
  std::optional<user_id> user_;
};

}  // namespace mpiacq
