// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Core files built by hand: other widths and byte orders, and contents that no kernel writes.
#include <filesystem>
#include <fstream>

#include <elf.h>
#include <unistd.h>

#include "catch.hpp"
#include "core_writer.hpp"
#include "description.hpp"
#include "elf_writer.hpp"
#include "mpiacq/process/core_file.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

constexpr std::uint64_t load_bias = 0x10000;
constexpr std::uint64_t value_of_symbol = 0x4242;

std::vector<std::byte> contents(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

/// A program with one dynamic symbol.
void write_program(const target_abi& abi, const std::string& path) {
  elf_writer file{abi};
  file.add_dynamic_variable("MPIR_proctable", value_of_symbol);
  file.write_to(path);
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> auxiliary_of(const target_abi& abi) {
  const bool is_64 = abi.pointer_size == 8;
  return {{AT_PHDR, load_bias + (is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr))},
          {AT_PHENT, is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)},
          {AT_PHNUM, 2},
          {AT_ENTRY, load_bias}};
}

std::vector<std::byte> bytes(std::size_t size, int value) {
  return std::vector<std::byte>(size, static_cast<std::byte>(value));
}

std::vector<std::byte> bytes_at(memory_reader& memory, std::uint64_t address, std::size_t size) {
  std::vector<std::byte> read(size);
  memory_range range{target_address{address}, read};
  REQUIRE(memory.read_ranges({&range, 1}).has_value());
  read.resize(range.got);
  return read;
}

std::unique_ptr<core_file> open(const std::string& path, core_file_options options = {}) {
  auto core = core_file::open(path, std::move(options));
  if (!core) FAIL(core.error().message);
  return std::move(*core);
}

std::string refusal(const std::string& path) {
  const auto core = core_file::open(path);
  REQUIRE_FALSE(core.has_value());
  CHECK(core.error().path == path);
  return core.error().message;
}

/// A valid core with one page of memory.
core_writer good(const target_abi& abi = elf_abis[0]) {
  core_writer core{abi};
  core.process(4242, "starter").thread(4243, 6).auxiliary(auxiliary_of(abi)).map(0x400000, bytes(4096, 0x5a));
  return core;
}

}  // namespace

TEST_CASE("a core of any width and byte order shows its process, its memory and its symbols") {
  for (const target_abi& abi : elf_abis) {
    INFO("machine " << abi.elf_machine);
    own_folder folder;
    write_program(abi, folder / "program");
    core_writer made{abi};
    made.thread(4243, 11).process(4242, "a_starter").auxiliary(auxiliary_of(abi));
    made.map(load_bias, contents(folder / "program"));
    byte_writer data{abi};
    data.word(0x01020304).wide(0x50607080);
    made.map(0x400000, std::move(data));
    made.write_to(folder / "core");

    const auto core = open(folder / "core");
    CHECK(core->abi() == abi);
    CHECK(core->pid() == process_id{4242});
    CHECK(core->signal() == 11);
    CHECK(core->executable() == "a_starter");
    CHECK(read_unsigned(*core, abi, target_address{0x400000}, 4).value() == 0x01020304);
    CHECK(read_pointer(*core, abi, target_address{0x400004}).value() == target_address{0x50607080});

    auto symbols = core_symbols::open(*core, {{}, false});
    if (!symbols) FAIL(symbols.error().message);
    CHECK((*symbols)->entry_point() == target_address{load_bias});
    const auto table = (*symbols)->find_symbol("MPIR_proctable");
    REQUIRE((table && *table));
    CHECK((*table)->address() == target_address{load_bias + value_of_symbol});
    CHECK((*table)->size == abi.pointer_size);
  }
}

TEST_CASE("without process information, a core has the number of its first thread as its pid") {
  own_folder folder;
  core_writer{elf_abis[0]}.thread(77, 6).thread(78, 0).map(0x1000, bytes(16, 1)).write_to(folder / "core");
  const auto core = open(folder / "core");
  CHECK(core->pid() == process_id{77});
  CHECK(core->executable().empty());
  const auto symbols = core_symbols::open(*core);
  REQUIRE_FALSE(symbols.has_value());
  CHECK_THAT(symbols.error().message, ContainsSubstring("no auxiliary vector"));
}

TEST_CASE("memory that was not dumped is unreadable and never reads as zeros") {
  own_folder folder;
  good()
      .map(0x500000, bytes(100, 7), 8192)
      .map(0x502000, bytes(100, 8))
      .map(0x600000, {}, 4096)
      .write_to(folder / "core");
  const auto core = open(folder / "core");
  CHECK(bytes_at(*core, 0x500000, 200) == bytes(100, 7));
  CHECK(bytes_at(*core, 0x500064, 1).empty());
  CHECK(bytes_at(*core, 0x501fff, 4).empty());
  CHECK(bytes_at(*core, 0x502000, 4) == bytes(4, 8));
  CHECK(bytes_at(*core, 0x600000, 1).empty());
  CHECK(bytes_at(*core, 0x3fffff, 2).empty());
  CHECK(bytes_at(*core, UINT64_MAX, 2).empty());
  CHECK(bytes_at(*core, 0, 2).empty());
}

