// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "mpiacq/base/abi.hpp"

namespace mpiacq {

namespace detail {
template <byte_order Order, std::size_t... I>
std::uint64_t load_bytes(const std::byte* at, std::index_sequence<I...> /*indexes*/) {
  constexpr std::size_t size = sizeof...(I);
  return ((std::to_integer<std::uint64_t>(at[I]) << (8 * (Order == byte_order::little ? I : size - 1 - I))) | ...);
}
}  // namespace detail

/// An unsigned integer of the target, if its byte order and size are compile-time constants: compilers make one
/// instruction of it. The caller has checked that the bytes exist.
template <byte_order Order, std::size_t Size>
std::uint64_t load_integer(const std::byte* at) {
  return detail::load_bytes<Order>(at, std::make_index_sequence<Size>());
}

}  // namespace mpiacq
