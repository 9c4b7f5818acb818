// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Any code in front of a call, with any registers and any stack: the analysis and its recipe must stay within their
// bounds.
// Input: the processor; the position of the return address (2 bytes); a place where other code jumps to; a number that
// the registers and the memory are made of; the code, which jump tables may be a part of.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "arguments/call_analysis.hpp"

using namespace mpiacq;
using namespace mpiacq::unwinding;

namespace {

constexpr std::size_t choices = 5;
constexpr std::size_t largest_code = 2000;
constexpr std::size_t wanted_arguments = 12;

void must(bool held) {
  if (!held) std::abort();
}

/// Memory in which every word is another one, and a part of which cannot be read.
class any_memory final : public memory_reader {
 public:
  explicit any_memory(std::uint64_t seed) : seed_(seed) {}
  result<void> read_ranges(std::span<memory_range> ranges) override {
    for (memory_range& range : ranges) {
      must(++reads <= 2 * call_recipe::most_values);
      range.got = range.address.value() % 64 == 8 ? 0 : range.into.size();
      const std::uint64_t word = range.address.value() * 0x9e3779b97f4a7c15U ^ seed_;
      for (std::size_t i = 0; i < range.got; ++i) range.into[i] = static_cast<std::byte>(word >> (8 * (i % 8)));
    }
    return {};
  }
  std::size_t reads = 0;

 private:
  std::uint64_t seed_;
};

/// A module whose memory is its code.
class code_memory final : public memory_reader {
 public:
  code_memory(std::span<const std::byte> code, target_address begin) : code_(code), begin_(begin) {}
  result<void> read_ranges(std::span<memory_range> ranges) override {
    for (memory_range& range : ranges) {
      const std::uint64_t position = range.address - begin_;
      must(range.address >= begin_ && position + range.into.size() <= code_.size());
      // A part cannot be read.
      range.got = position / 64 == 7 ? 0 : range.into.size();
      for (std::size_t i = 0; i < range.got; ++i) range.into[i] = code_[position + i];
    }
    return {};
  }

 private:
  std::span<const std::byte> code_;
  target_address begin_;
};

void check_bounds(const call_recipe& recipe) {
  must(recipe.values.size() <= call_recipe::most_values && recipe.stores.size() <= call_recipe::most_stores);
  for (std::size_t i = 0; i < recipe.values.size(); ++i) {
    must(i == 0 || (recipe.values[i].left < i && recipe.values[i].right < i));
  }
}

void evaluate_with(const call_recipe& recipe, std::uint64_t seed) {
  thread_registers registers;
  for (std::size_t i = 0; i < thread_registers::most; ++i) registers.by_dwarf_number[i] = 0x7ffe00000000 + seed * i * 8;
  registers.sp = target_address{0x7ffe00000000 + seed};
  any_memory memory{seed};
  const auto call = evaluate(recipe, {registers, ~seed, target_address{0x555500000000}, memory}, wanted_arguments);
  must(call.has_value() && call->arguments.size() == wanted_arguments);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < choices || size > choices + largest_code) return 0;
  const instruction_set& set = data[0] % 2 == 0 ? arch::x86_64_instructions() : arch::aarch64_instructions();
  std::vector<std::byte> code;
  for (std::size_t i = choices; i < size; ++i) code.push_back(std::byte{data[i]});
  constexpr std::uint64_t begin = 0x1000;
  const std::uint64_t return_address = begin + data[1] + 256U * data[2];
  const std::vector<std::uint64_t> entered_at = {begin + data[3]};
  unwind_module module;
  module.begin = target_address{0x400000};
  module.code_begin = module.begin + begin;
  module.code_end = module.code_begin + code.size();
  code_memory memory{code, module.code_begin};
  constant_memory constants{memory, module};
  const call_recipe recipe = analyse_call(set, {begin, code, return_address, entered_at}, &constants);
  check_bounds(recipe);
  evaluate_with(recipe, data[4]);
  std::vector<found_jump> jumps;
  set.find_jumps(code, begin, begin + data[3], return_address, jumps);
  must(jumps.size() <= code.size());
  (void)set.stub(code, begin);
  return 0;
}
