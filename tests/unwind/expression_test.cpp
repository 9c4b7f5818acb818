// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Expressions of call frame information, with answers worked out by hand from DWARF 5, 2.5.1.
#include <elf.h>

#include "catch.hpp"
#include "rules/frame_expression.hpp"

using namespace mpiacq;
using namespace mpiacq::unwinding;

namespace {

/// Register n holds 0x100 * n, and the word at address a is a + 0x1000. Below 16 there is no memory.
class plain_view final : public expression_view {
 public:
  [[nodiscard]] std::optional<std::uint64_t> value(std::size_t number) override { return 0x100 * number; }
  [[nodiscard]] std::optional<std::uint64_t> read(std::uint64_t address) override {
    return address < 16 ? std::nullopt : std::optional(address + 0x1000);
  }
};

std::optional<std::uint64_t> evaluated(const architecture& machine, const std::vector<std::uint8_t>& operations,
                                       std::optional<std::uint64_t> cfa = std::nullopt) {
  plain_view view;
  return evaluate_expression(machine, std::as_bytes(std::span{operations}), cfa, view);
}

std::optional<std::uint64_t> wide(const std::vector<std::uint8_t>& operations) {
  return evaluated(arch::native(), operations);
}

}  // namespace

TEST_CASE("expressions read constants, registers and memory") {
  CHECK(wide({0x30}) == 0);                                              // lit0
  CHECK(wide({0x4f}) == 31);                                             // lit31
  CHECK(wide({0x03, 1, 2, 3, 4, 5, 6, 7, 8}) == 0x0807060504030201);     // addr
  CHECK(wide({0x08, 0xff}) == 255);                                      // const1u
  CHECK(wide({0x09, 0xff}) == UINT64_MAX);                               // const1s
  CHECK(wide({0x0a, 0xfe, 0xff}) == 0xfffe);                             // const2u
  CHECK(wide({0x0d, 0xfe, 0xff, 0xff, 0xff}) == UINT64_MAX - 1);         // const4s
  CHECK(wide({0x0e, 1, 0, 0, 0, 0, 0, 0, 0x80}) == 0x8000000000000001);  // const8u
  CHECK(wide({0x10, 0x80, 1}) == 128);                                   // constu
  CHECK(wide({0x11, 0x7e}) == UINT64_MAX - 1);                           // consts
  CHECK(wide({0x74, 8}) == 0x408);                                       // breg4 + 8
  CHECK(wide({0x76, 0x78}) == 0x5f8);                                    // breg6 - 8
  CHECK(wide({0x92, 5, 3}) == 0x503);                                    // bregx 5 + 3
  CHECK(wide({0x74, 8, 0x06}) == 0x1408);                                // the word there
  CHECK(wide({0x74, 8, 0x94, 1}) == 0x08);                               // one byte of it
  CHECK(wide({0x74, 8, 0x94, 2}) == 0x1408);                             // two
  CHECK(wide({0x96, 0x31}) == 1);                                        // nop
}

TEST_CASE("expressions reorder their stack and compute") {
  CHECK(wide({0x35, 0x12, 0x22}) == 10);                    // 5 dup plus
  CHECK(wide({0x35, 0x33, 0x13}) == 5);                     // drop
  CHECK(wide({0x35, 0x33, 0x14}) == 5);                     // over
  CHECK(wide({0x35, 0x33, 0x16, 0x1c}) == UINT64_MAX - 1);  // 5 3 swap minus: 3 - 5
  CHECK(wide({0x35, 0x33, 0x31, 0x15, 2}) == 5);            // pick the third
  CHECK(wide({0x31, 0x32, 0x33, 0x17}) == 2);               // 1 2 3 rot: 3 1 2
  CHECK(wide({0x31, 0x32, 0x33, 0x17, 0x13, 0x13}) == 3);
  CHECK(wide({0x09, 0xfb, 0x19}) == 5);                         // |-5|
  CHECK(wide({0x3f, 0x3a, 0x1a}) == 10);                        // 15 & 10
  CHECK(wide({0x3f, 0x34, 0x1d}) == 3);                         // 15 mod 4
  CHECK(wide({0x35, 0x33, 0x1e}) == 15);                        // 5 * 3
  CHECK(wide({0x31, 0x1f}) == UINT64_MAX);                      // -1
  CHECK(wide({0x30, 0x20}) == UINT64_MAX);                      // ~0
  CHECK(wide({0x35, 0x3a, 0x21}) == 15);                        // 5 | 10
  CHECK(wide({0x35, 0x3c, 0x27}) == 9);                         // 5 ^ 12
  CHECK(wide({0x35, 0x23, 0x80, 1}) == 133);                    // 5 + 128
  CHECK(wide({0x31, 0x34, 0x24}) == 16);                        // 1 << 4
  CHECK(wide({0x09, 0xf0, 0x34, 0x25}) == 0x0fffffffffffffff);  // -16 >> 4, without its sign
  CHECK(wide({0x09, 0xf0, 0x34, 0x26}) == UINT64_MAX);          // with its sign: -1
  // The stub of a procedure linkage table: register 7 + 8 + ((pc & 15) >= 11) * 8, with pc 0x1000.
  CHECK(wide({0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}) == 0x708);
}

