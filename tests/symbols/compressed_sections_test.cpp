// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Sections that Python's zlib has compressed, of targets of both widths and byte orders.
#include "debug_files/compressed_sections.hpp"

#include <algorithm>

#include <elf.h>
#include <fmt/format.h>

#include "byte_writer.hpp"
#include "catch.hpp"
#include "run_command.hpp"

using namespace mpiacq;
using namespace mpiacq::debug_info;
using namespace mpiacq::test;

namespace {

constexpr std::size_t plain_size = 300'000;

std::byte plain_byte(std::size_t at) {
  return static_cast<std::byte>(at * at / 7 % 251);
}

std::vector<std::byte> compressed_by_python() {
  const scratch_folder folder;
  const std::string program = fmt::format(
      "import sys, zlib\n"
      "open(sys.argv[1], 'wb').write(zlib.compress(bytes(i * i // 7 % 251 for i in range({}))))\n",
      plain_size);
  const auto made = run_command({"python3", "-c", program, folder.path("stream")});
  INFO(made.err);
  REQUIRE(made.exit_code == 0);
  const std::string stream = file_contents(folder.path("stream"));
  std::vector<std::byte> bytes(stream.size());
  std::transform(stream.begin(), stream.end(), bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

std::vector<std::byte> with_header(const target_abi& abi, std::uint64_t type, std::uint64_t claim) {
  byte_writer header{abi};
  header.word(type);
  if (abi.pointer_size == 8) header.word(0);
  return header.wide(claim).wide(1).take();
}

std::vector<std::byte> with_old_header(std::uint64_t claim) {
  byte_writer header{abi_of_elf(ELFCLASS64, ELFDATA2MSB, EM_PPC64)};
  for (const char c : {'Z', 'L', 'I', 'B'}) header.byte(static_cast<unsigned char>(c));
  return header.wide(claim).take();
}

/// A file of one compressed section, and of one that is not.
elf::memory_elf packed(const target_abi& abi, const std::string& name, std::vector<std::byte> header,
                       const std::vector<std::byte>& stream) {
  header.insert(header.end(), stream.begin(), stream.end());
  elf::section compressed, plain;
  compressed.type = plain.type = SHT_PROGBITS;
  compressed.size = header.size();
  if (!name.starts_with(".z")) compressed.flags = SHF_COMPRESSED;
  plain.size = 3;
  elf::memory_elf file{abi, ET_DYN, {{}, {name, compressed}, {".debug_abbrev", plain}}};
  std::copy(header.begin(), header.end(), file.contents(1).begin());
  std::fill(file.contents(2).begin(), file.contents(2).end(), std::byte{5});
  return file;
}

void check_inflated(elf::memory_elf file, const target_abi& abi) {
  elf::memory_elf made = inflate_sections(std::move(file), abi, ET_DYN);
  REQUIRE(made.parts().size() == 4);  // with the names of the sections
  CHECK(made.parts()[1].name == ".debug_str");
  CHECK(made.parts()[1].header.flags == 0);
  const auto bytes = made.contents(1);
  REQUIRE(bytes.size() == plain_size);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) wrong += static_cast<std::size_t>(bytes[i] != plain_byte(i));
  CHECK(wrong == 0);
  const auto other = made.contents(2);
  CHECK((other.size() == 3 && std::all_of(other.begin(), other.end(), [](std::byte b) { return b == std::byte{5}; })));
}

void check_untouched(elf::memory_elf file, const target_abi& abi) {
  const elf::memory_elf::part before = file.parts()[1];
  const std::vector<std::byte> contents{file.contents(1).begin(), file.contents(1).end()};
  elf::memory_elf made = inflate_sections(std::move(file), abi, ET_DYN);
  REQUIRE(made.parts().size() == 4);
  CHECK(made.parts()[1].name == before.name);
  CHECK(made.parts()[1].header.flags == before.header.flags);
  CHECK(std::equal(contents.begin(), contents.end(), made.contents(1).begin(), made.contents(1).end()));
}

}  // namespace

TEST_CASE("sections of zlib are inflated for targets of both widths and byte orders") {
  const std::uint8_t width = GENERATE(std::uint8_t{ELFCLASS32}, std::uint8_t{ELFCLASS64});
  const std::uint8_t order = GENERATE(std::uint8_t{ELFDATA2LSB}, std::uint8_t{ELFDATA2MSB});
  const target_abi abi = abi_of_elf(width, order, EM_NONE);
  const auto stream = compressed_by_python();
  REQUIRE(stream.size() < plain_size);
  check_inflated(packed(abi, ".debug_str", with_header(abi, ELFCOMPRESS_ZLIB, plain_size), stream), abi);
  check_inflated(packed(abi, ".zdebug_str", with_old_header(plain_size), stream), abi);
}

TEST_CASE("compressed sections that are damaged, or not of zlib, stay as they are") {
  const target_abi abi = abi_of_elf(ELFCLASS64, ELFDATA2LSB, EM_X86_64);
  const auto stream = compressed_by_python();
  const auto file = [&](std::vector<std::byte> header, const std::vector<std::byte>& with) {
    return packed(abi, ".debug_str", std::move(header), with);
  };
  for (const std::uint64_t claim : {plain_size - 1, plain_size + 1, std::size_t{0}}) {
    INFO(claim);
    check_untouched(file(with_header(abi, ELFCOMPRESS_ZLIB, claim), stream), abi);
  }
  check_untouched(file(with_header(abi, 2, plain_size), stream), abi);
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, stream.size() / 2, stream.size() - 1}) {
    INFO(size);
    const std::vector<std::byte> shorter{stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(size)};
    check_untouched(file(with_header(abi, ELFCOMPRESS_ZLIB, plain_size), shorter), abi);
  }
  auto damaged = stream;
  damaged[damaged.size() / 2] ^= std::byte{0x55};
  check_untouched(file(with_header(abi, ELFCOMPRESS_ZLIB, plain_size), damaged), abi);
  check_untouched(file({std::byte{1}, std::byte{0}, std::byte{0}}, {}), abi);  // a header that ends too early
  check_untouched(packed(abi, ".zdebug_str", with_header(abi, ELFCOMPRESS_ZLIB, plain_size), stream), abi);
}
