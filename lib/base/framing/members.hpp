// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The members of structures that travel between processes: as bytes on one machine (wire.hpp), and as documents between
// nodes, where each member has a key.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "mpiacq/base/error.hpp"

namespace mpiacq {

/// A member and its key in documents.
template <class Pointer>
struct member {
  std::string_view key;
  Pointer pointer;
};
template <class Pointer>
member(const char*, Pointer) -> member<Pointer>;

/// The members of T that travel, as a tuple: pointers to members, or `member` for a structure of documents. Specialised
/// once for each structure.
template <class T>
inline constexpr std::nullptr_t members = nullptr;

template <>
inline constexpr auto members<error> =
    std::tuple{member{"code", &error::code}, member{"errno", &error::system_errno}, member{"address", &error::address},
               member{"path", &error::path}, member{"message", &error::message}};

template <class T>
concept has_members = !std::same_as<std::remove_cvref_t<decltype(members<T>)>, std::nullptr_t>;

namespace base {

template <class Pointer>
constexpr Pointer pointer_of(const member<Pointer>& one) {
  return one.pointer;
}
template <class Pointer>
constexpr Pointer pointer_of(Pointer one) {
  return one;
}

}  // namespace base

}  // namespace mpiacq
