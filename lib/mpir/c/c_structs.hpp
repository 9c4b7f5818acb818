// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <type_traits>

#include "mpiacq/base/error.hpp"

/// Structures of the C interface: the first member gives the size that the other side was compiled with.
namespace mpiacq::mpir {

/// Copies the members that the caller's version of a structure has, and sets the rest to zero. Members that only a
/// newer caller knows are ignored. Empty if the pointer is null or the size does not cover the size member.
template <class T>
[[nodiscard]] std::optional<T> known_part(const T* given) {
  static_assert(std::is_trivially_copyable_v<T> && offsetof(T, struct_size) == 0);
  if (given == nullptr || given->struct_size < sizeof given->struct_size) return std::nullopt;
  T part{};
  std::memcpy(&part, given, std::min(given->struct_size, sizeof part));
  return part;
}

/// Fills the members that the caller's version of a structure has. False if the pointer is null or the size does not
/// cover the size member.
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
