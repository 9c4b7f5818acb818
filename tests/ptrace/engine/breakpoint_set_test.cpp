// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "engine/breakpoint_set.hpp"

#include "catch.hpp"

using namespace mpiacq;
using namespace mpiacq::tracing;

namespace {

breakpoint trap_at(std::uint64_t address, std::byte original) {
  breakpoint b;
  b.address = target_address{address};
  b.kind = breakpoint_kind::software;
  b.original = {original};
  return b;
}

}  // namespace

TEST_CASE("breakpoint registers are taken until none is left, and one that is freed is taken again") {
  breakpoint_set set;
  for (std::uint64_t i = 0; i < arch::hardware_registers; ++i)
    CHECK(set.take_register({target_address{16 * i + 16}, 0}));
  CHECK_FALSE(set.take_register({target_address{0x1000}, 0}));
  set.free_register({target_address{32}, 0});
  CHECK(set.take_register({target_address{0x1000}, 0}));
  CHECK_FALSE(set.take_register({target_address{0x2000}, 0}));
}

TEST_CASE("a breakpoint and a watchpoint at one address are two") {
  breakpoint_set set;
  breakpoint watch;
  watch.address = target_address{0x1000};
  watch.written = 8;
  set.all.push_back(watch);
  CHECK(set.at(target_address{0x1000}) == nullptr);
  REQUIRE(set.watch_at(target_address{0x1000}) != nullptr);
  set.all.push_back(trap_at(0x1000, std::byte{1}));
  REQUIRE(set.at(target_address{0x1000}) != nullptr);
  CHECK(set.at(target_address{0x1000})->written == 0);
}

TEST_CASE("only watchpoints are armed while a thread steps off a breakpoint") {
  breakpoint_set set;
  REQUIRE(set.take_register({target_address{0x1000}, 0}));
  REQUIRE(set.take_register({target_address{0x2000}, 4}));
  const auto left = set.watches();
  CHECK_FALSE(left[0].has_value());
  REQUIRE(left[1].has_value());
  CHECK(left[1]->address == target_address{0x2000});
}

TEST_CASE("a child may have inherited traps that are in the code now, and traps that were taken out") {
  breakpoint_set set;
  set.all.push_back(trap_at(0x1000, std::byte{1}));
  remember_trap(set.past_traps, trap_at(0x2000, std::byte{2}));
  remember_trap(set.past_traps, trap_at(0x1000, std::byte{1}));
  remember_trap(set.past_traps, trap_at(0x2000, std::byte{2}));
  CHECK(set.past_traps.size() == 2);
  const auto traps = set.inherited_traps();
  REQUIRE(traps.size() == 2);
  CHECK(traps[0].address == target_address{0x2000});
  CHECK(traps[1].address == target_address{0x1000});
}

TEST_CASE("an exec leaves nothing of the breakpoints but that there were some") {
  breakpoint_set set;
  set.had_any = set.lifted = true;
  set.all.push_back(trap_at(0x1000, std::byte{1}));
  set.past_traps.push_back(trap_at(0x2000, std::byte{2}));
  REQUIRE(set.take_register({target_address{0x3000}, 0}));
  set.forget_program();
  CHECK(set.had_any);
  CHECK_FALSE(set.lifted);
  CHECK(set.inherited_traps().empty());
  CHECK_FALSE(set.uses_registers());
}
