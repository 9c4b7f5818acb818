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
/// Parts of one function that a compiler has put elsewhere have fewer jumps into it, and are fewer.
constexpr std::size_t most_jumps = 10000;
constexpr std::size_t most_parts = 16;
/// From the procedure linkage table to a function, with stubs of several modules.
constexpr std::size_t most_stubs = 4;
constexpr std::size_t stub_size = 20;
/// A call instruction has this many bytes, on x86-64 with its prefixes.
constexpr std::size_t smallest_call = 2;
constexpr std::size_t largest_call = 8;

/// Searches code from `begin` to `end` for jumps into the function of `place`. Unreadable parts contain no code.
result<void> find_jumps_from(target_address begin, target_address end, const instruction_set& set,
                             memory_reader& memory, const caller_place& place, std::vector<found_jump>& jumps) {
  const std::uint64_t module = place.module.begin.value();
  std::vector<std::byte> piece(std::min(piece_size, end < begin ? 0 : end - begin));
  while (begin < end && jumps.size() <= most_jumps) {
    memory_range range{begin, std::span{piece}.first(std::min<std::uint64_t>(piece.size(), end - begin))};
    TRY(memory.read_ranges({&range, 1}));
    set.find_jumps(range.into.first(range.got), begin.value() - module, place.begin.value() - module,
                   place.end.value() - module, jumps);
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

/// The bytes of `code`; empty if it is too large or cannot be read.
result<std::vector<std::byte>> read_code(memory_reader& memory, const covered_code& code) {
  if (code.end <= code.begin || code.end - code.begin > largest_function) return std::vector<std::byte>{};
  std::vector<std::byte> bytes(code.end - code.begin);
  memory_range range{code.begin, bytes};
  TRY(memory.read_ranges({&range, 1}));
  if (range.got < bytes.size()) bytes.clear();
  return bytes;
}

/// Whether all code that the jumps come from jumps to stated addresses only. Bytes that no table describes are no code.
result<bool> come_from_plain_code(const std::vector<found_jump>& jumps, const instruction_set& set,
                                  memory_reader& memory, target_address module, const find_code& code_around) {
  target_address seen;
  std::size_t parts = 0;
  for (const found_jump& jump : jumps) {
    const auto part = code_around(module + jump.from);
    if (!part || part->begin == seen) continue;
    seen = part->begin;
    if (++parts > most_parts) return false;
    const auto code = TRY(read_code(memory, *part));
    if (code.empty() || has_unknown_jumps(set, code, part->begin - module)) return false;
  }
  return true;
}

/// Whether the code at `where` only jumps to another function.
result<bool> is_stub(const instruction_set& set, memory_reader& memory, target_address where) {
  std::array<std::byte, stub_size> code{};
  memory_range range{where, code};
  TRY(memory.read_ranges({&range, 1}));
  return set.stub(range.into.first(range.got), where.value()).has_value();
}

/// Whether the parts of a function that are elsewhere jump to stated addresses only. A jump to the beginning of a piece
/// of code, without a condition, may be the call of another function.
result<bool> continues_in_plain_code(const code_outline& outline, memory_reader& memory, target_address module,
                                     const find_code& code_around) {
  target_address seen;
  std::size_t parts = 0;
  for (const auto& [target, is_same_function] : outline.exits()) {
    const target_address where = module + target;
    const auto part = code_around(where);
    if (!part || part->begin == seen || (part->begin == where && !is_same_function)) continue;
    if (TRY(is_stub(outline.set(), memory, where))) continue;
    seen = part->begin;
    if (++parts > most_parts) return false;
    const auto code = TRY(read_code(memory, *part));
    if (code.empty() || has_unknown_jumps(outline.set(), code, part->begin - module)) return false;
  }
  return true;
}

}  // namespace

result<std::shared_ptr<const call_recipe>> recipe_for(const instruction_set& set, memory_reader& memory,
                                                      const caller_place& place, const find_code& code_around) {
  const unwind_module& module = place.module;
  const bool is_in_code = module.code_begin <= place.begin && place.begin < place.end && place.end <= module.code_end;
  if (!is_in_code || module.code_end - module.code_begin > largest_code) return nullptr;
  const auto code = TRY(read_code(memory, {place.begin, place.end}));
  if (code.empty()) return nullptr;
  // The function's own jumps are found by decoding it. A jump to its beginning enters it as a call does.
  std::vector<found_jump> jumps;
  TRY(find_jumps_from(module.code_begin, place.begin, set, memory, place, jumps));
  TRY(find_jumps_from(place.end, module.code_end, set, memory, place, jumps));
  const std::uint64_t begin = place.begin - module.begin;
  if (jumps.size() > most_jumps) return nullptr;
  std::erase_if(jumps, [begin](const found_jump& jump) { return jump.to == begin; });
  if (!TRY(come_from_plain_code(jumps, set, memory, module.begin, code_around))) return nullptr;
  std::vector<std::uint64_t> entered_at;
  for (const found_jump& jump : jumps) entered_at.push_back(jump.to);
  constant_memory constants{memory, module};
  code_outline outline{set, begin, code};
  auto recipe = analyse_call(outline, {begin, code, place.return_address - module.begin, entered_at}, &constants);
  if (constants.failure()) return fail(std::move(*constants.failure()));
  if (!TRY(continues_in_plain_code(outline, memory, module.begin, code_around))) return nullptr;
  return std::make_shared<const call_recipe>(std::move(recipe));
}

result<std::vector<call_recipe>> call_instructions_before(const instruction_set& set, memory_reader& memory,
                                                          const unwind_module& module, target_address return_address) {
  std::array<std::byte, largest_call> bytes{};
  memory_range range{return_address - bytes.size(), bytes};
  TRY(memory.read_ranges({&range, 1}));
  std::vector<call_recipe> calls;
  if (range.got < bytes.size()) return calls;
  const std::uint64_t end = return_address - module.begin;
  for (std::size_t size = smallest_call; size <= largest_call; ++size) {
    if (size % set.alignment != 0) continue;
    const auto code = std::span{bytes}.last(size);
    call_recipe call = analyse_call(set, {end - size, code, end, {}});
    if (call.target != unknown_value) calls.push_back(std::move(call));
  }
  return calls;
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
