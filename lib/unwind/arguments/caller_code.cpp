// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "arguments/caller_code.hpp"

#include <algorithm>
#include <array>

#include "arguments/call_analysis.hpp"
#include "errors/try.hpp"

namespace mpiacq::unwinding {

namespace {

/// Code of modules is searched for jumps in pieces of this size.
constexpr std::uint64_t piece_size = std::uint64_t{1} << 20U;
/// Calls in modules with more code than this are not analysed.
constexpr std::uint64_t largest_code = std::uint64_t{256} << 20U;
/// The bytes that a jump has at most, so that a jump across the border of two pieces is found.
constexpr std::uint64_t jump_size = 8;
/// From the procedure linkage table to a function, with stubs of several modules.
constexpr std::size_t most_stubs = 4;
constexpr std::size_t stub_size = 20;

/// Searches code from `begin` to `end` for jumps into the function of `place`. Unreadable parts contain no code.
result<void> find_jumps_from(target_address begin, target_address end, const instruction_set& set,
                             memory_reader& memory, const caller_place& place, std::vector<std::uint64_t>& targets) {
  const std::uint64_t module = place.module.begin.value();
  std::vector<std::byte> piece(std::min(piece_size, end < begin ? 0 : end - begin));
  while (begin < end) {
    memory_range range{begin, std::span{piece}.first(std::min<std::uint64_t>(piece.size(), end - begin))};
    TRY(memory.read_ranges({&range, 1}));
    set.find_jumps(range.into.first(range.got), begin.value() - module, place.begin.value() - module,
                   place.end.value() - module, targets);
    const std::uint64_t unreadable = read_page_size - (begin.value() + range.got) % read_page_size;
    if (range.got == range.into.size()) {
      const bool is_last = end - begin <= range.got;
      begin = begin + (is_last || range.got <= jump_size ? range.got : range.got - jump_size);
    } else {
      begin = begin + range.got + unreadable;
    }
  }
  return {};
}

}  // namespace

result<std::shared_ptr<const call_recipe>> recipe_for(const instruction_set& set, memory_reader& memory,
                                                      const caller_place& place) {
  const unwind_module& module = place.module;
  const bool is_in_code = module.code_begin <= place.begin && place.begin < place.end && place.end <= module.code_end;
  if (!is_in_code || module.code_end - module.code_begin > largest_code) return nullptr;
  if (place.end - place.begin > largest_function) return nullptr;
  std::vector<std::byte> code(place.end - place.begin);
  memory_range range{place.begin, code};
  TRY(memory.read_ranges({&range, 1}));
  if (range.got < code.size()) return nullptr;
  // The function's own jumps are found by decoding it.
  std::vector<std::uint64_t> entered_at;
  TRY(find_jumps_from(module.code_begin, place.begin, set, memory, place, entered_at));
  TRY(find_jumps_from(place.end, module.code_end, set, memory, place, entered_at));
  const std::uint64_t base = module.begin.value();
  return std::make_shared<const call_recipe>(
      analyse_call(set, {place.begin.value() - base, code, place.return_address.value() - base, entered_at}));
}

result<bool> leads_to(const instruction_set& set, memory_reader& memory, target_address address,
                      target_address function) {
  for (std::size_t i = 0; i < most_stubs; ++i) {
    if (address == function) return true;
    std::array<std::byte, stub_size> code{};
    memory_range range{address, code};
    TRY(memory.read_ranges({&range, 1}));
    const auto stub = set.stub(range.into.first(range.got), address.value());
    if (!stub) return false;
    address = target_address{stub->address};
    if (!stub->is_pointer) continue;
    std::array<std::byte, 8> pointer{};
    memory_range slot{address, pointer};
    TRY(memory.read_ranges({&slot, 1}));
    if (slot.got < pointer.size()) return false;
    address = target_address{decode_unsigned(pointer, byte_order::little)};
  }
  return address == function;
}

}  // namespace mpiacq::unwinding
