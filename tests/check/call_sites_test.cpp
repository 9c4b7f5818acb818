// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Encodings by hand from the architectures' manuals; a compiler's own calls are met by the fixtures.
#include "watch/call_sites.hpp"

#include <initializer_list>

#include "catch.hpp"
#include "fake_target.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using kind = check::call_site::kind;

namespace {

constexpr target_address code{0x10000};
constexpr target_address stub{0x20000};
const target_abi aarch64 = abi_of_elf(2, 1, 183);

std::vector<std::byte> bytes(std::initializer_list<unsigned> values, std::size_t size = 32) {
  std::vector<std::byte> all;
  for (const unsigned v : values) all.push_back(static_cast<std::byte>(v));
  all.resize(size, std::byte{0x90});
  return all;
}
std::vector<std::byte> words(std::initializer_list<std::uint32_t> values) {
  std::vector<std::byte> all;
  for (const std::uint32_t v : values) {
    for (int i = 0; i < 4; ++i) all.push_back(static_cast<std::byte>(v >> (8 * i)));
  }
  all.resize(32);
  return all;
}
void put_pointer(fake_memory& memory, target_address where, std::uint64_t value) {
  std::vector<std::byte> into(8);
  encode_integer(value, byte_order::little, into);
  memory.map(where, into);
}
/// What stands before code + 8.
std::optional<check::call_site> before_8(fake_memory& memory, const target_abi& abi) {
  return check::call_before(memory, abi, code + 8);
}

}  // namespace

TEST_CASE("x86: a direct call, to a function and through a stub of the linkage table") {
  fake_memory memory;
  memory.map(code, bytes({0x90, 0x90, 0x90, 0xe8, 0xf8, 0xff, 0x00, 0x00}));  // call 0x20000
  memory.map(stub, bytes({0x55, 0x48, 0x89, 0xe5}));
  auto site = before_8(memory, lp64_little);
  REQUIRE(site.has_value());
  CHECK(site->what == kind::known);
  CHECK(site->target == stub);

  // endbr64; bnd jmp *0x1ff5(%rip)
  memory.map(stub, bytes({0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 0xf5, 0x1f, 0x00, 0x00}));
  put_pointer(memory, target_address{0x22000}, 0x7f0012345678);
  CHECK(before_8(memory, lp64_little)->target == target_address{0x7f0012345678});
  memory.map(stub, bytes({0xff, 0x25, 0xfa, 0x1f, 0x00, 0x00}));  // jmp *0x1ffa(%rip)
  CHECK(before_8(memory, lp64_little)->target == target_address{0x7f0012345678});
}

TEST_CASE("x86: a call through the global offset table, through a register, and no call") {
  fake_memory memory;
  memory.map(code, bytes({0x90, 0x90, 0xff, 0x15, 0xf8, 0x1f, 0x00, 0x00}));  // call *0x1ff8(%rip)
  put_pointer(memory, target_address{0x12000}, 0x4444);
  CHECK(before_8(memory, lp64_little)->what == kind::known);
  CHECK(before_8(memory, lp64_little)->target == target_address{0x4444});
  memory.map(code, bytes({0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0}));  // call *%rax
  CHECK(before_8(memory, lp64_little)->what == kind::unknown);
  memory.map(code, bytes({0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0x50, 0x18}));  // call *0x18(%rax)
  CHECK(before_8(memory, lp64_little)->what == kind::unknown);
  memory.map(code, bytes({0x90}));
  CHECK(before_8(memory, lp64_little)->what == kind::none);
  memory.map(code, bytes({0x90, 0x90, 0x90, 0xe8, 0xf8, 0xff, 0xfe, 0xff}));  // i386: call 0x0, backwards
  CHECK(before_8(memory, ilp32_little)->target == target_address{0});
}

TEST_CASE("aarch64: bl, its stub, blr, and no call") {
  fake_memory memory;
  memory.map(code, words({0xd503201f, 0x94003fff}));  // bl .+0xfffc, from 0x10004
  memory.map(stub, words({0xa9bf7bfd}));
  CHECK(before_8(memory, aarch64)->what == kind::known);
  CHECK(before_8(memory, aarch64)->target == stub);
  // bti c; adrp x16, two pages on; ldr x17, [x16, #0x18]
  memory.map(stub, words({0xd503245f, 0xd0000010, 0xf9400e11}));
  put_pointer(memory, target_address{0x22018}, 0xffff0000);
  CHECK(before_8(memory, aarch64)->target == target_address{0xffff0000});
  // adrp x16, one page back
  memory.map(stub, words({0xf0fffff0, 0xf9400e11}));
  put_pointer(memory, target_address{0x1f018}, 0x1234);
  CHECK(before_8(memory, aarch64)->target == target_address{0x1234});
  memory.map(code, words({0xd503201f, 0xd63f0100}));  // blr x8
  CHECK(before_8(memory, aarch64)->what == kind::unknown);
  memory.map(code, words({0xd503201f, 0xd65f03c0}));  // ret
  CHECK(before_8(memory, aarch64)->what == kind::none);
  CHECK(check::call_before(memory, aarch64, code + 6)->what == kind::none);
}

TEST_CASE("unreadable bytes are no call, and calls of other machines are not decoded") {
  fake_memory memory;
  CHECK(before_8(memory, lp64_little)->what == kind::none);
  CHECK(check::call_before(memory, lp64_little, target_address{3})->what == kind::none);
  CHECK_FALSE(before_8(memory, lp64_big).has_value());
}