TEST_CASE("one read covers neighbouring pieces of memory") {
  own_folder folder;
  good().map(0x401000, bytes(4096, 0x5b)).write_to(folder / "core");
  const auto core = open(folder / "core");
  auto expected = bytes(4096, 0x5a);
  expected.resize(8192, std::byte{0x5b});
  CHECK(bytes_at(*core, 0x400000, 9000) == expected);
}

TEST_CASE(
    "memory that was not dumped is read from the mapped file, except memory that the program could have written") {
  for (const target_abi& abi : elf_abis) {
    INFO("machine " << abi.elf_machine);
    own_folder folder;
    const std::string program = folder / "program";
    write_program(abi, program);
    auto whole = contents(program);
    whole.resize(3 * 4096, std::byte{0x77});
    core_writer::write(program, whole);
    auto first = whole;
    first.resize(4096);
    const std::vector<mapped_file> files = {{load_bias, load_bias + 2 * 4096, 0, program},
                                            {load_bias + 0x8000, load_bias + 0x9000, 2, program}};
    const auto core_with = [&](bool writable) {
      core_writer core{abi};
      core.process(1, "x").auxiliary(auxiliary_of(abi)).files(files);
      core.map(load_bias, first, 2 * 4096, PF_R);
      core.map(load_bias + 0x8000, {}, 4096, writable ? PF_R | PF_W : PF_R);
      return core;
    };
    core_with(false).write_to(folder / "core");
    auto core = open(folder / "core");
    CHECK(core->executable() == program);
    CHECK(bytes_at(*core, load_bias + 4096, 16) == bytes(16, 0x77));
    CHECK(bytes_at(*core, load_bias + 2 * 4096 - 4, 16) == bytes(4, 0x77));  // the mapping ends there
    CHECK(bytes_at(*core, load_bias + 0x8000, 16) == bytes(16, 0x77));
    core_with(true).write_to(folder / "core");
    core = open(folder / "core");
    CHECK(bytes_at(*core, load_bias + 0x8000, 16).empty());
    CHECK(core->problems().empty());

    // A file with other headers is another file.
    whole[24] ^= std::byte{1};  // in e_entry
    core_writer::write(program, whole);
    core = open(folder / "core");
    CHECK(bytes_at(*core, load_bias + 4096, 16).empty());
    REQUIRE(core->problems().size() == 1);
    CHECK_THAT(core->problems()[0].message, ContainsSubstring("is another file"));
    CHECK(core->problems()[0].path == program);
  }
}

TEST_CASE("a file whose first page the core lacks is not trusted") {
  own_folder folder;
  core_writer::write(folder / "file", bytes(8192, 3));
  good()
      .files({{0x700000, 0x702000, 0, folder / "file"}, {0x800000, 0x801000, 1, folder / "other"}})
      .map(0x700000, {}, 8192, PF_R)
      .write_to(folder / "core");
  const auto core = open(folder / "core");
  CHECK(bytes_at(*core, 0x700000, 16).empty());
  CHECK(bytes_at(*core, 0x701000, 16).empty());
  CHECK(bytes_at(*core, 0x800000, 16).empty());
  CHECK(core->problems().size() == 2);  // once for each file
}

TEST_CASE("the error for another kind of file names the kind") {
  own_folder folder;
  const auto with = [&](const std::string& bytes_of_file) {
    std::ofstream{folder / "file", std::ios::binary} << bytes_of_file;
    return refusal(folder / "file");
  };
  CHECK_THAT(with(""), ContainsSubstring("is empty"));
  CHECK_THAT(with("hello"), ContainsSubstring("is not an ELF file"));
  CHECK_THAT(with("\x28\xb5\x2f\xfd...."), ContainsSubstring("packed with zstd"));
  CHECK_THAT(with("\x1f\x8b...."), ContainsSubstring("gunzip"));
  CHECK_THAT(refusal(fixture("pie")), ContainsSubstring("not a core file but a program"));
  CHECK_THAT(refusal(folder / ""), ContainsSubstring("directory"));
  const auto absent = core_file::open(folder / "absent");
  REQUIRE_FALSE(absent.has_value());
  CHECK(absent.error().code == error_code::not_found);
  core_writer{elf_abis[0]}.process(1, "x").write_to(folder / "file");
  CHECK_THAT(refusal(folder / "file"), ContainsSubstring("without notes or without memory"));
}

