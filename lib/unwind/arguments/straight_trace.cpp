// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "arguments/straight_trace.hpp"

namespace mpiacq::unwinding {

straight_trace::straight_trace() {
  for (value_id& value : registers_) value = values_.opaque();
}

void straight_trace::set(std::size_t number, value_id value) {
  registers_[number] = value == unknown_value ? values_.opaque() : value;
}

straight_trace::relation straight_trace::compare(const store& earlier, value_id address, std::size_t bytes) const {
  if (earlier.address == unknown_value) return relation::unclear;
  const auto a = values_.split(earlier.address);
  const auto b = values_.split(address);
  if (!a.has_same_base(b)) return relation::unclear;
  if (a.number == b.number && earlier.size == bytes) return relation::same;
  const bool overlap = a.number - b.number < bytes || b.number - a.number < earlier.size;
  return overlap ? relation::unclear : relation::apart;
}

value_id straight_trace::load(value_id address, std::size_t bytes) {
  if (address == unknown_value || (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)) return unknown_value;
  for (std::size_t i = stores_.size(); i-- > 0;) {
    const relation to_store = compare(stores_[i], address, bytes);
    if (to_store == relation::same && stores_[i].value != unknown_value) return stores_[i].value;
    if (to_store != relation::apart) break;
  }
  return values_.add({.kind = value_kind::load,
                      .bits = static_cast<std::uint8_t>(8 * bytes),
                      .left = address,
                      .number = stores_.size()});
}

void straight_trace::store_value(value_id address, std::size_t bytes, value_id value) {
  const auto bits = static_cast<unsigned>(8 * bytes);
  const value_id kept = bytes <= 8 ? values_.zero_extended(value, bits) : unknown_value;
  stores_.push_back({address, static_cast<std::uint32_t>(bytes), kept});
}

}  // namespace mpiacq::unwinding
