// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "mpiacq/base/error.hpp"
#include "mpiacq/process/registers.hpp"

/// libunwind behind a wall: the only place that knows it.
namespace mpiacq::unwinding {

/// What libunwind sees of a process.
class stepper_view {
 public:
  virtual ~stepper_view() = default;
  /// One word at any address. Empty: it cannot be read.
  [[nodiscard]] virtual std::optional<std::uint64_t> word(target_address address) = 0;
  /// One word of the tables that the frame in work is described in. Empty: it is none of theirs.
  [[nodiscard]] virtual std::optional<std::uint64_t> table_word(target_address address) = 0;
};

/// The record that describes the frame in work, by run-time addresses.
struct record_address {
  target_address record;
  target_address code_begin;
  target_address code_end;
};

/// How a step came out.
enum class step_result : std::uint8_t {
  stepped,
  outermost,   ///< the frame has no caller
  unreadable,  ///< memory that it led to could not be read: `unreadable_at`
  refused,     ///< the tables say something that cannot be followed
};

/// Goes from one frame to its caller.
class frame_stepper {
 public:
  /// `view` must outlive this. Errors: system (no memory).
  [[nodiscard]] static result<std::unique_ptr<frame_stepper>> create(stepper_view& view);
  ~frame_stepper();
  frame_stepper(const frame_stepper&) = delete;
  frame_stepper& operator=(const frame_stepper&) = delete;

  /// Begins at a frame. `by_call`: its pc was left by a call, so that the rules are those before it.
  [[nodiscard]] bool begin(const thread_registers& registers, bool by_call);
  /// To the caller of a frame that `record` describes; without one, of a frame that a signal has pushed.
  [[nodiscard]] step_result step(const std::optional<record_address>& record);

  [[nodiscard]] target_address pc() const;
  [[nodiscard]] target_address sp() const;
  [[nodiscard]] target_address unreadable_at() const;
  /// All registers of this frame that the tables still know; the others are 0.
  [[nodiscard]] thread_registers registers() const;

 private:
  struct state;
  explicit frame_stepper(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

}  // namespace mpiacq::unwinding
