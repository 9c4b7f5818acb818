// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "arguments/recipe_builder.hpp"

#include <algorithm>
#include <optional>

namespace mpiacq::unwinding {

namespace {

/// Compilers make shallow expressions; a chain of instructions may be a deep one.
constexpr std::size_t deepest = 32;

class builder {
 public:
  builder(straight_trace& trace, const call_convention& convention) : trace_(trace), convention_(convention) {
    find_kept_values();
    find_stored_values();
  }

  [[nodiscard]] call_recipe build(value_id target) {
    if (trace_.stores().size() > call_recipe::most_stores) return refused();
    recipe_.stores.resize(trace_.stores().size());
    // A load is evaluated after the addresses of later stores, because they can make it unknown.
    for (std::size_t i = recipe_.stores.size(); i-- > 0;) {
      const straight_trace::store& store = trace_.stores()[i];
      recipe_.stores[i] = {resolve(store.address, 0), store.size};
    }
    recipe_.target = resolve(target, 0);
    for (const std::uint8_t number : convention_.arguments) {
      recipe_.in_registers.push_back({resolve(trace_.get(number), 0)});
    }
    for (std::size_t i = 0; i < call_recipe::most_stack_arguments; ++i) {
      recipe_.on_stack.push_back(stack_argument(i * call_recipe::stack_slot));
    }
    const auto made = graph_.nodes();
    if (made.size() > call_recipe::most_values) return refused();
    recipe_.values.assign(made.begin(), made.end());
    return std::move(recipe_);
  }

 private:
  /// A register with a value at the call, plus a number.
  struct kept_value {
    std::uint8_t register_number = 0;
    std::uint64_t minus = 0;
  };
  using split_value = value_graph::split_value;

  [[nodiscard]] call_recipe refused() const {
    call_recipe none;
    none.in_registers.resize(convention_.arguments.size());
    return none;
  }

  void find_kept_values() {
    for (const std::uint8_t number : convention_.kept) {
      const split_value held = trace_.values().split(trace_.get(number));
      if (held.base != unknown_value) kept_.try_emplace(held.base, kept_value{number, held.number});
    }
  }

  void find_stored_values() {
    for (std::size_t i = 0; i < trace_.stores().size(); ++i) {
      if (trace_.stores()[i].value != unknown_value) stored_[trace_.stores()[i].value] = i;
    }
  }

  /// The value in the recipe's graph; unknown if no place has it.
  [[nodiscard]] value_id resolve(value_id id, std::size_t depth) {
    if (id == unknown_value || depth > deepest) return unknown_value;
    // A value that is being resolved counts as unknown, so that a value never depends on itself.
    const auto [known, is_new] = resolved_.try_emplace(id, unknown_value);
    if (!is_new) return known->second;
    value_id found = resolve_directly(id, depth);
    if (found == unknown_value) found = resolve_stored(id, depth);
    resolved_[id] = found;
    return found;
  }

  [[nodiscard]] value_id resolve_directly(value_id id, std::size_t depth) {
    const value_node node = trace_.values()[id];
    if (node.kind == value_kind::constant || node.kind == value_kind::code_address) return graph_.add(node);
    if (const auto kept = kept_.find(id); kept != kept_.end()) {
      const value_id at_call = graph_.add({.kind = value_kind::at_call, .number = kept->second.register_number});
      return graph_.offset(at_call, 0 - kept->second.minus);
    }
    if (node.kind == value_kind::opaque) return unknown_value;
    value_node made = node;
    made.left = resolve(node.left, depth + 1);
    if (node.right != unknown_value) made.right = resolve(node.right, depth + 1);
    const bool lost = made.left == unknown_value || (node.right != unknown_value && made.right == unknown_value);
    return lost ? unknown_value : graph_.add(made);
  }

  /// The last memory to which the value was stored.
  [[nodiscard]] value_id resolve_stored(value_id id, std::size_t depth) {
    const auto stored = stored_.find(id);
    if (stored == stored_.end()) return unknown_value;
    const straight_trace::store& store = trace_.stores()[stored->second];
    const value_id address = resolve(store.address, depth + 1);
    if (address == unknown_value || store.size == 0 || store.size > 8) return unknown_value;
    return graph_.add({.kind = value_kind::load,
                       .bits = static_cast<std::uint8_t>(8 * store.size),
                       .left = address,
                       .number = stored->second + 1});
  }

  /// The value that was stored at the stack pointer of the call plus `at`. It is not read from there: this memory
  /// belongs to the called function.
  [[nodiscard]] call_recipe::argument stack_argument(std::uint64_t at) {
    const split_value sp = trace_.values().split(trace_.get(convention_.sp_number));
    for (std::size_t i = trace_.stores().size(); i-- > 0;) {
      const straight_trace::store& store = trace_.stores()[i];
      const split_value where = trace_.values().split(store.address);
      const bool is_here = store.address != unknown_value && where.has_same_base(sp) && where.number == sp.number + at;
      if (!is_here) continue;
      if (store.size != 4 && store.size != 8) return {};
      const auto bits = static_cast<std::uint8_t>(8 * store.size);
      const value_id kept = graph_.add({.kind = value_kind::unless_stored,
                                        .bits = bits,
                                        .left = resolve(store.value, 0),
                                        .right = resolve(store.address, 0),
                                        .number = i + 1});
      return {kept, bits};
    }
    return {};
  }

  straight_trace& trace_;
  const call_convention& convention_;
  value_graph graph_;
  std::map<value_id, kept_value> kept_;     ///< by the value that a register holds at the call, without its number
  std::map<value_id, std::size_t> stored_;  ///< by value: the last store of it
  std::map<value_id, value_id> resolved_;
  call_recipe recipe_;
};

}  // namespace

call_recipe build_recipe(straight_trace& trace, const call_convention& convention, value_id target) {
  return builder{trace, convention}.build(target);
}

}  // namespace mpiacq::unwinding
