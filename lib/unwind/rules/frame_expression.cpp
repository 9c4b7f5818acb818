// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "rules/frame_expression.hpp"

#include <array>

#include "rules/call_frame_reader.hpp"
#include "rules/expression_codes.hpp"

namespace mpiacq::unwinding {

namespace {

constexpr std::size_t most_places = 64;

class expression_machine {
 public:
  expression_machine(const architecture& machine, std::span<const std::byte> expression, expression_view& view)
      : machine_(machine), reader_(expression), view_(view) {}

  std::optional<std::uint64_t> run(std::optional<std::uint64_t> cfa) {
    if (cfa) push(*cfa);
    while (good_ && !reader_.at_end()) execute(reader_.byte());
    const std::uint64_t answer = pop();
    return good_ && reader_.good() ? std::optional(answer) : std::nullopt;
  }

 private:
  void execute(std::uint8_t code) {
    if (code >= op_lit0 && code <= op_lit31) return push(code - op_lit0);
    if (code >= op_breg0 && code <= op_breg31) return push_register(code - op_breg0);
    if (code >= op_const1u && code <= op_const8s) return push_constant(code);
    if (code >= op_eq && code <= op_ne) return compare(code);
    switch (code) {
      case op_nop:
        return;
      case op_addr:
        return push(reader_.fixed(machine_.word_size));
      case op_constu:
        return push(reader_.uleb());
      case op_consts:
        return push(static_cast<std::uint64_t>(reader_.sleb()));
      case op_bregx:
        return push_register(reader_.uleb());
      case op_deref:
        return push_known(view_.read(pop()));
      case op_deref_size:
        return push_part(reader_.byte());
      case op_plus_uconst:
        return push(pop() + reader_.uleb());
      default:
        return code >= op_dup && code <= op_rot ? rearrange(code) : calculate(code);
    }
  }

  /// The operations that reorder the stack.
  void rearrange(std::uint8_t code) {
    const std::uint64_t first = code == op_pick ? reader_.byte() : pop();
    if (code == op_pick) return push(peek(static_cast<std::size_t>(first)));
    if (code == op_drop) return;
    if (code == op_dup) return push(first), push(first);
    const std::uint64_t second = pop();
    if (code == op_over) return push(second), push(first), push(second);
    if (code == op_swap) return push(first), push(second);
    const std::uint64_t third = pop();  // op_rot: the first value goes below the two others
    push(first), push(third), push(second);
  }

  void calculate(std::uint8_t code) {
    const std::uint64_t b = pop();
    switch (code) {
      case op_abs:
        return push(signed_of(b) < 0 ? 0 - b : b);
      case op_neg:
        return push(0 - b);
      case op_not:
        return push(~b);
      default:
        break;
    }
    const std::uint64_t a = pop();
    const std::uint64_t width = 8 * machine_.word_size;
    switch (code) {
      case op_and:
        return push(a & b);
      case op_or:
        return push(a | b);
      case op_xor:
        return push(a ^ b);
      case op_plus:
        return push(a + b);
      case op_minus:
        return push(a - b);
      case op_mul:
        return push(a * b);
      case op_mod:
        good_ = good_ && b != 0;
        return push(b == 0 ? 0 : a % b);
      case op_shl:
        return push(b < width ? a << b : 0);
      case op_shr:
        return push(b < width ? a >> b : 0);
      case op_shra:
        return push(static_cast<std::uint64_t>(signed_of(a) >> (b < width ? b : width - 1)));
      default:
        good_ = false;
    }
  }

  void compare(std::uint8_t code) {
    const std::int64_t b = signed_of(pop());
    const std::int64_t a = signed_of(pop());
    const std::array<bool, op_ne - op_eq + 1> answers = {a == b, a >= b, a > b, a <= b, a < b, a != b};
    push(answers[code - op_eq] ? 1 : 0);
  }

  /// DW_OP_const1u, const1s, const2u, ... const8s, in this order.
  void push_constant(std::uint8_t code) {
    const std::size_t size = std::size_t{1} << ((code - op_const1u) / 2);
    const bool is_signed = (code - op_const1u) % 2 != 0;
    push(is_signed ? static_cast<std::uint64_t>(reader_.signed_fixed(size)) : reader_.fixed(size));
  }
  void push_register(std::uint64_t number) {
    const auto offset = static_cast<std::uint64_t>(reader_.sleb());
    if (number >= machine_.register_count) {
      good_ = false;
      return;
    }
    if (const auto value = view_.value(static_cast<std::size_t>(number))) return push(*value + offset);
    good_ = false;
  }
  void push_part(std::size_t size) {
    const std::uint64_t address = pop();
    if (size == 0 || size > machine_.word_size) {
      good_ = false;
      return;
    }
    const auto word = view_.read(address);
    if (!word) return push_known(word);
    const std::uint64_t bits = 8 * size;
    push(bits == 64 ? *word : *word & ((std::uint64_t{1} << bits) - 1));
  }
  void push_known(std::optional<std::uint64_t> value) {
    if (value) return push(*value);
    good_ = false;
  }
  void push(std::uint64_t value) {
    if (count_ == places_.size()) {
      good_ = false;
    } else {
      places_[count_++] = value & machine_.mask();
    }
  }
  std::uint64_t pop() {
    if (count_ == 0) {
      good_ = false;
      return 0;
    }
    return places_[--count_];
  }
  std::uint64_t peek(std::size_t depth) {
    if (depth < count_) return places_[count_ - 1 - depth];
    good_ = false;
    return 0;
  }
  /// The number, sign-extended from the machine's width.
  [[nodiscard]] std::int64_t signed_of(std::uint64_t value) const {
    return machine_.word_size == 4 ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value);
  }

  const architecture& machine_;
  record_reader reader_;
  expression_view& view_;
  std::array<std::uint64_t, most_places> places_{};
  std::size_t count_ = 0;
  bool good_ = true;
};

}  // namespace

std::optional<std::uint64_t> evaluate_expression(const architecture& machine, std::span<const std::byte> expression,
                                                 std::optional<std::uint64_t> cfa, expression_view& view) {
  return expression_machine{machine, expression, view}.run(cfa);
}

}  // namespace mpiacq::unwinding
