// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "descriptors/unique_fd.hpp"
#include "mpiacq/process/loaded_code.hpp"
#include "mpiacq/process/tracer.hpp"
#include "mpiacq/process/unwinder.hpp"
#include "stack_copies.hpp"

namespace mpiacq {

/// What is kept of one process between its samples, so that the next one finds everything read but the stacks.
class rank_walker {
 public:
  /// Both are shared by the ranks of a job.
  rank_walker(process_id pid, std::shared_ptr<unwind_tables> tables, std::shared_ptr<module_catalogue> modules);

  /// Before it is held: learns its modules, so that while it is there is mostly nothing left to learn. What fails here
  /// fails again there.
  void prepare();
  /// While the process is held: copies the stacks of these threads, with `room` to work in.
  [[nodiscard]] result<void> copy(std::vector<thread_registers> threads, std::vector<std::byte>& room);
  /// Walks them, held or not. Empty where that cannot be believed: a walk came to memory that was not copied, or the
  /// modules are others than those that were learnt. Then the process is to be held again, and walked with `walk_held`.
  [[nodiscard]] result<std::optional<std::vector<raw_stack>>> walk(const walk_options& options);
  /// While the process is held: both in one.
  [[nodiscard]] result<std::vector<raw_stack>> walk_held(std::span<const thread_registers> threads,
                                                         const walk_options& options);
  /// By which what was walked is named; set after the first look.
  [[nodiscard]] const code_map& map() const { return *map_; }

 private:
  /// Identifies the program that runs and how much it has mapped; zeros if that cannot be read.
  struct image {
    std::array<std::uint64_t, 3> stack_and_code{};  ///< where the kernel has put them: an exec moves them
    std::uint64_t size = 0;
    friend bool operator==(const image&, const image&) = default;
  };
  [[nodiscard]] image image_now();
  [[nodiscard]] bool is_as_learnt();
  [[nodiscard]] result<void> learn_modules();

  process_id pid_;
  base::unique_fd stat_;  ///< /proc/PID/stat, which the kernel writes anew for each read from its beginning
  std::shared_ptr<unwind_tables> tables_;
  std::shared_ptr<module_catalogue> modules_;
  stack_copies memory_;
  std::unique_ptr<unwinder> unwinder_;
  std::optional<code_map> map_;
  std::vector<thread_registers> threads_;
  image seen_;
  std::vector<code_range> code_;
  deadline look_again_ = deadline::min();
};

}  // namespace mpiacq
