// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <type_traits>

#include "mpiacq/base/error.hpp"

/// Structures across the C interface: their first member says how much of them the other side knows.
namespace mpiacq::mpir {

/// What a caller set of a structure, the rest zero; what a newer caller knows beyond ours is left. Empty where it is
/// null, or cannot hold its own size.
template <class T>
[[nodiscard]] std::optional<T> known_part(const T* given) {
  static_assert(std::is_trivially_copyable_v<T> && offsetof(T, struct_size) == 0);
  if (given == nullptr || given->struct_size < sizeof given->struct_size) return std::nullopt;
  T part{};
  std::memcpy(&part, given, std::min(given->struct_size, sizeof part));
  return part;
}

/// Fills a caller's structure as far as the caller knows it. False where it is null or cannot hold its own size.
template <class T>
[[nodiscard]] bool hand_out(T made, T* into) {
  static_assert(std::is_trivially_copyable_v<T> && offsetof(T, struct_size) == 0);
  if (into == nullptr || into->struct_size < sizeof into->struct_size) return false;
  made.struct_size = into->struct_size;
  std::memcpy(into, &made, std::min(into->struct_size, sizeof made));
  return true;
}

[[nodiscard]] constexpr int code_of(error_code code) {
  return static_cast<int>(code) + 1;
}

}  // namespace mpiacq::mpir
