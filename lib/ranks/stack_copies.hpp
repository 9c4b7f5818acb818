// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "mpiacq/base/memory.hpp"
#include "mpiacq/process/registers.hpp"
#include "mpiacq/process/tracer.hpp"

namespace mpiacq {

/// A process's memory with copies of the stacks of some threads, so that the stacks can be walked after the process was
/// released. All other memory is read from the live process. That is correct for code and unwind tables, which do not
/// change; `missed` reports reads of memory that may have changed.
class stack_copies final : public memory_reader {
 public:
  explicit stack_copies(process_id pid) : live_(pid) {}

  /// Copies the stack of each of these stopped threads, from its innermost page to the end of its mapping or to a fixed
  /// bound. Earlier copies are dropped. The stacks are first read into `room`. All ranks share it: each rank then keeps
  /// only as much memory as its stacks have bytes, and the kernel does not have to clear new pages for each rank.
  [[nodiscard]] result<void> copy(std::span<const thread_registers> threads, std::vector<std::byte>& room);
  /// Drops the copies: all memory is read from the process, which must be held.
  void forget();

  /// The copy from an address on; empty if the address is in none.
  [[nodiscard]] std::span<const std::byte> from(target_address address) const;

  /// A range of memory that does not change while the process runs: a mapping of a module.
  struct part {
    target_address begin;
    target_address end;
  };
  void set_lasting(std::vector<part> parts);

  /// Whether a read needed memory that was not copied and may have changed since. The result of such a walk is invalid.
  [[nodiscard]] bool missed() const { return missed_; }

  [[nodiscard]] result<void> read_ranges(std::span<memory_range> ranges) override;

 private:
  struct stack {
    target_address begin;
    std::vector<std::byte> bytes;
    bool whole = false;  ///< the mapping ends at the end of the copy
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
