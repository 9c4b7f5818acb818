// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "mpiacq/base/error.hpp"
#include "mpiacq/process/registers.hpp"

/// The only interface to libunwind in this library.
namespace mpiacq::unwinding {

/// The memory of a process, as libunwind reads it.
class stepper_view {
 public:
  virtual ~stepper_view() = default;
  /// One word at any address; empty if it cannot be read.
  [[nodiscard]] virtual std::optional<std::uint64_t> word(target_address address) = 0;
  /// One word of the tables that describe the current frame; empty if the address is outside these tables.
  [[nodiscard]] virtual std::optional<std::uint64_t> table_word(target_address address) = 0;
};

/// The record that describes the current frame, in run-time addresses.
struct record_address {
  target_address record;
  target_address code_begin;
  target_address code_end;
};

/// The result of a step.
enum class step_result : std::uint8_t {
  stepped,
  outermost,   ///< the frame has no caller
  unreadable,  ///< memory that the step needs cannot be read: `unreadable_at`
  refused,     ///< the tables have a rule that cannot be followed
};

/// Steps from one frame to its caller.
class frame_stepper {
 public:
  /// `view` must outlive this object. Errors: system (no memory).
  [[nodiscard]] static result<std::unique_ptr<frame_stepper>> create(stepper_view& view);
  ~frame_stepper();
  frame_stepper(const frame_stepper&) = delete;
  frame_stepper& operator=(const frame_stepper&) = delete;

  /// Begins at a frame. `by_call`: its pc is a return address, so the rules before this pc apply.
  [[nodiscard]] bool begin(const thread_registers& registers, bool by_call);
  /// Steps to the caller of a frame that `record` describes; without a record, to the code that a signal interrupted.
  [[nodiscard]] step_result step(const std::optional<record_address>& record);

  [[nodiscard]] target_address pc() const;
  [[nodiscard]] target_address sp() const;
  [[nodiscard]] target_address unreadable_at() const;
  /// All registers of this frame that the tables can restore; the others are 0.
  [[nodiscard]] thread_registers registers() const;
  /// Whether the value of this register in this frame can be had.
  [[nodiscard]] bool knows(std::size_t number) const;

 private:
  struct state;
  explicit frame_stepper(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

}  // namespace mpiacq::unwinding
