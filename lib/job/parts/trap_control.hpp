// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "mpiacq/process/tracer.hpp"

namespace mpiacq {

/// What a tracer puts into a stopped process. The functions are those of `tracer`. A test has its own.
class trap_control {
 public:
  virtual ~trap_control() = default;
  [[nodiscard]] virtual result<breakpoint_kind> insert_breakpoint(process_id process, target_address address,
                                                                  breakpoint_kind kind) = 0;
  [[nodiscard]] virtual result<void> remove_breakpoint(process_id process, target_address address) = 0;
  [[nodiscard]] virtual result<void> insert_watchpoint(process_id process, target_address address,
                                                       std::size_t length) = 0;
  [[nodiscard]] virtual result<void> remove_watchpoint(process_id process, target_address address) = 0;
  [[nodiscard]] virtual result<void> restore_on_exit(process_id process, target_address address,
                                                     std::span<const std::byte> bytes) = 0;
};

class tracer_traps final : public trap_control {
 public:
  explicit tracer_traps(tracer& control) : control_(control) {}
  result<breakpoint_kind> insert_breakpoint(process_id process, target_address address, breakpoint_kind kind) override {
    return control_.insert_breakpoint(process, address, kind);
  }
  result<void> remove_breakpoint(process_id process, target_address address) override {
    return control_.remove_breakpoint(process, address);
  }
  result<void> insert_watchpoint(process_id process, target_address address, std::size_t length) override {
    return control_.insert_watchpoint(process, address, length);
  }
  result<void> remove_watchpoint(process_id process, target_address address) override {
    return control_.remove_watchpoint(process, address);
  }
  result<void> restore_on_exit(process_id process, target_address address, std::span<const std::byte> bytes) override {
    return control_.restore_on_exit(process, address, bytes);
  }

 private:
  tracer& control_;
};

}  // namespace mpiacq
