// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The arguments of calls that debug information describes. The oracle is DWARF 5: 2.5 (expressions) and 3.4 (calls).
#include "arguments/described_call.hpp"

#include "made_code.hpp"
#include "mpiacq/process/code_catalogue.hpp"
#include "stopped_process.hpp"

using namespace mpiacq;
using namespace mpiacq::unwinding;

namespace {

using bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t link_base = 0x400000;  // of the module, in its file
constexpr std::uint64_t frame_address = sp + 0x50;
constexpr std::uint64_t entered_rdi = 0x1122334455667788;
constexpr std::uint64_t entered_esi = 0xfffffffb;  // -5 in 32 bits

std::vector<std::byte> expression(const bytes& from) {
  std::vector<std::byte> all;
  for (const std::uint8_t one : from) all.push_back(std::byte{one});
  return all;
}

/// rdi was set as 64 bits, esi as 32 bits, and rdx was read from memory.
entry_registers entered_registers() {
  entry_registers all{};
  all[5] = recipe_value{entered_rdi};
  all[4] = recipe_value{entered_esi, false, 32};
  all[1] = recipe_value{7, true};
  return all;
}

evaluated_call evaluated(const call_description& described, std::size_t count) {
  const call_recipe recipe = recipe_of_description(described, arch::x86_64_instructions().convention, link_base);
  const thread_registers registers = x86_64_registers();
  const entry_registers entered = entered_registers();
  test::fake_memory memory = make_memory();
  auto call = evaluate(
      recipe, {registers, ~std::uint64_t{0}, target_address{unwinding::module}, memory, frame_address, &entered},
      count);
  REQUIRE(call.has_value());
  return *call;
}

/// The first argument, in rdi, of a call that has passed the value of this expression.
evaluated_call passing(const bytes& value, const bytes& frame_base = {0x9c}, bool by_gcc = true) {
  return evaluated({{{expression({0x55}), expression(value)}}, by_gcc, expression(frame_base)}, 1);
}

void row(const char* what, const bytes& value, expected wanted) {
  check_row(what, passing(value), {wanted});
}

void row_of_bits(const char* what, const bytes& value, std::uint64_t wanted, std::uint8_t bits) {
  const evaluated_call call = passing(value);
  CAPTURE(what);
  REQUIRE(call.arguments.front().has_value());
  CHECK(call.bits.front() == bits);
  const std::uint64_t mask = bits == 64 ? UINT64_MAX : (std::uint64_t{1} << bits) - 1;
  CHECK((call.arguments.front()->number & mask) == wanted);
}

}  // namespace

