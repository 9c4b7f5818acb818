// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Single rows of tables made by hand, and the store of known rows.
#include <thread>

#include "arch/unwind_arch.hpp"
#include "catch.hpp"
#include "fake_memory.hpp"
#include "tables/module_table.hpp"
#include "unwind_writer.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using namespace mpiacq::unwinding;

namespace {

using program = unwind_writer::program;

constexpr std::size_t rbp = 6, rsp = 7, rip = 16, rbx = 3;

/// The rule at `code` bytes behind the beginning of a function.
std::optional<frame_rule> rule_of(const program& rules, std::uint64_t code,
                                  const program& start = unwind_writer::usual_start()) {
  unwind_writer w;
  auto [bytes, m] = w.cie(start).function(0x200, 0x100, rules).finish();
  fake_memory memory;
  memory.map(target_address{unwind_writer::tables_at}, std::move(bytes));
  module_table table{arch::native(), m};
  table_source source{memory, m.tables_begin};
  known_frame room;
  const known_frame* found = table.find(source, target_address{unwind_writer::code_at + 0x200 + code}, room);
  return found == nullptr ? std::nullopt : found->rule;
}

/// The CFA from a register, and the offsets of saved registers from it.
frame_rule rule(std::size_t cfa_register, std::int32_t offset,
                const std::vector<std::pair<std::size_t, std::int32_t>>& saved) {
  frame_rule made;
  made.cfa_register = static_cast<std::uint8_t>(cfa_register);
  made.cfa_offset = offset;
  for (const auto& [number, where] : saved) {
    made.saved |= std::uint64_t{1} << number;
    made.offsets[number] = where;
  }
  return made;
}

known_frame frame_at(std::uint64_t code) {
  known_frame frame;
  frame.code = code;
  frame.moves_along = true;
  return frame;
}

}  // namespace

#define MPIACQ_PLAIN_ROWS() \
  if (!arch::native().has_plain_rows) MPIACQ_SKIP("on this processor, libunwind makes every step")

TEST_CASE("a row is valid from its first instruction to the next row") {
  MPIACQ_PLAIN_ROWS();
  // push %rbp; mov %rsp,%rbp; push %rbx; and the reverse in two steps
  const program rules = {0x41, 0x0e, 16,   0x86, 2, 0x43, 0x0d, 6,    0x42, 0x83, 3,
                         0x02, 0x20, 0x0a, 0x0c, 7, 8,    0xc6, 0xc3, 0x03, 0x00, 0x01};
  CHECK(rule_of(rules, 0) == rule(rsp, 8, {{rip, -8}}));
  CHECK(rule_of(rules, 1) == rule(rsp, 16, {{rip, -8}, {rbp, -16}}));
  CHECK(rule_of(rules, 3) == rule(rsp, 16, {{rip, -8}, {rbp, -16}}));
  CHECK(rule_of(rules, 4) == rule(rbp, 16, {{rip, -8}, {rbp, -16}}));
  CHECK(rule_of(rules, 6) == rule(rbp, 16, {{rip, -8}, {rbp, -16}, {rbx, -24}}));
  CHECK(rule_of(rules, 0x25) == rule(rbp, 16, {{rip, -8}, {rbp, -16}, {rbx, -24}}));
  CHECK(rule_of(rules, 0x26) == rule(rsp, 8, {{rip, -8}}));
  CHECK(rule_of(rules, 0xff) == rule(rsp, 8, {{rip, -8}}));
}

