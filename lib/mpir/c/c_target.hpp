// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "mpiacq/base/memory.hpp"
#include "mpiacq/mpir/mpir.h"
#include "mpiacq/process/symbols.hpp"

namespace mpiacq::mpir {

/// A target whose memory and symbols come from the caller's C functions. It checks their results and exists for one
/// call.
class c_target final : public memory_reader, public memory_writer, public symbol_source {
 public:
  /// `given` has been checked.
  explicit c_target(const mpiacq_target& given);

  [[nodiscard]] static result<mpiacq_target> check(const mpiacq_target* given);
  [[nodiscard]] target view() { return {*this, given_.write != nullptr ? this : nullptr, abi_, *this}; }

  [[nodiscard]] result<void> read_ranges(std::span<memory_range> ranges) override;
  [[nodiscard]] result<void> write(target_address address, std::span<const std::byte> bytes) override;
  [[nodiscard]] result<std::vector<std::optional<symbol>>> look_up(std::span<const std::string_view> names,
                                                                   const symbol_scope& scope) override;
  [[nodiscard]] result<std::optional<structure_layout>> layout_pointed_to_by(const symbol& variable,
                                                                             const symbol* near) override;

 private:
  [[nodiscard]] result<std::optional<symbol>> ask(std::string_view name);

  mpiacq_target given_;
  target_abi abi_;
  std::shared_ptr<const module> program_;
  // A debugger searches the whole program in one call, so a second search of the files finds nothing new.
  std::map<std::string, std::optional<symbol>, std::less<>> asked_;
};

}  // namespace mpiacq::mpir
