// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace mpiacq::unwinding {

/// How a value is made from other values.
enum class value_kind : std::uint8_t {
  unknown,         ///< nothing is known of it
  opaque,          ///< a value without a known origin; `number` tells it from others
  constant,        ///< `number`
  code_address,    ///< the beginning of the module plus `number`
  at_call,         ///< the value of register `number` when the call was made
  at_entry,        ///< the value of register `number` when the caller itself was called
  frame_address,   ///< the stack pointer of the caller's caller (DWARF's CFA)
  offset,          ///< `left` plus `number`
  load,            ///< the `bits` bits of memory at `left`, extended with zeros, after the first `number` stores
  unless_stored,   ///< `left`, if no store after the first `number` stores has changed `bits` bits of memory at `right`
  zero_extended,   ///< the low `bits` bits of `left`, extended with zeros
  sign_extended,   ///< the low `bits` bits of `left`, extended by their sign
  sum,             ///< `left` + `right`
  difference,      ///< `left` - `right`
  product,         ///< `left` * `right`
  bits_of_both,    ///< `left` & `right`
  bits_of_either,  ///< `left` | `right`
  bits_that_differ,  ///< `left` ^ `right`
  shifted_left,      ///< `left` << `number`
  shifted_right      ///< `left` >> `number`, filled with zeros
};

/// The place of a value in its graph. 0 is the unknown value.
using value_id = std::uint16_t;
inline constexpr value_id unknown_value = 0;

/// One value of a graph. Equal values have the same id.
struct value_node {
  value_kind kind = value_kind::unknown;
  std::uint8_t bits = 0;
  value_id left = unknown_value;
  value_id right = unknown_value;
  std::uint64_t number = 0;
  friend auto operator<=>(const value_node&, const value_node&) = default;
};

/// The result of a kind that computes with constants (from `offset` on, without loads).
[[nodiscard]] std::uint64_t computed(const value_node& node, std::uint64_t left, std::uint64_t right);

/// Values that instructions make of each other. A value refers only to values with smaller ids.
class value_graph {
 public:
  /// The graph of one piece of straight code stays far below this. What does not fit is unknown.
  static constexpr std::size_t most = 8192;

  value_graph();

  [[nodiscard]] const value_node& operator[](value_id id) const { return nodes_[id]; }
  [[nodiscard]] std::span<const value_node> nodes() const { return nodes_; }

  /// The id of a node, simplified. Unknown if it depends on an unknown value, or if the graph is full.
  value_id add(const value_node& node);
  /// A value without a known origin, different from all others.
  value_id opaque();
  value_id constant(std::uint64_t number) { return add({.kind = value_kind::constant, .number = number}); }
  value_id code_address(std::uint64_t offset) { return add({.kind = value_kind::code_address, .number = offset}); }
  value_id offset(value_id left, std::uint64_t number) {
    return add({.kind = value_kind::offset, .left = left, .number = number});
  }
  value_id zero_extended(value_id left, unsigned bits);
  value_id sign_extended(value_id left, unsigned bits);
  value_id binary(value_kind kind, value_id left, value_id right) {
    return add({.kind = kind, .left = left, .right = right});
  }
  value_id shifted(value_kind kind, value_id left, std::uint64_t count) {
    return count == 0 ? left : add({.kind = kind, .left = left, .number = count});
  }

  /// A value as another value plus a number.
  struct split_value {
    value_id base = unknown_value;  ///< unknown: the value is the number alone
    bool in_module = false;         ///< the number is relative to the module
    std::uint64_t number = 0;
    [[nodiscard]] bool has_same_base(const split_value& other) const {
      return base == other.base && in_module == other.in_module;
    }
  };
  [[nodiscard]] split_value split(value_id id) const;

 private:
  [[nodiscard]] value_node simplified(value_node node) const;
  [[nodiscard]] bool has_unknown_part(const value_node& node) const;
  [[nodiscard]] bool is_constant(value_id id) const { return nodes_[id].kind == value_kind::constant; }

  std::vector<value_node> nodes_;
  std::map<value_node, value_id> ids_;
  std::uint64_t opaque_count_ = 0;
};

}  // namespace mpiacq::unwinding
