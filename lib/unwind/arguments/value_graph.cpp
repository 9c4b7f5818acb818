// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "arguments/value_graph.hpp"

#include <utility>

namespace mpiacq::unwinding {

namespace {

std::uint64_t low_bits(std::uint64_t value, unsigned bits) {
  return bits >= 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}

std::uint64_t extended_by_sign(std::uint64_t value, unsigned bits) {
  if (bits == 0 || bits >= 64) return value;
  const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
  return (low_bits(value, bits) ^ sign) - sign;
}

bool has_right(value_kind kind) {
  switch (kind) {
    case value_kind::unless_stored:
    case value_kind::sum:
    case value_kind::difference:
    case value_kind::product:
    case value_kind::bits_of_both:
    case value_kind::bits_of_either:
    case value_kind::bits_that_differ:
      return true;
    default:
      return false;
  }
}

bool is_computed(value_kind kind) {
  return kind == value_kind::offset || kind >= value_kind::zero_extended;
}

}  // namespace

std::uint64_t computed(const value_node& node, std::uint64_t left, std::uint64_t right) {
  switch (node.kind) {
    case value_kind::offset:
      return left + node.number;
    case value_kind::zero_extended:
      return low_bits(left, node.bits);
    case value_kind::sign_extended:
      return extended_by_sign(left, node.bits);
    case value_kind::sum:
      return left + right;
    case value_kind::difference:
      return left - right;
    case value_kind::product:
      return left * right;
    case value_kind::bits_of_both:
      return left & right;
    case value_kind::bits_of_either:
      return left | right;
    case value_kind::bits_that_differ:
      return left ^ right;
    case value_kind::shifted_left:
      return node.number < 64 ? left << node.number : 0;
    case value_kind::shifted_right:
      return node.number < 64 ? left >> node.number : 0;
    default:
      return 0;
  }
}

value_graph::value_graph() {
  nodes_.emplace_back();
}

bool value_graph::has_unknown_part(const value_node& node) const {
  const bool is_leaf = node.kind <= value_kind::frame_address;
  return !is_leaf && (node.left == unknown_value || (has_right(node.kind) && node.right == unknown_value));
}

value_node value_graph::simplified(value_node node) const {
  const value_node& left = nodes_[node.left];
  const bool on_constants = is_constant(node.left) && (!has_right(node.kind) || is_constant(node.right));
  if (is_computed(node.kind) && on_constants) {
    return {.kind = value_kind::constant, .number = computed(node, left.number, nodes_[node.right].number)};
  }
  if (node.kind == value_kind::sum && is_constant(node.left)) std::swap(node.left, node.right);
  if (node.kind == value_kind::sum && is_constant(node.right)) {
    node = {.kind = value_kind::offset, .left = node.left, .number = nodes_[node.right].number};
  }
  if (node.kind == value_kind::difference && is_constant(node.right)) {
    node = {.kind = value_kind::offset, .left = node.left, .number = 0 - nodes_[node.right].number};
  }
  if (node.kind != value_kind::offset) return node;
  const value_node& base = nodes_[node.left];
  if (base.kind == value_kind::code_address) {
    return {.kind = value_kind::code_address, .number = base.number + node.number};
  }
  if (base.kind == value_kind::offset) {
    return {.kind = value_kind::offset, .left = base.left, .number = base.number + node.number};
  }
  return node;
}

value_id value_graph::add(const value_node& node) {
  if (node.kind == value_kind::unknown || has_unknown_part(node)) return unknown_value;
  const value_node wanted = simplified(node);
  if (wanted.kind == value_kind::offset && wanted.number == 0) return wanted.left;
  const bool is_by_one =
      wanted.kind == value_kind::product && is_constant(wanted.right) && nodes_[wanted.right].number == 1;
  if (is_by_one) return wanted.left;
  if (const auto known = ids_.find(wanted); known != ids_.end()) return known->second;
  if (nodes_.size() >= most) return unknown_value;
  const auto id = static_cast<value_id>(nodes_.size());
  nodes_.push_back(wanted);
  ids_.emplace(wanted, id);
  return id;
}

value_id value_graph::opaque() {
  return add({.kind = value_kind::opaque, .number = ++opaque_count_});
}

value_id value_graph::zero_extended(value_id left, unsigned bits) {
  const value_node& node = nodes_[left];
  const bool is_short = (node.kind == value_kind::zero_extended || node.kind == value_kind::load) && node.bits <= bits;
  if (bits >= 64 || is_short) return left;
  const bool is_extension = node.kind == value_kind::zero_extended || node.kind == value_kind::sign_extended;
  if (is_extension && node.bits >= bits)
    return zero_extended(node.left, bits);  // its own extension lies above these bits
  return add({.kind = value_kind::zero_extended, .bits = static_cast<std::uint8_t>(bits), .left = left});
}

value_id value_graph::sign_extended(value_id left, unsigned bits) {
  if (bits >= 64) return left;
  return add({.kind = value_kind::sign_extended, .bits = static_cast<std::uint8_t>(bits), .left = left});
}

value_graph::split_value value_graph::split(value_id id) const {
  const value_node& node = nodes_[id];
  if (node.kind == value_kind::constant) return {.number = node.number};
  if (node.kind == value_kind::code_address) return {.in_module = true, .number = node.number};
  if (node.kind == value_kind::offset) return {.base = node.left, .number = node.number};
  return {.base = id};
}

}  // namespace mpiacq::unwinding
