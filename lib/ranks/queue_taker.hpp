// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "call_reader.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/process/tracer.hpp"
#include "mpiacq/ranks/rank_options.hpp"
#include "mpiacq/ranks/rank_report.hpp"
#include "stack_taker.hpp"

namespace mpiacq {

/// Whether the rank's process has ended, so that it has no queues any more.
[[nodiscard]] bool has_ended(process_id pid, const result<queue_report>& report);

/// Reads the message queues of processes, repeatedly. Types and symbols stay cached between the calls.
class queue_taker {
 public:
  /// `stacks` must use the same stopper.
  queue_taker(rank_stopper& grip, stack_taker& stacks) : grip_(grip), stacks_(stacks) {}

  /// One report for each rank, in order.
  [[nodiscard]] group_queues take(std::span<const wanted_rank> ranks, const rank_queue_options& options);

 private:
  /// One process while it is read. The object is destroyed when the process is released, because a job can have more
  /// processes on this node than this program can have descriptors.
  struct process {
    explicit process(process_id pid) : memory(pid), cache(memory) {}
    process_memory memory;
    page_cache cache;
    std::unique_ptr<process_symbols> symbols;
    std::unique_ptr<type_source> types;
  };
  /// The progress of one rank.
  struct pending {
    const wanted_rank* rank = nullptr;
    std::optional<std::uint32_t> owner;
    std::string image;  ///< the path of its program; set while it is read
    bool held = false;
    result<queue_report> report = queue_report{};
    std::optional<std::string> pml = {};
    std::vector<thread_stack> threads = {};
    read_call call = {};  ///< of the first thread
    rank_activity doing = {};
    /// Why the report is invalid, whatever it contains. While other ranks are being read, only this member is written.
    std::optional<error> lost = {};
  };

  [[nodiscard]] result<void> get_types(const queue_types_options& options);
  /// Runs before the ranks are held.
  void make_missing_types(const std::vector<pending>& all, const queue_types_options& options);
  /// Runs while the rank is held, on any thread.
  void read(pending& one, const rank_queue_options& options) const;
  void read_process(process& subject, pending& one, const rank_queue_options& options) const;
  [[nodiscard]] result<queue_report> read_with(process& subject, const std::string& library, const pending& one,
                                               const queue_host_options& how) const;
  static void look_at_pml(process& subject, pending& one);
  /// Adds the unexpected messages, if the debug information of the PML shows where they are.
  void look_at_unexpected(process& subject, target& stopped, queue_report& report) const;
  void read_all(std::vector<pending>& all, const rank_queue_options& options, group_queues& taken);
  /// Reads the ranks at these places and releases each of them. Returns which ranks were read before the caller
  /// cancelled.
  [[nodiscard]] std::vector<bool> read_held(std::vector<pending>& all, const std::vector<std::size_t>& places,
                                            const rank_queue_options& options, group_queues& taken);
  /// Finds the calls of the ranks at these places, which are all held.
  void look_at_stacks(std::vector<pending>& all, const std::vector<std::size_t>& places,
                      const rank_queue_options& options, group_queues& taken);
  void hold(std::vector<pending>& all);
  /// Releases those of the ranks in `done` that this look has held.
  void let_go(std::vector<pending>& all, const std::vector<std::size_t>& done);

  rank_stopper& grip_;
  stack_taker& stacks_;
  std::unique_ptr<queue_types> types_;
  queue_types_options types_asked_;
  // The ranks and programs that have an MPI and for which missing types were made, if that was possible.
  std::set<process_id> ranks_with_types_;
  std::set<std::string> images_with_types_;
  std::size_t notes_told_ = 0;
};

}  // namespace mpiacq