TEST_CASE("the value of a described argument is that of its expression") {
  row("DW_OP_lit5", {0x35}, 5);
  row("DW_OP_const1s -2", {0x09, 0xfe}, 0xfffffffffffffffe);
  row("DW_OP_const2u", {0x0a, 0x34, 0x12}, 0x1234);
  row("DW_OP_constu", {0x10, 0x80, 0x01}, 128);
  row("DW_OP_consts", {0x11, 0x7f}, ~0ULL);
  row("DW_OP_addr is a link-time address", {0x03, 0x20, 0x10, 0x40, 0, 0, 0, 0, 0}, unwinding::module + 0x1020);
  row("DW_OP_breg3 rbx-4", {0x73, 0x7c}, rbx - 4);
  row("DW_OP_bregx r12+1", {0x92, 0x0c, 0x01}, r12 + 1);
  row("DW_OP_fbreg -8, with the frame address as base", {0x91, 0x78}, frame_address - 8);
  row("DW_OP_call_frame_cfa", {0x9c}, frame_address);
  row("DW_OP_breg6 rbp-8, DW_OP_deref", {0x76, 0x78, 0x06}, word(rbp - 8));
  row("DW_OP_breg6 rbp-8, DW_OP_deref_size 4", {0x76, 0x78, 0x94, 0x04}, word(rbp - 8) & 0xffffffff);
  row("DW_OP_breg3 rbx, DW_OP_lit1, DW_OP_shl", {0x73, 0x00, 0x31, 0x24}, rbx << 1U);
  row("the sign extension of ebx", {0x73, 0x00, 0x08, 0x20, 0x24, 0x08, 0x20, 0x26}, sign(rbx));
  row("DW_OP_breg3 rbx, DW_OP_dup, DW_OP_plus", {0x73, 0x00, 0x12, 0x22}, rbx + rbx);
  row("DW_OP_lit7, DW_OP_lit2, DW_OP_swap, DW_OP_minus", {0x37, 0x32, 0x16, 0x1c}, 0xfffffffffffffffb);
  row("DW_OP_breg3 rbx, DW_OP_not, DW_OP_lit15, DW_OP_and", {0x73, 0x00, 0x20, 0x3f, 0x1a}, ~rbx & 15U);
  row("DW_OP_breg3 rbx, DW_OP_neg", {0x73, 0x00, 0x1f}, 0 - rbx);
  row("DW_OP_lit4, DW_OP_stack_value", {0x34, 0x9f}, 4);
  check_row("a constant of another compiler than GCC", passing({0x34}, {0x9c}, false), {4});
  check_row("an address of another compiler", passing({0x91, 0x78}, {0x9c}, false), {frame_address - 8});
}
TEST_CASE("a description may use the values with which its function was entered") {
  row("DW_OP_entry_value(rdi)", {0xa3, 0x01, 0x55}, entered_rdi);
  row("DW_OP_GNU_entry_value(rdi), DW_OP_plus_uconst 2", {0xf3, 0x01, 0x55, 0x23, 0x02}, entered_rdi + 2);
  row("a register whose value at the entry is not known", {0xa3, 0x01, 0x52}, unknown);
  row("a value that was read from memory, which may have changed since", {0xa3, 0x01, 0x51}, unknown);
  row("an entry value of more than a register", {0xa3, 0x02, 0x75, 0x00}, unknown);
  row("memory at an address of which only a half is known", {0xa3, 0x01, 0x54, 0x06}, unknown);
  row("the upper half of a register whose lower half is known", {0xa3, 0x01, 0x54, 0x08, 0x20, 0x25}, unknown);
  row_of_bits("a lower half", {0xa3, 0x01, 0x54}, entered_esi, 32);
  row_of_bits("a lower half plus 1", {0xa3, 0x01, 0x54, 0x23, 0x01}, entered_esi + 1, 32);
  row_of_bits("the sign extension of a lower half", {0xa3, 0x01, 0x54, 0x08, 0x20, 0x24, 0x08, 0x20, 0x26},
              sign(entered_esi), 64);
}
TEST_CASE("an argument is unknown if its expression has no value here") {
  row("DW_OP_breg0 rax, which the called function may change", {0x70, 0x00}, unknown);
  row("DW_OP_reg3, which is a place", {0x53}, unknown);
  row("nothing", {}, unknown);
  row("DW_OP_plus without values", {0x22}, unknown);
  row("two values", {0x31, 0x32}, unknown);
  row("DW_OP_addr without an address", {0x03, 0x00}, unknown);
  row("an operation that does not exist", {0x31, 0xe5}, unknown);
  row("a shift by a computed number", {0x31, 0x73, 0x00, 0x24}, unknown);
  check_row("a register that another compiler than GCC names", passing({0x73, 0x00}, {0x9c}, false), {unknown});
  check_row("such a frame base", passing({0x91, 0x78}, {0x56}, false), {unknown});
  row("a shift by 64", {0x73, 0x00, 0x08, 0x40, 0x24}, unknown);
  row("DW_OP_deref_size 3", {0x76, 0x78, 0x94, 0x03}, unknown);
  row("memory that cannot be read", {0x7f, 0x00, 0x06}, unknown);
  row("memory of the called function", {0x77, 0x78, 0x06}, unknown);
  row("more than a recipe holds", bytes(300, 0x31), unknown);
  const bytes from_base = {0x91, 0x78};
  check_row("a function without a frame base", passing(from_base, {}), {unknown});
  check_row("the frame base rbp", passing(from_base, {0x56}), {rbp - 8});
  check_row("the frame base rsp, which moves", passing(from_base, {0x57}), {unknown});
  check_row("a frame base that refers to itself", passing(from_base, {0x91, 0x00}), {unknown});
}
TEST_CASE("a described argument is in a register or on the stack") {
  const std::vector<call_description::parameter> parameters = {
      {expression({0x54}), expression({0x32})},        // rsi
      {expression({0x90, 0x09}), expression({0x36})},  // r9, by DW_OP_regx
      {expression({0x77, 0x08}), expression({0x38})},  // rsp+8
      {expression({0x77, 0x09}), expression({0x39})},  // rsp+9 is no argument
      {expression({0x53}), expression({0x3a})},        // neither is rbx
      {expression({0x77, 0x7f}), expression({0x3b})},  // nor anything below the stack pointer
      {expression({0x77, 0xff, 0xff, 0xff, 0x07}), expression({0x3c})}};
  check_row("places", evaluated({parameters, true, {}}, 8), {unknown, 2, unknown, unknown, unknown, 6, unknown, 8});
}
TEST_CASE("an argument for which the instructions and the description differ is unknown") {
  // fixtures/calls/calls.c, call 0: MPI_Send(field, 100, TYPE, 1, 99, WORLD).
  test::stopped_process p{{std::string(MPIACQ_CALLS) + "/gcc_O0", "0"}};
  test::walker w{p.pid()};
  const raw_stack stack = w.walk(p.main_registers());
  std::uint64_t return_address = 0;
  for (const std::string& line : p.lines) {
    if (line.starts_with("call ")) return_address = std::stoull(line.substr(5), nullptr, 16);
  }
  std::size_t frame = 0;
  while (frame + 1 < stack.frames.size() && stack.frames[frame + 1].pc.value() != return_address) ++frame;
  REQUIRE(frame + 1 < stack.frames.size());
  const auto describe = [&](target_address asked) -> std::optional<call_description> {
    CHECK(asked.value() == return_address);
    return call_description{{{expression({0x54}), expression({0x08, 101})},  // the count
                             {expression({0x52}), expression({0x31})},       // the destination
                             {expression({0x58}), expression({0x08, 99})}},  // the tag
                            true,
                            {}};
  };
  const auto found = w.stacks->arguments(p.main_registers(), frame, 6, describe);
  REQUIRE(found.has_value());
  CHECK_FALSE(found->arguments.at(1).is_known());
  CHECK(found->arguments.at(2).source == argument_source::instructions);
  CHECK(found->arguments.at(3).source == argument_source::call_site);
  CHECK(found->arguments.at(3).value == 1);
  CHECK(found->arguments.at(4).source == argument_source::call_site);
  CHECK(found->arguments.at(4).value == 99);
}
