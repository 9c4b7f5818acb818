// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Jumps through tables, from small pieces of code that an assembler translated, and tables that the test writes. Each
// piece ends with `mov $2` to the second argument (the place `case0`), `mov $3` to the third (the place `case1`), and a
// call. Which of the two arguments is known tells which of the two places the table leads to.
#include <algorithm>

#include "arguments/caller_code.hpp"
#include "jump_pieces.hpp"
#include "made_code.hpp"

using namespace mpiacq;
using namespace mpiacq::unwinding;

namespace {

constexpr std::uint64_t low_module = 0x400000;  // the address of a module that is not position-independent
constexpr std::uint64_t code_at = 0x1000;
constexpr std::uint64_t code_size = 0x1000;
constexpr std::uint64_t table_at = 0x4000;
constexpr std::uint64_t constants_at = 0x3000;
constexpr std::uint64_t constants_size = 0x8000;

void put_number(std::vector<std::byte>& bytes, std::uint64_t number, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<std::byte>(number >> (8 * i)));
}

/// Entries of 4 bytes, relative to a table at `where`, for places in the code.
std::vector<std::byte> relative(const std::vector<std::uint64_t>& places, std::uint64_t where = table_at) {
  std::vector<std::byte> bytes;
  for (const std::uint64_t place : places) put_number(bytes, code_at + place - where, 4);
  return bytes;
}
std::vector<std::byte> addresses(const std::vector<std::uint64_t>& places) {
  std::vector<std::byte> bytes;
  for (const std::uint64_t place : places) put_number(bytes, low_module + code_at + place, 8);
  return bytes;
}
/// Numbers of aarch64's instructions from a place on.
std::vector<std::byte> distances(const std::vector<std::uint64_t>& places, std::uint64_t from, std::size_t size) {
  std::vector<std::byte> bytes;
  for (const std::uint64_t place : places) put_number(bytes, (place - from) / 4, size);
  return bytes;
}

struct surroundings {
  std::uint64_t module_begin = module;
  std::uint64_t table_offset = table_at;
  std::vector<std::uint64_t> entered_at{};
};

enum class known { nothing, third, second_and_third };

/// What is known of the call of a piece, with a table.
known known_with(const piece& of, const std::vector<std::byte>& table, const surroundings& around = {}) {
  test::fake_memory memory;
  memory.map(target_address{around.module_begin + around.table_offset}, table);
  unwind_module facts;
  facts.begin = target_address{around.module_begin};
  facts.code_begin = facts.begin + code_at;
  facts.code_end = facts.code_begin + code_size;
  facts.tables_begin = facts.begin + constants_at;
  facts.tables_end = facts.tables_begin + constants_size;
  constant_memory constants{memory, facts};
  std::vector<std::byte> code;
  for (const std::uint8_t byte : of.code) code.push_back(std::byte{byte});
  const std::uint64_t call_end = code_at + of.case1 + (of.set.alignment == 1 ? 10 : 8);
  const call_recipe recipe = analyse_call(of.set, {code_at, code, call_end, around.entered_at}, &constants);
  const auto registers = of.set.alignment == 1 ? x86_64_registers() : aarch64_registers();
  const evaluated_call call = evaluated(recipe, registers, 3);
  CHECK_FALSE(constants.failure());
  CHECK_FALSE(call.arguments[0]);
  if (call.arguments[1]) CHECK(call.arguments[1]->number == 2);
  if (call.arguments[2]) CHECK(call.arguments[2]->number == 3);
  CHECK((!call.arguments[1] || call.arguments[2]));
  if (call.arguments[1]) return known::second_and_third;
  return call.arguments[2] ? known::third : known::nothing;
}

const surroundings low = {.module_begin = low_module};

/// A table of three addresses, with indices from 0 on, belongs to the piece.
void check_addresses(const piece& of) {
  CHECK(known_with(of, addresses({of.case0, of.end, of.end}), low) == known::second_and_third);
  CHECK(known_with(of, addresses({of.end, of.case0, of.case1}), low) == known::third);
  CHECK(known_with(of, addresses({of.end, of.case0, of.end, of.case1}), low) == known::second_and_third);
}
void check_refused(const piece& of) {
  CHECK(known_with(of, addresses({of.case0, of.end, of.end, of.end, of.end}), low) == known::nothing);
}

}  // namespace

