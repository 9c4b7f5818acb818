// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "arguments/call_recipe.hpp"
#include "errors/try.hpp"

namespace mpiacq::unwinding {

namespace {

/// The called functions have used this much of the stack at most.
constexpr std::uint64_t deepest_stack = std::uint64_t{8} << 20U;

bool overlaps(std::uint64_t a, std::uint64_t a_size, std::uint64_t b, std::uint64_t b_size) {
  return a - b < b_size || b - a < a_size;
}

class evaluation {
 public:
  evaluation(const call_recipe& recipe, const calling_thread& thread, std::size_t count)
      : recipe_(recipe), thread_(thread), count_(count), values_(recipe.values.size()) {
    const std::uint64_t sp = thread.registers.sp.value();
    const std::uint64_t passed = count_ > recipe.in_registers.size() ? count_ - recipe.in_registers.size() : 0;
    callee_begin_ = sp - deepest_stack;
    callee_size_ = deepest_stack + passed * call_recipe::stack_slot;
  }

  /// Loads from the addresses `passed` are unknown.
  [[nodiscard]] result<void> run(const std::vector<std::uint64_t>& passed) {
    loaded_from_.clear();
    std::fill(values_.begin(), values_.end(), std::nullopt);
    for (std::size_t i = 1; i < values_.size(); ++i) values_[i] = TRY(value_of(recipe_.values[i], passed));
    return {};
  }

  [[nodiscard]] evaluated_call result_of() const {
    evaluated_call call;
    if (const auto& target = values_[recipe_.target]) call.target = target->number;
    for (std::size_t i = 0; i < count_; ++i) {
      const call_recipe::argument how = argument(i);
      const auto& value = values_[how.value];
      call.arguments.push_back(value);
      call.bits.push_back(value ? std::min(how.bits, value->bits) : how.bits);
    }
    return call;
  }

  /// The arguments that are the address of a load.
  [[nodiscard]] std::vector<std::uint64_t> arguments_loaded_from() const {
    std::vector<std::uint64_t> both;
    for (std::size_t i = 0; i < count_; ++i) {
      const auto& value = values_[argument(i).value];
      if (!value) continue;
      if (std::find(loaded_from_.begin(), loaded_from_.end(), value->number) != loaded_from_.end()) {
        both.push_back(value->number);
      }
    }
    return both;
  }

 private:
  [[nodiscard]] call_recipe::argument argument(std::size_t index) const {
    if (index < recipe_.in_registers.size()) return recipe_.in_registers[index];
    index -= recipe_.in_registers.size();
    return index < recipe_.on_stack.size() ? recipe_.on_stack[index] : call_recipe::argument{};
  }

  [[nodiscard]] result<std::optional<recipe_value>> value_of(const value_node& node,
                                                             const std::vector<std::uint64_t>& passed) {
    using kind = value_kind;
    switch (node.kind) {
      case kind::unknown:
      case kind::opaque:
        return std::nullopt;
      case kind::constant:
        return recipe_value{node.number};
      case kind::code_address:
        return recipe_value{thread_.module_begin.value() + node.number};
      case kind::at_call:
        if ((thread_.known >> node.number & 1U) == 0) return std::nullopt;
        return recipe_value{thread_.registers.by_dwarf_number[node.number]};
      case kind::at_entry:
        return at_entry(static_cast<std::size_t>(node.number));
      case kind::frame_address:
        if (!thread_.frame_address) return std::nullopt;
        return recipe_value{*thread_.frame_address};
      case kind::load:
        return load(node, passed);
      case kind::unless_stored:
        if (!values_[node.left] || !values_[node.right]) return std::nullopt;
        if (is_stored_over(node, values_[node.right]->number)) return std::nullopt;
        return values_[node.left];
      default:
        return computed_value(node);
    }
  }

  /// A value that an earlier call passed. Memory may have changed since that call.
  [[nodiscard]] std::optional<recipe_value> at_entry(std::size_t number) const {
    if (thread_.caller_entered_with == nullptr || number >= thread_.caller_entered_with->size()) return std::nullopt;
    const auto& value = (*thread_.caller_entered_with)[number];
    return value && !value->from_memory ? value : std::nullopt;
  }

  [[nodiscard]] std::optional<recipe_value> computed_value(const value_node& node) const {
    const auto& left = values_[node.left];
    const auto& right = values_[node.right];
    if (!left || (node.right != unknown_value && !right)) return std::nullopt;
    const recipe_value other = right.value_or(recipe_value{});
    const auto bits = bits_known(node, std::min(left->bits, other.bits));
    if (!bits) return std::nullopt;
    return recipe_value{computed(node, left->number, other.number), left->from_memory || other.from_memory, *bits};
  }
  /// The low bits of a result, if so many bits of the values that it is made of are known. Empty: none.
  [[nodiscard]] static std::optional<std::uint8_t> bits_known(const value_node& node, std::uint8_t bits) {
    if (bits == 64) return bits;
    switch (node.kind) {
      case value_kind::zero_extended:
      case value_kind::sign_extended:
        return node.bits <= bits ? std::uint8_t{64} : bits;
      case value_kind::shifted_left:
        return static_cast<std::uint8_t>(std::min<std::uint64_t>(64, bits + node.number));
      case value_kind::shifted_right:
        return std::nullopt;
      default:
        return bits;
    }
  }

  /// A store after those that `node` saw has changed some of its bytes, or may have: its address is unknown, or depends
  /// on `node` itself.
  [[nodiscard]] bool is_stored_over(const value_node& node, std::uint64_t address) const {
    for (std::size_t i = node.number; i < recipe_.stores.size(); ++i) {
      const call_recipe::store& later = recipe_.stores[i];
      const auto& where = values_[later.address];
      if (!where || overlaps(address, node.bits / 8U, where->number, later.size)) return true;
    }
    return false;
  }

  [[nodiscard]] result<std::optional<recipe_value>> load(const value_node& node,
                                                         const std::vector<std::uint64_t>& passed) {
    const auto& address = values_[node.left];
    if (!address || address->bits < 64 || is_stored_over(node, address->number)) return std::nullopt;
    std::array<std::byte, 8> bytes{};
    const std::span into = std::span{bytes}.first(node.bits / 8U);
    if (overlaps(address->number, into.size(), callee_begin_, callee_size_)) return std::nullopt;
    if (std::find(passed.begin(), passed.end(), address->number) != passed.end()) return std::nullopt;
    memory_range range{target_address{address->number}, into};
    TRY(thread_.memory.read_ranges({&range, 1}));
    if (range.got < into.size()) return std::nullopt;
    loaded_from_.push_back(address->number);
    return recipe_value{decode_unsigned(into, byte_order::little), true};
  }

  const call_recipe& recipe_;
  const calling_thread& thread_;
  std::size_t count_;
  std::vector<std::optional<recipe_value>> values_;
  std::uint64_t callee_begin_ = 0;  ///< of the stack that belongs to the called functions
  std::uint64_t callee_size_ = 0;
  std::vector<std::uint64_t> loaded_from_;
};

}  // namespace

result<evaluated_call> evaluate(const call_recipe& recipe, const calling_thread& thread, std::size_t count) {
  const std::size_t most = recipe.in_registers.size() + call_recipe::most_stack_arguments;
  evaluation values{recipe, thread, std::min(count, most)};
  TRY(values.run({}));
  const auto passed = values.arguments_loaded_from();
  if (!passed.empty()) TRY(values.run(passed));
  return values.result_of();
}

}  // namespace mpiacq::unwinding
