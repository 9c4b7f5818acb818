// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Any bytes as the description of a call in debug information: the recipe must stay within its bounds, and its
// evaluation within them, too.
// Input: the processor; a number that registers and memory are made of; the compiler; the size of the frame base and
// its bytes; then for each parameter the size of its place, the size of its value, and the bytes of both.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "arguments/described_call.hpp"
#include "arguments/instruction_set.hpp"

using namespace mpiacq;
using namespace mpiacq::unwinding;

namespace {

void must(bool held) {
  if (!held) std::abort();
}

/// Takes pieces from the front of the input.
class input {
 public:
  input(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}
  [[nodiscard]] bool is_empty() const { return left_ == 0; }
  std::uint8_t number() {
    if (left_ == 0) return 0;
    --left_;
    return *data_++;
  }
  std::vector<std::byte> bytes(std::size_t count) {
    std::vector<std::byte> taken;
    for (std::size_t i = std::min(count, left_); i > 0; --i) taken.push_back(std::byte{number()});
    return taken;
  }

 private:
  const std::uint8_t* data_;
  std::size_t left_;
};

class any_memory final : public memory_reader {
 public:
  result<void> read_ranges(std::span<memory_range> ranges) override {
    for (memory_range& range : ranges) {
      must(++reads_ <= 2 * call_recipe::most_values);
      range.got = range.address.value() % 64 == 8 ? 0 : range.into.size();
      for (std::size_t i = 0; i < range.got; ++i) range.into[i] = static_cast<std::byte>(range.address.value() >> i);
    }
    return {};
  }

 private:
  std::size_t reads_ = 0;
};

call_description description_in(input& from) {
  call_description described;
  described.by_gcc = from.number() % 2 == 0;
  described.frame_base = from.bytes(from.number());
  while (!from.is_empty()) {
    const std::size_t place = from.number();
    const std::size_t value = from.number();
    described.parameters.push_back({from.bytes(place), from.bytes(value)});
  }
  return described;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  input from{data, size};
  const instruction_set& set = from.number() % 2 == 0 ? arch::x86_64_instructions() : arch::aarch64_instructions();
  const std::uint64_t seed = from.number();
  const call_recipe recipe = recipe_of_description(description_in(from), set.convention, seed << 20U);
  must(recipe.values.size() <= call_recipe::most_values && recipe.stores.empty());
  for (std::size_t i = 1; i < recipe.values.size(); ++i) {
    must(recipe.values[i].left < i && recipe.values[i].right < i);
  }
  thread_registers registers;
  entry_registers entered{};
  for (std::size_t i = 0; i < thread_registers::most; ++i) {
    registers.by_dwarf_number[i] = 0x7ffe00000000 + seed * i * 8;
    if (i % 3 != 0) entered[i] = recipe_value{seed * i, i % 5 == 0, static_cast<std::uint8_t>(i % 2 == 0 ? 32 : 64)};
  }
  registers.sp = target_address{0x7ffe00000000 + seed};
  any_memory memory;
  constexpr std::size_t wanted_arguments = 12;
  const auto call = evaluate(
      recipe, {registers, ~seed, target_address{0x555500000000}, memory, 0x7ffe00000100, &entered}, wanted_arguments);
  must(call.has_value() && call->arguments.size() == wanted_arguments);
  for (const std::uint8_t bits : call->bits) must(bits >= 8 && bits <= 64);
  return 0;
}
