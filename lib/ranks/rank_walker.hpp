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

/// The data of one process that is kept between samples, so that the next sample reads only the stacks.
class rank_walker {
 public:
  /// The ranks of a job share `tables` and `modules`.
  rank_walker(process_id pid, std::shared_ptr<unwind_tables> tables, std::shared_ptr<module_catalogue> modules);

  /// Reads the modules of the process. Called before the hold, so that the hold is short. An error here is not
  /// reported: the same step fails again in the hold.
  void prepare();
  /// Copies the stacks of these threads; `room` is working space. The process is held.
  [[nodiscard]] result<void> copy(std::vector<thread_registers> threads, std::vector<std::byte>& room);
  /// Unwinds the copied stacks. The process may run. Empty if the result would be unreliable: the walk needed memory
  /// that was not copied, or the modules have changed. In this case the process must be held again and walked with
  /// `walk_held`.
  [[nodiscard]] result<std::optional<std::vector<raw_stack>>> walk(const walk_options& options);
  /// Reads and unwinds the stacks in one step. The process is held.
  [[nodiscard]] result<std::vector<raw_stack>> walk_held(std::span<const thread_registers> threads,
                                                         const walk_options& options);
  /// The first `count` arguments of the call that made frame number `frame` of a thread of the last walk. The process
  /// is held since its registers were read. Errors: as `unwinder::arguments`; not_found (no such thread was walked).
  [[nodiscard]] result<call_arguments> arguments(thread_id thread, std::size_t frame, std::size_t count,
                                                 const find_call_description& describe,
                                                 const find_parameter_places& places);
  /// The registers of a thread of the last walk; null if it was not walked.
  [[nodiscard]] const thread_registers* registers_of(thread_id thread) const;
  /// The copy that the last walk has used, from an address on; empty if it has used none.
  [[nodiscard]] std::span<const std::byte> copied_from(target_address address) const { return memory_.from(address); }
  /// As `unwinder::kept_registers`, from the copy. Empty if they cannot be had.
  [[nodiscard]] std::optional<thread_registers> kept_registers(thread_id thread, std::size_t frame);
  /// The code map that names the frames of the walks; set after the first look.
  [[nodiscard]] const code_map& map() const { return *map_; }
  /// The executable mappings at the last look, in the order of addresses.
  [[nodiscard]] std::span<const code_range> code() const { return code_; }

 private:
  /// Identifies the running program and the size of its mappings; zeros if they cannot be read.
  struct image {
    std::array<std::uint64_t, 3> stack_and_code{};  ///< the addresses that the kernel chose; an exec changes them
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
