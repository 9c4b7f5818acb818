// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "tables/process_code.hpp"
#include "walk/frame_stepper.hpp"
#include "walk/rule_stepper.hpp"
#include "walk/stack_memory.hpp"

namespace mpiacq::unwinding {

/// The view of one process that its walks and libunwind share.
class process_view final : public stepper_view {
 public:
  process_view(const architecture& machine, shared_tables& tables, std::vector<unwind_module> modules,
               memory_reader& memory)
      : machine_(machine),
        code_(machine, tables, std::move(modules), memory),
        memory_(memory, machine.word_size),
        rules_(machine, *this) {}

  /// Prepares libunwind, which few walks need; its working memory is large. Errors: system (no memory).
  [[nodiscard]] result<void> prepare();

  [[nodiscard]] const architecture& machine() const { return machine_; }
  /// Call `prepare` first.
  [[nodiscard]] frame_stepper& stepper() { return *stepper_; }
  [[nodiscard]] rule_stepper& rules() { return rules_; }
  [[nodiscard]] stack_memory& memory() { return memory_; }
  /// The code at `pc`. Afterwards `table_word` reads the tables of this code.
  [[nodiscard]] process_code::place enter(target_address pc);
  /// All rules for the code at `pc`, which must have a frame.
  [[nodiscard]] std::optional<module_table::whole_row> row_at(const process_code::place& place, target_address pc) {
    return code_.row_at(place, pc);
  }
  /// The bytes of code that no table describes; empty if they cannot be read.
  [[nodiscard]] std::vector<std::byte> code_at(target_address pc);
  /// The error that concerns the whole target; returned once.
  [[nodiscard]] std::optional<error> failure();

  [[nodiscard]] std::optional<std::uint64_t> word(target_address address) override { return memory_.word(address); }
  [[nodiscard]] std::optional<std::uint64_t> table_word(target_address address) override;

 private:
  const architecture& machine_;
  process_code code_;
  stack_memory memory_;
  rule_stepper rules_;
  std::unique_ptr<frame_stepper> stepper_;
  process_code::loaded_module* current_ = nullptr;
};

/// The registers of a frame.
struct frame_registers {
  thread_registers registers;
  std::uint64_t known = 0;  ///< bit by number: the registers whose values could be had
};

/// Walks one stack whose `top` has been read. If the walk ends at `options.max_frames`, `next` gets the registers of
/// the frame behind the last one. Errors: only errors that concern the whole target.
[[nodiscard]] result<raw_stack> walk_stack(process_view& process, const thread_registers& thread,
                                           std::span<const std::byte> top, const walk_options& options,
                                           frame_registers* next = nullptr);

}  // namespace mpiacq::unwinding