TEST_CASE("the places of a table with entries relative to itself are joins") {
  for (const piece* of : {&pic_bounded, &pic_gcc_O0, &pic_clang_O0}) {
    CAPTURE(of->code.size());
    CHECK(known_with(*of, relative({of->case0, of->end, of->end, of->end})) == known::second_and_third);
    CHECK(known_with(*of, relative({of->case0, of->end, of->end, of->case1})) == known::third);
    CHECK(known_with(*of, relative({of->case1, of->end, of->end, of->end})) == known::third);
    // The fifth entry is not part of the table.
    CHECK(known_with(*of, relative({of->case0, of->end, of->end, of->end, of->case1})) == known::second_and_third);
  }
}

TEST_CASE("a table with entries relative to itself, whose size is not known, ends with what is no instruction") {
  const piece& of = pic_free;
  CHECK(known_with(of, relative({of.case0, of.end, 0x5000})) == known::second_and_third);
  CHECK(known_with(of, relative({of.case0, of.end, 0x5000, of.case1})) == known::second_and_third);
  CHECK(known_with(of, relative({of.case0, of.end, of.case1, 0x5000})) == known::third);
  CHECK(known_with(of, relative({of.case0, of.end + 0x100, of.case1, 0x5000})) == known::third);  // a part elsewhere
  CHECK(known_with(of, relative({of.case0, of.case0 + 1, of.case1, 0x5000})) == known::second_and_third);
  CHECK(known_with(of, relative({0x5000, of.case0, of.end})) == known::nothing);
  CHECK(known_with(of, relative({of.case0 + 1, of.case0, of.end})) == known::nothing);
}

TEST_CASE("no argument is known with a table that cannot be read or has no end") {
  const piece& of = pic_free;
  CHECK(known_with(of, {}) == known::nothing);
  CHECK(known_with(of, relative({of.case0, of.end})) == known::nothing);  // the memory behind it cannot be read
  CHECK(known_with(of, relative(std::vector<std::uint64_t>(6000, of.case0))) == known::nothing);
  CHECK(known_with(of, relative(std::vector<std::uint64_t>(4000, of.case0))) == known::nothing);
  std::vector<std::uint64_t> many(4000, of.case0);
  many.push_back(0x5000);
  CHECK(known_with(of, relative(many)) == known::second_and_third);
  CHECK(known_with(abs_bounded, {}, low) == known::nothing);
  CHECK(known_with(abs_bounded, addresses({abs_bounded.case0, abs_bounded.end}), low) == known::nothing);
}

TEST_CASE("a table in memory that the program may change is not used") {
  const auto table = relative({pic_bounded.case0, pic_bounded.end, pic_bounded.end, pic_bounded.end});
  const piece& of = pic_bounded;
  CHECK(known_with(of, table) == known::second_and_third);
  piece elsewhere = of;
  REQUIRE(of.code[16] == 0x2f);
  elsewhere.code[16] = 0xdf;  // the table is at 0xf000
  std::vector<std::byte> moved;
  for (const std::uint64_t place : {of.case0, of.end, of.end, of.end}) put_number(moved, code_at + place - 0xf000, 4);
  CHECK(known_with(elsewhere, moved, {.table_offset = 0xf000}) == known::nothing);
}

TEST_CASE("a table of addresses is used if the code proves that its index is in bounds") {
  check_addresses(abs_bounded);
  check_addresses(abs_below);
  check_addresses(abs_byte_index);
  check_addresses(abs_sign_extended);
  check_addresses(abs_wide_index);  // the upper half of the index was cleared before
  CHECK(known_with(abs_masked, addresses({abs_masked.case0, abs_masked.end, abs_masked.case1}), low) ==
        known::second_and_third);
  CHECK(known_with(abs_masked, addresses({abs_masked.case0, abs_masked.case1}), low) == known::third);
  check_refused(abs_free);
  check_refused(abs_other_value);
  check_refused(abs_signed_check);
  check_refused(abs_flags_lost);
  check_refused(abs_join_between);
}

