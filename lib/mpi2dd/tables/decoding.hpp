// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "columns/address_ids.hpp"
#include "columns/target_integer.hpp"
#include "mpiacq/base/abi.hpp"

namespace mpiacq::mpi2dd {

/// One column of pointers while it is decoded: numbers of addresses. It caches the last one, which most entries repeat.
struct pointer_column {
  address_ids::cursor at;
  std::uint64_t last_address = 0;
  std::uint32_t last_id = address_ids::null_id;

  std::uint32_t number(address_ids& ids, std::uint64_t address) {
    if (address != last_address) {
      last_address = address;
      last_id = ids.id(at, address);
    }
    return last_id;
  }
};

/// Calls `decode.template operator()<Order, PointerSize>()` with the byte order and the pointer size of the target.
template <class Decode>
void for_abi(const target_abi& abi, Decode decode) {
  const bool little = abi.order == byte_order::little;
  if (abi.pointer_size == 8) {
    return little ? decode.template operator()<byte_order::little, 8>()
                  : decode.template operator()<byte_order::big, 8>();
  }
  little ? decode.template operator()<byte_order::little, 4>() : decode.template operator()<byte_order::big, 4>();
}

template <byte_order Order>
std::int32_t load_signed_32(const std::byte* at) {
  return static_cast<std::int32_t>(load_integer<Order, 4>(at));
}

}  // namespace mpiacq::mpi2dd
