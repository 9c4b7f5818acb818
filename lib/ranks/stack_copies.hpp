// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "mpiacq/base/memory.hpp"
#include "mpiacq/process/registers.hpp"
#include "mpiacq/process/tracer.hpp"

namespace mpiacq {

/// A process's memory in which the stacks of some threads are as they were when they were copied, so that they can be
/// walked after the process was let go. Everything else is read from the process as it is now: that is right for code
/// and unwind tables, which stay, and noticed for what may change.
class stack_copies final : public memory_reader {
 public:
  explicit stack_copies(process_id pid) : live_(pid) {}

  /// Copies the stack of each of these stopped threads, from its innermost page on to the end of its mapping or to a
  /// bound of ours. What was copied before is forgotten. `room` is what the stacks are read into first: where all ranks
  /// share it, each keeps no more memory than its stacks have bytes, and the kernel does not have to clear new pages
  /// for each.
  [[nodiscard]] result<void> copy(std::span<const thread_registers> threads, std::vector<std::byte>& room);
  /// From here on everything is read from the process, which stands still.
  void forget();

  /// Where the process has what does not change while it runs: its modules.
  struct part {
    target_address begin;
    target_address end;
  };
  void set_lasting(std::vector<part> parts);

  /// Whether somebody has asked for memory that was not copied and may have changed since: what was made of it must
  /// not be believed.
  [[nodiscard]] bool missed() const { return missed_; }

  [[nodiscard]] result<void> read_ranges(std::span<memory_range> ranges) override;

 private:
  struct stack {
    target_address begin;
    std::vector<std::byte> bytes;
    bool whole = false;  ///< memory ends where the copy ends
  };
  [[nodiscard]] result<void> copy_tops(std::span<const thread_registers> threads, std::size_t first,
                                       std::vector<std::byte>& room);
  [[nodiscard]] result<void> copy_rests(std::vector<std::byte>& room);
  [[nodiscard]] const stack* holding(target_address address) const;
  [[nodiscard]] bool is_lasting(const memory_range& range) const;

  process_memory live_;
  std::vector<part> lasting_;  ///< by address
  std::vector<stack> stacks_;
  bool copied_ = false;
  bool missed_ = false;
};

}  // namespace mpiacq