TEST_CASE("every encoding of plain rules is evaluated") {
  MPIACQ_PLAIN_ROWS();
  const auto usual = [](std::int32_t offset) { return rule(rsp, offset, {{rip, -8}}); };
  CHECK(rule_of({0x0a, 0x0e, 32, 0x0b}, 5) == usual(8));        // remembered, restored
  CHECK(rule_of({0x83, 2, 0x06, 3}, 5) == usual(8));            // restore_extended
  CHECK(rule_of({0x83, 2, 0x08, 3}, 5) == usual(8));            // same_value
  CHECK(rule_of({0x12, 7, 0x7e}, 5) == usual(16));              // def_cfa_sf, by -8
  CHECK(rule_of({0x13, 0x7d}, 5) == usual(24));                 // def_cfa_offset_sf
  CHECK(rule_of({0x2e, 16}, 5) == usual(8));                    // GNU_args_size
  CHECK(rule_of({0x04, 4, 0, 0, 0, 0x0e, 64}, 3) == usual(8));  // advance_loc4
  CHECK(rule_of({0x04, 4, 0, 0, 0, 0x0e, 64}, 4) == usual(64));
  CHECK(rule_of({0x05, 3, 2}, 5) == rule(rsp, 8, {{rip, -8}, {rbx, -16}}));    // offset_extended
  CHECK(rule_of({0x11, 3, 0x7e}, 5) == rule(rsp, 8, {{rip, -8}, {rbx, 16}}));  // offset_extended_sf
  CHECK(rule_of({0x10, 3, 2, 0x77, 8, 0x41, 0xc3}, 1) == usual(8));            // the expression is replaced again
  const auto last = rule_of({0x07, 16}, 5);
  REQUIRE(last.has_value());
  CHECK(last->outermost);
}

TEST_CASE("rules that are not plain are left to libunwind") {
  MPIACQ_PLAIN_ROWS();
  CHECK_FALSE(rule_of({0x0f, 2, 0x77, 16}, 5));                // the CFA by an expression
  CHECK_FALSE(rule_of({0x0f, 2, 0x77, 16, 0x0e, 16}, 5));      // and an offset to nothing
  CHECK_FALSE(rule_of({0x10, 3, 2, 0x77, 8}, 5));              // a register by one
  CHECK_FALSE(rule_of({0x16, 3, 2, 0x77, 8}, 5));              // val_expression
  CHECK_FALSE(rule_of({0x14, 3, 2}, 5));                       // val_offset
  CHECK_FALSE(rule_of({0x09, 3, 6}, 5));                       // in another register
  CHECK_FALSE(rule_of({0x07, 6}, 5));                          // rbp is undefined: libunwind ends the walk there
  CHECK_FALSE(rule_of({0x87, 2}, 5));                          // the stack pointer is saved
  CHECK_FALSE(rule_of({0x91, 2}, 5));                          // no such register
  CHECK_FALSE(rule_of({0x0a, 0xff, 0x0b}, 5));                 // nor this one, though the row is as before
  CHECK_FALSE(rule_of({0x0d, 16}, 5));                         // from the pc
  CHECK_FALSE(rule_of({0x0e, 0x80, 0x80, 0x80, 0x80, 8}, 5));  // larger than any frame
  CHECK_FALSE(rule_of({}, 5, {0x0c, 7, 8}));                   // the return address has no rule
  CHECK_FALSE(rule_of({0xd0}, 5, {0x0c, 7, 8}));
  CHECK_FALSE(rule_of({0x01, 0, 0, 0, 0}, 5));  // set_loc
}

TEST_CASE("every known place is found, and the number of known places is bounded") {
  known_frames frames;
  CHECK(frames.find(0) == nullptr);
  const known_frame* first = frames.add(frame_at(0));
  REQUIRE(first != nullptr);
  for (std::uint64_t i = 1; i < known_frames::most; ++i) REQUIRE(frames.add(frame_at(16 * i)) != nullptr);
  for (std::uint64_t i = 0; i < known_frames::most; ++i) REQUIRE(frames.find(16 * i)->code == 16 * i);
  CHECK(frames.find(0) == first);
  CHECK(frames.add(frame_at(16)) == frames.find(16));
  CHECK(frames.add(frame_at(1)) == nullptr);
  CHECK(frames.find(1) == nullptr);
  CHECK(frames.size() == known_frames::most);
}

TEST_CASE("several threads add and find places concurrently") {
  known_frames frames;
  constexpr std::uint64_t count = 4'000;
  std::vector<std::thread> threads;
  std::atomic<std::size_t> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (std::uint64_t i = 0; i < count; ++i) {
        const known_frame* added = frames.add(frame_at(i));
        if (added == nullptr || frames.find(i) != added || added->code != i) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(frames.size() == count);
}

TEST_CASE("a place with an absolute address is known only in the process where it was read") {
  known_frame frame = frame_at(0x10);
  frame.tables_begin = target_address{0x1000};
  CHECK(frame.holds_at(target_address{0x2000}));
  frame.moves_along = false;
  CHECK(frame.holds_at(target_address{0x1000}));
  CHECK_FALSE(frame.holds_at(target_address{0x2000}));
}
