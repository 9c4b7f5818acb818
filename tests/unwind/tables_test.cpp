// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Unwind tables and memory made by hand.
#include <elf.h>

#include "byte_writer.hpp"
#include "catch.hpp"
#include "fake_memory.hpp"
#include "modules/loaded_objects.hpp"
#include "mpiacq/process/unwinder.hpp"
#include "unwind_writer.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

using header = unwind_writer::header;
using program = unwind_writer::program;

constexpr std::uint64_t stack_at = 0x70000;
constexpr std::uint64_t code = unwind_writer::code_at;
const target_abi x86_64 = abi_of_elf(ELFCLASS64, ELFDATA2LSB, EM_X86_64);

/// Frames of 16 bytes: what was pushed, and the return address.
const program sixteen = {0x0e, 16};

std::vector<std::byte> words(const std::vector<std::uint64_t>& values) {
  std::vector<std::byte> bytes(8 * values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    encode_integer(values[i], byte_order::little, std::span{bytes}.subspan(8 * i, 8));
  }
  return bytes;
}

thread_registers at(std::uint64_t pc, std::uint64_t sp = stack_at) {
  thread_registers r;
  r.pc = target_address{pc};
  r.sp = target_address{sp};
  r.by_dwarf_number[7] = sp;
  r.by_dwarf_number[16] = pc;
  r.count = 17;
  return r;
}

/// Walks a stack of `values` from `pc` on.
raw_stack walk(const unwind_writer& tables, const std::vector<std::uint64_t>& values, std::uint64_t pc,
               header kind = header::with_table) {
  fake_memory memory;
  auto [bytes, m] = tables.finish(kind);
  memory.map(target_address{unwind_writer::tables_at}, std::move(bytes));
  memory.map(target_address{code}, std::vector<std::byte>(0x1000));
  memory.map(target_address{stack_at}, words(values));
  auto made = unwinder::create(x86_64, std::make_shared<unwind_tables>(), {m}, memory);
  REQUIRE(made.has_value());
  auto stack = (*made)->walk(at(pc));
  REQUIRE(stack.has_value());
  return std::move(*stack);
}

std::vector<std::uint64_t> addresses(const raw_stack& stack) {
  std::vector<std::uint64_t> all;
  for (const raw_frame& frame : stack.frames) all.push_back(frame.pc.value());
  return all;
}

/// A function with frames of 16 bytes, a function without a caller, and the function under test.
unwind_writer with_function(const program& rules) {
  unwind_writer w;
  w.cie();
  w.function(0x000, 0x100, sixteen);
  w.function(0x100, 0x100, {0x07, 16});  // the return address is undefined
  w.function(0x200, 0x100, rules);
  return w;
}

void check_refused(const unwind_writer& tables) {
  const raw_stack stack = walk(tables, {1, code + 0x10, 2, code + 0x110}, code + 0x210);
  CHECK(addresses(stack) == std::vector<std::uint64_t>{code + 0x210});
  CHECK(stack.end == stack_end::no_unwind_info);
  CHECK_FALSE(stack.why.empty());
}

/// An expression as the rule for the CFA.
program expression(const program& operations) {
  program rules = {0x0f, static_cast<std::uint8_t>(operations.size())};
  rules.insert(rules.end(), operations.begin(), operations.end());
  return rules;
}

}  // namespace

TEST_CASE("a walk works with a search table, without one, and without a header") {
  for (const header kind : {header::with_table, header::without_table, header::none}) {
    const raw_stack stack =
        walk(with_function(sixteen), {1, code + 0x10, 2, code + 0x2ff, 3, code + 0x110}, code + 0x210, kind);
    CHECK(addresses(stack) == std::vector<std::uint64_t>{code + 0x210, code + 0x10, code + 0x2ff, code + 0x110});
    CHECK(stack.end == stack_end::outermost);
    CHECK(stack.why.empty());
  }
}

TEST_CASE("a return address at the end of a function belongs to that function") {
  const raw_stack stack = walk(with_function(sixteen), {1, code + 0x100, 2, code + 0x110}, code);
  CHECK(addresses(stack) == std::vector<std::uint64_t>{code, code + 0x100, code + 0x110});
  CHECK(stack.end == stack_end::outermost);
}

