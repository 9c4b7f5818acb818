// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/process/tracer.hpp"
#include "mpiacq/ranks/rank_options.hpp"
#include "mpiacq/ranks/rank_report.hpp"
#include "stack_taker.hpp"

namespace mpiacq {

/// Whether a rank has no queues for the reason that its process has ended: it sends and receives nothing more.
[[nodiscard]] bool has_ended(process_id pid, const result<queue_report>& report);

/// Reads the message queues of processes, time and again. What is found out about types and symbols is kept.
class queue_taker {
 public:
  /// `stacks` shares our grip.
  queue_taker(rank_stopper& grip, stack_taker& stacks) : grip_(grip), stacks_(stacks) {}

  /// One report for each rank, in order.
  [[nodiscard]] group_queues take(std::span<const wanted_rank> ranks, const rank_queue_options& options);

 private:
  /// One process while it is read. Its memory and its files are of no use after that: it runs again, and a job may have
  /// more processes than this program may have descriptors.
  struct process {
    explicit process(process_id pid) : memory(pid), cache(memory) {}
    process_memory memory;
    page_cache cache;
    std::unique_ptr<process_symbols> symbols;
    std::unique_ptr<type_source> types;
  };
  /// One rank on its way to its report.
  struct pending {
    const wanted_rank* rank = nullptr;
    std::optional<std::uint32_t> owner;
    std::string image;  ///< the path of its program; set while it is read
    bool held = false;
    result<queue_report> report = queue_report{};
    std::optional<std::string> pml = {};
    std::vector<thread_stack> threads = {};
    rank_activity doing = {};
    /// Why its report is not to be believed, whatever the report says. Only this is written while others are read.
    std::optional<error> lost = {};
  };

  [[nodiscard]] result<void> get_types(const queue_types_options& options);
  /// Before they are held.
  void make_missing_types(const std::vector<pending>& all, const queue_types_options& options);
  /// While it is held; on any thread.
  void read(pending& one, const rank_queue_options& options) const;
  void read_process(process& subject, pending& one, const rank_queue_options& options) const;
  [[nodiscard]] result<queue_report> read_with(process& subject, const std::string& library, const pending& one,
                                               const queue_host_options& how) const;
  static void look_at_pml(process& subject, pending& one);
  void read_all(std::vector<pending>& all, const rank_queue_options& options, group_queues& taken);
  /// Reads those at these places and lets each go. Which ones were read before anybody said stop.
  [[nodiscard]] std::vector<bool> read_held(std::vector<pending>& all, const std::vector<std::size_t>& places,
                                            const rank_queue_options& options, group_queues& taken);
  /// What those at these places are doing; all of them are held.
  void look_at_stacks(std::vector<pending>& all, const std::vector<std::size_t>& places, group_queues& taken);
  void hold(std::vector<pending>& all);
  /// Lets those go that are ours, and have been read.
  void let_go(std::vector<pending>& all, const std::vector<std::size_t>& done);

  rank_stopper& grip_;
  stack_taker& stacks_;
  std::unique_ptr<queue_types> types_;
  queue_types_options types_asked_;
  // The ranks and programs that have an MPI, and for which missing types were made if that was possible.
  std::set<process_id> ranks_with_types_;
  std::set<std::string> images_with_types_;
  std::size_t notes_told_ = 0;
};

}  // namespace mpiacq