TEST_CASE("the claims of a core are checked against its contents") {
  own_folder folder;
  const std::string path = folder / "core";
  SECTION("more mapped files than the list has room for") {
    good().files({{0x1000, 0x2000, 0, "/x"}}, UINT64_MAX / 2).write_to(path);
    CHECK_THAT(open(path)->problems()[0].message, ContainsSubstring("mapped files"));
  }
  SECTION("mapped files that end before they begin, overlap, or reach past everything") {
    good()
        .files({{0x2000, 0x1000, 0, "/x"},
                {0x3000, 0x5000, UINT64_MAX, "/y"},
                {0x4000, 0x6000, 0, "/z"},
                {0x5000, 0x7000, 0, "/w"}})
        .write_to(path);
    const auto core = open(path);
    CHECK(bytes_at(*core, 0x4000, 8).empty());
    CHECK(bytes_at(*core, 0x6000, 8).empty());
  }
  SECTION("notes with odd sizes") {
    good()
        .note(NT_PRPSINFO, bytes(7, 1))
        .note(NT_PRSTATUS, {})
        .note(NT_FILE, bytes(3, 0))
        .note(NT_AUXV, {})
        .write_to(path);
    CHECK(open(path)->pid() == process_id{4242});
  }
  SECTION("a note of another owner") {
    good().note(NT_PRPSINFO, bytes(136, 1), "LINUX").write_to(path);
    CHECK(open(path)->pid() == process_id{4242});
  }
  SECTION("overlapping pieces of memory: the first one is used") {
    good().map(0x400800, bytes(4096, 1)).write_to(path);
    CHECK(bytes_at(*open(path), 0x400800, 4) == bytes(4, 0x5a));
  }
  SECTION("a piece at the end of all addresses") {
    good().map(UINT64_MAX - 7, bytes(64, 1)).write_to(path);
    CHECK(bytes_at(*open(path), UINT64_MAX - 7, 64).size() <= 8);
  }
  SECTION("a piece that claims to be far behind the end") {
    auto all = good().bytes();
    // The offset of the one PT_LOAD, the second program header.
    encode_integer(UINT64_MAX - 4, byte_order::little, std::span{all}.subspan(64 + 56 + 8, 8));
    core_writer::write(path, all);
    const auto core = open(path);
    CHECK(bytes_at(*core, 0x400000, 8).empty());
    CHECK_THAT(core->problems()[0].message, ContainsSubstring("cut short"));
  }
  SECTION("a piece that claims a hundred terabytes") {
    auto all = good().bytes();
    encode_integer(std::uint64_t{100} << 40, byte_order::little, std::span{all}.subspan(64 + 56 + 32, 8));  // p_filesz
    encode_integer(std::uint64_t{100} << 40, byte_order::little, std::span{all}.subspan(64 + 56 + 40, 8));  // p_memsz
    core_writer::write(path, all);
    CHECK(bytes_at(*open(path), 0x400000, 8) == bytes(8, 0x5a));
    if (::truncate(path.c_str(), std::int64_t{1} << 42) == 0) {
      CHECK(bytes_at(*open(path), 0x400000 + (std::uint64_t{1} << 41), 8) == bytes(8, 0));  // a hole in the core itself
    }
  }
  SECTION("more program headers than the limit, in a file with holes") {
    auto all = good().bytes();
    encode_integer(0xffff, byte_order::little, std::span{all}.subspan(56, 2));  // e_phnum: PN_XNUM
    encode_integer(all.size(), byte_order::little, std::span{all}.subspan(40, 8));
    encode_integer(64, byte_order::little, std::span{all}.subspan(58, 2));
    encode_integer(1, byte_order::little, std::span{all}.subspan(60, 2));
    all.resize(all.size() + 64);
    encode_integer(0xffffffff, byte_order::little, std::span{all}.last(64).subspan(44, 4));  // sh_info
    core_writer::write(path, all);
    if (::truncate(path.c_str(), std::int64_t{1} << 42) != 0) return;
    CHECK_THAT(refusal(path), ContainsSubstring("program headers"));
  }
}

TEST_CASE("a core that is cut anywhere is refused or reported as cut") {
  own_folder folder;
  const auto all = good().bytes();
  for (std::size_t size = 0; size < all.size(); size += 7) {
    core_writer::write(folder / "core", {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size)});
    auto core = core_file::open(folder / "core");
    if (!core) {
      CHECK_FALSE(core.error().message.empty());
      continue;
    }
    INFO(size);
    CHECK_FALSE((*core)->problems().empty());
    (void)core_symbols::open(**core);
  }
}