TEST_CASE("comparisons in expressions are signed") {
  const auto compare = [](std::uint8_t code) { return wide({0x09, 0xff, 0x31, code}); };  // -1 and 1
  CHECK(compare(0x29) == 0);
  CHECK(compare(0x2a) == 0);
  CHECK(compare(0x2b) == 0);
  CHECK(compare(0x2c) == 1);
  CHECK(compare(0x2d) == 1);
  CHECK(compare(0x2e) == 1);
}

TEST_CASE("an expression begins with the CFA on its stack, if there is a CFA") {
  CHECK(evaluated(arch::native(), {0x38, 0x1c}, 0x1000) == 0xff8);
  CHECK(evaluated(arch::native(), {0x38, 0x1c}) == std::nullopt);
}

TEST_CASE("an expression without a result gives none") {
  CHECK_FALSE(wide({}));                                     // nothing is left
  CHECK_FALSE(wide({0x22}));                                 // nothing to add
  CHECK_FALSE(wide({0x31, 0x15, 1}));                        // nothing so deep
  CHECK_FALSE(wide({0x3f, 0x30, 0x1d}));                     // modulo 0
  CHECK_FALSE(wide({0x31, 0x06}));                           // no memory
  CHECK_FALSE(wide({0x31, 0x94, 1}));                        // no memory
  CHECK_FALSE(wide({0x74, 0, 0x94, 9}));                     // more than a word
  CHECK_FALSE(wide({0x92, 60, 0}));                          // no such register
  CHECK_FALSE(wide({0x50}));                                 // a register is a place
  CHECK_FALSE(wide({0x31, 0x31, 0x1b}));                     // div
  CHECK_FALSE(wide({0x0e, 1}));                              // ends in the middle
  CHECK_FALSE(wide(std::vector<std::uint8_t>(1000, 0x31)));  // more than is kept
}

TEST_CASE("expressions for i386 have 32-bit numbers") {
  const architecture* i386 = arch::of(abi_of_elf(ELFCLASS32, ELFDATA2LSB, EM_386));
  if (i386 == nullptr) MPIACQ_SKIP("code of 32 bits is walked on x86-64 alone");
  CHECK(evaluated(*i386, {0x03, 1, 2, 3, 4}) == 0x04030201);                  // addr
  CHECK(evaluated(*i386, {0x31, 0x1f}) == UINT32_MAX);                        // -1
  CHECK(evaluated(*i386, {0x09, 0xff, 0x31, 0x22}) == 0);                     // -1 + 1
  CHECK(evaluated(*i386, {0x0c, 0, 0, 0, 0x80, 0x31, 0x2d}) == 1);            // 0x80000000 < 1: it is negative
  CHECK(evaluated(*i386, {0x0c, 0, 0, 0, 0x80, 0x34, 0x26}) == 0xf8000000U);  // and keeps its sign
  CHECK(evaluated(*i386, {0x31, 0x08, 32, 0x24}) == 0);                       // 1 << 32
  CHECK_FALSE(evaluated(*i386, {0x74, 0, 0x94, 8}));                          // more than a word
}