TEST_CASE("the check of an index may be in front of a jump to the rest of the code") {
  check_addresses(abs_taken);
  check_addresses(abs_taken_below);
  check_refused(abs_taken_above);
  check_refused(abs_taken_twice);
  check_refused(abs_taken_and_reached);
}

TEST_CASE("a table of addresses with an entry that is no instruction is not used") {
  const piece& of = abs_bounded;
  CHECK(known_with(of, addresses({of.case0, of.end, 0x5000}), low) == known::nothing);
  CHECK(known_with(of, addresses({of.case0, of.case0 + 1, of.end}), low) == known::nothing);
  CHECK(known_with(of, addresses({0 - low_module, of.end, of.end}), low) == known::nothing);
}

TEST_CASE("a table need not begin with index 0") {
  const piece& of = abs_from_97;
  check_addresses(of);
  // Bytes in front of the table say nothing.
  auto behind = addresses({of.case1});
  const auto table = addresses({of.case0, of.end, of.end});
  behind.insert(behind.end(), table.begin(), table.end());
  CHECK(known_with(of, behind, {.module_begin = low_module, .table_offset = table_at - 8}) == known::second_and_third);
}

TEST_CASE("a register may have the table's address since before a loop") {
  const piece& of = hoisted;
  CHECK(known_with(of, relative({of.case0, of.end, of.end, of.end})) == known::second_and_third);
  CHECK(known_with(of, relative({of.case0, of.end, of.end, of.case1})) == known::third);
  const piece& changed = hoisted_changed;
  CHECK(known_with(changed, relative({changed.case0, changed.end, changed.end, changed.end})) == known::nothing);
  // Other code, which jumps into the loop, may have set the register.
  CHECK(known_with(of, relative({of.case0, of.end, of.end, of.end}), {.entered_at = {code_at + 0xc}}) ==
        known::nothing);
}

TEST_CASE("a place to which one table leads cuts what is known in front of the jump of another table") {
  const piece of = {arch::x86_64_instructions(),
                    {0x83, 0xfb, 0x01, 0x77, 0x3a, 0x89, 0xd9, 0x48, 0x8d, 0x15, 0xf2, 0x2f, 0x00, 0x00, 0x48, 0x63,
                     0x04, 0x8a, 0x48, 0x01, 0xd0, 0xff, 0xe0, 0x41, 0x83, 0xfc, 0x01, 0x77, 0x22, 0x48, 0x8d, 0x15,
                     0xec, 0x2f, 0x00, 0x00, 0x44, 0x89, 0xe1, 0x48, 0x63, 0x04, 0x8a, 0x48, 0x01, 0xd0, 0xff, 0xe0,
                     0xbe, 0x02, 0x00, 0x00, 0x00, 0xba, 0x03, 0x00, 0x00, 0x00, 0xe8, 0xc1, 0x07, 0x00, 0x00, 0xc3},
                    0x30,
                    0x35,
                    0x3f};

  const std::uint64_t outer = 0x17;
  const std::uint64_t inner = 0x24;
  const auto tables = [&](const std::vector<std::uint64_t>& first, const std::vector<std::uint64_t>& second) {
    auto both = relative(first);
    const auto behind = relative(second, table_at + 0x10);
    both.resize(0x10, std::byte{0xff});
    both.insert(both.end(), behind.begin(), behind.end());
    return both;
  };
  CHECK(known_with(of, tables({outer, of.end}, {of.case0, of.end})) == known::second_and_third);
  CHECK(known_with(of, tables({outer, of.case1}, {of.case0, of.end})) == known::third);
  CHECK(known_with(of, tables({outer, of.end}, {of.case0, of.case1})) == known::third);
  // The first table leads to a place behind the check of the second index.
  CHECK(known_with(of, tables({outer, inner}, {of.case0, of.end})) == known::nothing);
}