TEST_CASE("expressions of compilers and linkers are followed") {
  // PLT: rsp + 8 + ((rip & 15) >= 11) * 8
  check_refused(with_function(expression({0x77})));
  const program plt = expression({0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22});
  CHECK(addresses(walk(with_function(plt), {code + 0x110}, code + 0x210)) ==
        std::vector<std::uint64_t>{code + 0x210, code + 0x110});
  CHECK(addresses(walk(with_function(plt), {1, code + 0x110}, code + 0x21b)) ==
        std::vector<std::uint64_t>{code + 0x21b, code + 0x110});
}

TEST_CASE("programs that must not reach libunwind are refused") {
  check_refused(with_function(expression({0x77, 16, 0x2f, 0xfd, 0xff})));  // a jump back to itself
  check_refused(with_function(expression({0x0f, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x11, 0x7f, 0x1b})));  // INT64_MIN / -1
  check_refused(with_function({0x0f, 100, 0x77, 16}));  // longer than its record
  check_refused(with_function({0x3f}));                 // no instruction
  check_refused(with_function({0x0b}));                 // restores a state that was not remembered
  check_refused(with_function(program(1000, 0x0a)));    // remembers too many states
  check_refused(with_function({0x0e, 16, 0x10, 1}));    // ends in the middle
  check_refused(with_function({0x0e, 0x90, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0}));  // of 77 bits
  // The rule uses a register that does not exist: libunwind would read far behind its array.
  check_refused(with_function({0x0e, 16, 0x09, 3, 0xec, 0x15}));
  check_refused(with_function({0x0e, 16, 0x14, 3, 2}));  // val_offset: libunwind would run its operands as instructions
}

TEST_CASE("records that point out of their table are refused") {
  unwind_writer far_cie = with_function(sixteen);
  far_cie.put(far_cie.record_of(2) + 4, 0x7fffffff);
  check_refused(far_cie);
  unwind_writer cie_is_function = with_function(sixteen);
  cie_is_function.put(cie_is_function.record_of(2) + 4,
                      static_cast<std::uint32_t>(cie_is_function.record_of(2) + 4 - cie_is_function.record_of(0)));
  check_refused(cie_is_function);
  unwind_writer too_long = with_function(sixteen);
  too_long.put(too_long.record_of(2), 0x0fffffff);
  check_refused(too_long);
  unwind_writer extended = with_function(sixteen);
  extended.put(extended.record_of(2), 0xffffffff);
  check_refused(extended);
  unwind_writer no_such_register = with_function(sixteen);
  no_such_register.put(11, 0xff780100);  // behind the augmentation string: alignments, the return address's register
  check_refused(no_such_register);
  unwind_writer nowhere;
  nowhere.cie({0x90, 1}).function(0x200, 0x100, {});
  check_refused(nowhere);
  unwind_writer strange;
  strange.cie().function(0, 0x100, sixteen).function(0x100, 0x100, {0x07, 16});
  strange.cie(unwind_writer::usual_start(), "zQ").function(0x200, 0x100, sixteen);
  check_refused(strange);
}

TEST_CASE("a caller whose frame is not further out ends the walk") {
  // CFA = rsp: the frame has no size; and CFA = rsp - 16.
  for (const program& rules : {program{0x0e, 0}, expression({0x77, 0x70})}) {
    const raw_stack stack = walk(with_function(rules), {code + 0x210, code + 0x210}, code + 0x210);
    CAPTURE(stack.why);
    CHECK(stack.frames.size() == 1);
    CHECK((stack.end == stack_end::no_progress || stack.end == stack_end::unreadable_memory ||
           stack.end == stack_end::no_unwind_info));
    CHECK_FALSE(stack.why.empty());
  }
}

TEST_CASE("a cycle of signal frames ends the walk") {
  unwind_writer w;
  // The stack points to itself: rsp is read from the address in rsp.
  w.cie({0x0c, 7, 8, 0x90, 1}, "zRS");
  w.function(0x000, 0x100, {0x0f, 3, 0x77, 0, 0x06});
  fake_memory memory;
  auto [bytes, m] = w.finish();
  memory.map(target_address{unwind_writer::tables_at}, std::move(bytes));
  // The whole page below the stack is readable.
  std::vector<std::uint64_t> laid(read_page_size / 8 - 1, 0);
  laid.insert(laid.end(), {code + 0x20, stack_at + 16, code + 0x10, stack_at});
  memory.map(target_address{stack_at - read_page_size}, words(laid));
  auto made = unwinder::create(x86_64, std::make_shared<unwind_tables>(), {m}, memory);
  REQUIRE(made.has_value());
  const auto stack = (*made)->walk(at(code + 0x30));
  REQUIRE(stack.has_value());
  CAPTURE(addresses(*stack), stack->why);
  CHECK(stack->end == stack_end::no_progress);
  CHECK(stack->frames.size() < 10);
}

