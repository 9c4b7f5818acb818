// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "mpiacq/base/abi.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/process/type_source.hpp"

namespace mpiacq::mqd_host {

/// A type as a library holds it: a number that stays good as long as one process is looked at.
using type_number = std::uint32_t;

/// What a library's callbacks are answered from: the process itself (`target_answers`), or, in the separate process,
/// the tool at the other end of a socket (`remote_answers`).
///
/// An error is the end: the process cannot be read any more, the other end has gone. That something is not there is an
/// empty answer.
class process_answers {
 public:
  virtual ~process_answers() = default;

  [[nodiscard]] virtual const target_abi& abi() const = 0;
  /// Whether the name is defined, and where; Fortran names as Fortran compilers make them.
  [[nodiscard]] virtual result<std::optional<std::uint64_t>> find_function(std::string_view name,
                                                                           source_language language) = 0;
  [[nodiscard]] virtual result<std::optional<std::uint64_t>> find_symbol(std::string_view name) = 0;
  [[nodiscard]] virtual result<std::optional<type_number>> find_type(std::string_view name,
                                                                     source_language language) = 0;
  /// -1 for a field that is not there; and for a number that we never gave.
  [[nodiscard]] virtual result<std::int64_t> field_offset(type_number type, std::string_view field) = 0;
  /// 0 for a number that we never gave.
  [[nodiscard]] virtual result<std::uint64_t> type_size(type_number type) = 0;
  /// All of it or nothing (false). Target bytes, as they stand there.
  [[nodiscard]] virtual result<bool> fetch(std::uint64_t address, std::span<std::byte> into) = 0;
};

}  // namespace mpiacq::mqd_host