TEST_CASE("aarch64: tables with entries of one, two and four bytes are used") {
  const auto check = [](const piece& of, std::size_t size) {
    const auto table = [&](const std::vector<std::uint64_t>& places) { return distances(places, of.base, size); };
    CHECK(known_with(of, table({of.case0, of.end, of.end, of.end})) == known::second_and_third);
    CHECK(known_with(of, table({of.case0, of.end, of.case1, of.end})) == known::third);
    CHECK(known_with(of, table({of.end, of.end, of.case0})) ==
          (size == 2 ? known::second_and_third : known::nothing));  // three entries are used, or four
    CHECK(known_with(of, table({of.case0, of.end, 0x5000, of.end})) ==
          (size == 1 ? known::second_and_third : known::nothing));  // one byte does not lead so far
  };
  check(a64_signed_bytes, 1);
  check(a64_bytes, 1);
  check(a64_halves, 2);
  check(a64_hoisted, 1);
  check(a64_taken, 2);
  const piece& of = a64_words;
  const auto words = [&](const std::vector<std::uint64_t>& places) {
    std::vector<std::byte> bytes;
    for (const std::uint64_t place : places) put_number(bytes, place - of.base, 4);
    return bytes;
  };
  CHECK(known_with(of, words({of.case0, of.end, of.end, of.end})) == known::second_and_third);
  CHECK(known_with(of, words({of.case0, of.end, of.end, of.case1})) == known::third);
  CHECK(known_with(of, words({of.case0, of.end, of.end + 2, of.end})) == known::nothing);
}

TEST_CASE("aarch64: a table whose size is not known is not used") {
  const piece& of = a64_free;
  CHECK(known_with(of, distances({of.case0, of.end, of.end}, of.base, 1)) == known::nothing);
}

TEST_CASE("no recipe is made of a function with another part that jumps to a computed address") {
  const std::vector<std::uint8_t> computed = {0x90, 0xff, 0xe0};  // nop, jmp *%rax
  const std::vector<std::uint8_t> plain = {0x90, 0xc3};           // nop, ret
  // The other piece of code is 0x100 behind the function.
  const auto has_recipe = [](const std::vector<std::uint8_t>& code, const std::vector<std::uint8_t>& other) {
    test::fake_memory memory;
    std::vector<std::byte> bytes(0x200, std::byte{0x90});
    std::transform(code.begin(), code.end(), bytes.begin(), [](std::uint8_t byte) { return std::byte{byte}; });
    std::transform(other.begin(), other.end(), bytes.begin() + 0x100,
                   [](std::uint8_t byte) { return std::byte{byte}; });
    memory.map(target_address{module + code_at}, bytes);
    unwind_module facts;
    facts.begin = target_address{module};
    facts.code_begin = facts.begin + code_at;
    facts.code_end = facts.code_begin + bytes.size();
    const target_address begin = facts.code_begin;
    const auto code_around = [&](target_address where) -> std::optional<covered_code> {
      const bool is_other = where >= begin + 0x100;
      if (is_other) return covered_code{begin + 0x100, begin + 0x100 + other.size()};
      return covered_code{begin, begin + code.size()};
    };
    const caller_place place{facts, begin, begin + code.size(), begin + 5};
    const auto recipe = recipe_for(arch::x86_64_instructions(), memory, place, code_around);
    REQUIRE(recipe.has_value());
    return *recipe != nullptr;
  };
  // call, a jump to the other piece, ret
  const std::vector<std::uint8_t> with_condition = {0xe8, 0xfb, 0x07, 0, 0, 0x0f, 0x87, 0xf5, 0, 0, 0, 0xc3};
  const std::vector<std::uint8_t> tail_call = {0xe8, 0xfb, 0x07, 0, 0, 0xe9, 0xf6, 0, 0, 0};
  const std::vector<std::uint8_t> behind_beginning = {0xe8, 0xfb, 0x07, 0, 0, 0xe9, 0xf7, 0, 0, 0};
  CHECK(has_recipe(with_condition, plain));
  CHECK_FALSE(has_recipe(with_condition, computed));
  CHECK(has_recipe(tail_call, computed));
  CHECK(has_recipe(behind_beginning, plain));
  CHECK_FALSE(has_recipe(behind_beginning, computed));
}
