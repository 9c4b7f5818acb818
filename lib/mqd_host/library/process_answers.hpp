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

/// A library's handle for a type: a number that is valid during one session.
using type_number = std::uint32_t;

/// The source of the callbacks' answers: the process itself (`target_answers`), or, in the separate process, the tool
/// at the other end of a socket (`remote_answers`).
///
/// An error ends the session: the process cannot be read any more, or the other end has closed the socket. An empty
/// answer means that the name, type or field does not exist.
class process_answers {
 public:
  virtual ~process_answers() = default;

  [[nodiscard]] virtual const target_abi& abi() const = 0;
  /// The address of a function, or empty. A Fortran name is looked up in the forms that Fortran compilers use.
  [[nodiscard]] virtual result<std::optional<std::uint64_t>> find_function(std::string_view name,
                                                                           source_language language) = 0;
  [[nodiscard]] virtual result<std::optional<std::uint64_t>> find_symbol(std::string_view name) = 0;
  [[nodiscard]] virtual result<std::optional<type_number>> find_type(std::string_view name,
                                                                     source_language language) = 0;
  /// In bytes; -1 for a field that does not exist, and for an unknown type number.
  [[nodiscard]] virtual result<std::int64_t> field_offset(type_number type, std::string_view field) = 0;
  /// In bytes; 0 for an unknown type number.
  [[nodiscard]] virtual result<std::uint64_t> type_size(type_number type) = 0;
  /// Reads all bytes or none (false), in the target's byte order.
  [[nodiscard]] virtual result<bool> fetch(std::uint64_t address, std::span<std::byte> into) = 0;
};

}  // namespace mpiacq::mqd_host