TEST_CASE("an unreadable stack ends the walk with the address") {
  const raw_stack stack = walk(with_function(sixteen), {1, code + 0x10, 2}, code + 0x210);
  CHECK(addresses(stack) == std::vector<std::uint64_t>{code + 0x210, code + 0x10});
  CHECK(stack.end == stack_end::unreadable_memory);
  CHECK_THAT(stack.why, ContainsSubstring("0x70018"));
}

TEST_CASE("a process that ends during a walk is an error") {
  fake_memory memory;
  auto [bytes, m] = with_function(sixteen).finish();
  memory.map(target_address{unwind_writer::tables_at}, std::move(bytes));
  auto made = unwinder::create(x86_64, std::make_shared<unwind_tables>(), {m}, memory);
  REQUIRE(made.has_value());
  memory.process_gone = true;
  const auto stack = (*made)->walk(at(code + 0x210));
  REQUIRE_FALSE(stack.has_value());
  CHECK(stack.error().code == error_code::process_gone);
}

TEST_CASE("deep stacks are read in large pieces") {
  std::vector<std::uint64_t> values;
  for (int i = 0; i < 20000; ++i) values.insert(values.end(), {1, code + 0x10});
  values.insert(values.end(), {2, code + 0x110});
  fake_memory memory;
  auto [bytes, m] = with_function(sixteen).finish();
  memory.map(target_address{unwind_writer::tables_at}, std::move(bytes));
  memory.map(target_address{stack_at}, words(values));
  auto made = unwinder::create(x86_64, std::make_shared<unwind_tables>(), {m}, memory);
  REQUIRE(made.has_value());
  const auto stack = (*made)->walk(at(code + 0x210), {.max_frames = 100000});
  REQUIRE(stack.has_value());
  CHECK(stack->frames.size() == 20002);
  CHECK(stack->end == stack_end::outermost);
  CHECK(memory.calls < 12);  // 320,000 bytes in pieces of 64 KiB, the tables
}

TEST_CASE("modules with code are distinguished from other mappings") {
  constexpr const char* maps =
      "00400000-00401000 r--p 00000000 08:01 11 /bin/app\n"
      "00401000-00402000 r-xp 00001000 08:01 11 /bin/app\n"
      "00402000-00403000 rw-p 00002000 08:01 11 /bin/app\n"
      "7f0000000000-7f0000100000 r--p 00000000 08:01 12 /usr/lib/locale/locale-archive\n"
      "7f0000200000-7f0000201000 r--p 00000000 08:01 13 /usr/lib/with blanks.so (deleted)\n"
      "7f0000201000-7f0000202000 r-xp 00000000 00:00 0 \n"
      "7f0000202000-7f0000203000 r--p 00002000 08:01 13 /usr/lib/with blanks.so (deleted)\n"
      "7f0000300000-7f0000400000 rw-s 00000000 00:05 14 /dev/shm/segment\n"
      "7f0000400000-7f0000401000 rwxp 00000000 00:00 0 \n"
      "broken\n"
      "7f0000500000-7f0000501000 r-xp 00000000 08:01 15 /usr/lib/one.so\n"
      "7fff00000000-7fff00021000 rw-p 00000000 00:00 0 [stack]\n"
      "7fff00100000-7fff00102000 r-xp 00000000 00:00 0 [vdso]";
  const auto found = elf::loaded_objects_in(maps);
  REQUIRE(found.size() == 4);
  CHECK(found[0].path == "/bin/app");
  CHECK(found[0].begin == target_address{0x400000});
  CHECK(found[0].file == "08:01 11");
  CHECK(found[1].path == "/usr/lib/with blanks.so");
  CHECK(found[2].path == "/usr/lib/one.so");
  CHECK(found[3].path == "[vdso]");
  CHECK(found[3].file.empty());
}
