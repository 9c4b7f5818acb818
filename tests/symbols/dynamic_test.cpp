// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Hash tables and link maps built by hand: other widths and byte orders, and contents that no linker writes.
#include <elf.h>

#include "byte_writer.hpp"
#include "catch.hpp"
#include "elf/dynamic_section.hpp"
#include "elf/dynamic_symbols.hpp"
#include "elf_writer.hpp"
#include "fake_memory.hpp"
#include "modules/link_map.hpp"

using namespace mpiacq;
using namespace mpiacq::elf;
using namespace mpiacq::test;

namespace {

constexpr unsigned global_object = 1U << 4 | STT_OBJECT;
constexpr std::uint64_t table_value = 0x1234;

/// The positions of the pieces of the one module.
struct places {
  target_address hash{0x10000};
  target_address symbols{0x20000};
  target_address strings{0x30000};
};

/// The values that a test can falsify.
struct module_spec {
  std::uint64_t buckets = 1;
  std::uint64_t first_link = 1;
  std::vector<std::uint64_t> chain = {0, 2, 0};
  std::uint64_t claimed_symbols = 3;
  std::uint64_t second_name = 7;  // "other"
};

/// Two symbols, "other" and "table", in one bucket of a `.hash`.
dynamic_section system_v_module(fake_memory& memory, const target_abi& abi, const module_spec& spec = {}) {
  const places at;
  const std::size_t word = abi.elf_machine == EM_S390 ? 8 : 4;
  byte_writer hash{abi};
  hash.number(spec.buckets, word).number(spec.claimed_symbols, word).number(spec.first_link, word);
  for (const std::uint64_t link : spec.chain) hash.number(link, word);
  byte_writer symbols{abi};
  symbols.symbol(0, 0, 0, 0, 0);
  symbols.symbol(spec.second_name, 0x99, 4, global_object, 1).symbol(1, table_value, 8, global_object, 1);
  byte_writer strings{abi};
  strings.text("").text("table").text("other");
  dynamic_section section;
  section.strings_size = strings.size();
  memory.map(at.hash, hash.take());
  memory.map(at.symbols, symbols.take());
  memory.map(at.strings, strings.take());
  section.hash = at.hash;
  section.symbols = at.symbols;
  section.strings = at.strings;
  return section;
}

/// The same two symbols behind a `.gnu.hash` with one bucket and a Bloom filter that excludes nothing.
dynamic_section gnu_module(fake_memory& memory, const target_abi& abi, std::uint64_t bloom_words, std::uint64_t shift,
                           bool chain_ends) {
  dynamic_section section = system_v_module(memory, abi);
  const target_address where{0x40000};
  byte_writer hash{abi};
  hash.word(1).word(1).word(bloom_words).word(shift).wide(UINT64_MAX).word(1);
  hash.word(gnu_hash("other") & ~1U).word(chain_ends ? gnu_hash("table") | 1U : gnu_hash("table") & ~1U);
  if (!chain_ends) hash.pad_to(1 << 16);
  memory.map(where, hash.take());
  section.hash.reset();
  section.gnu_hash = where;
  return section;
}

result<std::vector<std::optional<definition>>> find(fake_memory& memory, const target_abi& abi,
                                                    const dynamic_section& section,
                                                    std::vector<std::string_view> names) {
  auto table = dynamic_symbols::read(memory, abi, section);
  if (!table) return fail(table.error());
  return table->find(memory, names);
}

void check_both_found(fake_memory& memory, const target_abi& abi, const dynamic_section& section) {
  const auto found = find(memory, abi, section, {"table", "absent", "other"});
  REQUIRE(found.has_value());
  REQUIRE((*found)[0].has_value());
  CHECK((*found)[0]->value == table_value);
  CHECK((*found)[0]->size == 8);
  CHECK((*found)[0]->kind == symbol_kind::data);
  CHECK_FALSE((*found)[1].has_value());
  REQUIRE((*found)[2].has_value());
  CHECK((*found)[2]->value == 0x99);
}

error refused(fake_memory& memory, const target_abi& abi, const dynamic_section& section) {
  const auto found = find(memory, abi, section, {"table"});
  REQUIRE_FALSE(found.has_value());
  return found.error();
}

}  // namespace

TEST_CASE("both kinds of hash tables are read in every class and byte order") {
  for (const target_abi& abi : elf_abis) {
    INFO("machine " << abi.elf_machine);
    fake_memory memory;
    check_both_found(memory, abi, system_v_module(memory, abi));
    fake_memory other;
    check_both_found(other, abi, gnu_module(other, abi, 1, 5, true));
  }
}

TEST_CASE("the two hash functions agree with their specifications") {
  // The function of the gABI, and the values of binutils and of the description of the GNU hash.
  CHECK(system_v_hash("printf") == 0x077905a6);
  CHECK(system_v_hash("exit") == 0x0006cf04);
  CHECK(gnu_hash("printf") == 0x156b2bb8);
  CHECK(gnu_hash("exit") == 0x7c967e3f);
  CHECK(gnu_hash("") == 0x00001505);
}

TEST_CASE("a hash table that contradicts itself is an error") {
  const target_abi& abi = elf_abis[0];
  fake_memory memory;
  SECTION("an absurd number of buckets leads out of memory") {
    const error e = refused(memory, abi, system_v_module(memory, abi, {0xfffffff1, 1, {0, 2, 0}, 3, 7}));
    CHECK(e.code == error_code::unreadable_memory);
  }
  SECTION("a chain that leads to itself has no end") {
    const error e = refused(memory, abi, system_v_module(memory, abi, {1, 1, {0, 1, 1}, 0xffffffff, 7}));
    CHECK_THAT(e.message, ContainsSubstring("without an end"));
  }
  SECTION("a chain that leads past the symbols") {
    const error e = refused(memory, abi, system_v_module(memory, abi, {1, 7, {0, 2, 0}, 3, 7}));
    CHECK_THAT(e.message, ContainsSubstring("symbol 7 of 3"));
  }
  SECTION("a name outside of the string table") {
    const error e = refused(memory, abi, system_v_module(memory, abi, {1, 1, {0, 2, 0}, 3, 0x10000}));
    CHECK_THAT(e.message, ContainsSubstring("its name at 0x10000"));
  }
  SECTION("a Bloom filter of no words, or of a number that is no power of two, or shifted away") {
    CHECK(refused(memory, abi, gnu_module(memory, abi, 0, 5, true)).code == error_code::bad_format);
    fake_memory second;
    CHECK(refused(second, abi, gnu_module(second, abi, 3, 5, true)).code == error_code::bad_format);
    fake_memory third;
    CHECK(refused(third, abi, gnu_module(third, abi, 1, 32, true)).code == error_code::bad_format);
  }
  SECTION("a Bloom filter larger than memory") {
    CHECK(refused(memory, abi, gnu_module(memory, abi, 0x80000000, 5, true)).code == error_code::unreadable_memory);
  }
  SECTION("a GNU chain whose last link is not marked") {
    const auto section = gnu_module(memory, abi, 1, 5, false);
    const auto found = find(memory, abi, section, {"absent"});
    REQUIRE_FALSE(found.has_value());
    CHECK_THAT(found.error().message, ContainsSubstring("without an end"));
  }
  SECTION("symbols of another size") {
    auto section = system_v_module(memory, abi);
    section.symbol_size = 16;
    CHECK(refused(memory, abi, section).code == error_code::bad_format);
  }
}

TEST_CASE("a module without buckets or without tables has no symbols") {
  fake_memory memory;
  const auto empty =
      find(memory, elf_abis[0], system_v_module(memory, elf_abis[0], {0, 1, {0, 2, 0}, 3, 7}), {"table"});
  REQUIRE(empty.has_value());
  CHECK_FALSE(empty->front().has_value());
  CHECK_FALSE(find(memory, elf_abis[0], dynamic_section{}, {"table"}).value().front().has_value());
}

TEST_CASE("pointers of a dynamic section are recognised as relocated or not by their values") {
  const target_abi& abi = elf_abis[0];
  const target_address bias{0x7f0000000000};
  for (const std::uint64_t moved : {std::uint64_t{0}, bias.value()}) {
    INFO("moved by " << moved);
    fake_memory memory;
    byte_writer section{abi};
    section.wide(DT_STRTAB)
        .wide(0x400 + moved)
        .wide(DT_SYMTAB)
        .wide(0x200 + moved)
        .wide(DT_GNU_HASH)
        .wide(0x100 + moved);
    section.wide(DT_STRSZ).wide(77).wide(DT_DEBUG).wide(0x5555).wide(DT_NEEDED).wide(9).wide(DT_NULL).wide(0);
    memory.map(bias + 0x3000, section.take());
    const auto read = read_dynamic_section(memory, abi, bias, bias + 0x3000);
    REQUIRE(read.has_value());
    CHECK(read->strings == bias + 0x400);
    CHECK(read->symbols == bias + 0x200);
    CHECK(read->gnu_hash == bias + 0x100);
    CHECK(read->strings_size == 77);
    CHECK(read->debug == target_address{0x5555});
    CHECK(read->needed == std::vector<std::uint64_t>{9});
  }
}

TEST_CASE("a dynamic section without an end is an error") {
  const target_abi& abi = elf_abis[0];
  fake_memory memory;
  byte_writer section{abi};
  for (int i = 0; i < 20000; ++i) section.wide(DT_NEEDED).wide(1);
  memory.map(target_address{0x1000}, section.take());
  const auto endless = read_dynamic_section(memory, abi, target_address{0}, target_address{0x1000});
  REQUIRE_FALSE(endless.has_value());
  CHECK(endless.error().code == error_code::bad_format);
  const auto short_one = read_dynamic_section(memory, abi, target_address{0}, target_address{0x1000 + 19990 * 16});
  REQUIRE_FALSE(short_one.has_value());
  CHECK(short_one.error().code == error_code::unreadable_memory);
}

namespace {

void map_node(fake_memory& memory, const target_abi& abi, std::uint64_t at, std::uint64_t name, std::uint64_t next) {
  byte_writer node{abi};
  node.wide(at * 2).wide(name).wide(at * 3).wide(next).wide(0);
  memory.map(target_address{at}, node.take());
}

}  // namespace

TEST_CASE("a link map is followed in every class and byte order") {
  for (const target_abi& abi : elf_abis) {
    INFO("machine " << abi.elf_machine);
    fake_memory memory;
    byte_writer r_debug{abi};
    r_debug.word(1)
        .pad_to(abi.pointer_size)
        .wide(0x2000)
        .wide(0xbeef)
        .word(2)
        .pad_to(std::size_t{5} * abi.pointer_size);
    memory.map(target_address{0x1000}, r_debug.take());
    map_node(memory, abi, 0x2000, 0x5000, 0x3000);
    map_node(memory, abi, 0x3000, 0x5001, 0);
    memory.map(target_address{0x5000}, std::string("\0/lib/odd\nname.so\0", 18));
    const auto head = read_link_map_head(memory, abi, target_address{0x1000});
    REQUIRE(head.has_value());
    CHECK(head->breakpoint == target_address{0xbeef});
    CHECK(head->being_changed);
    const auto list = read_link_map(memory, abi, *head);
    REQUIRE(list.has_value());
    CHECK(list->problems.empty());
    REQUIRE(list->entries.size() == 2);
    CHECK(list->entries[0].name.empty());
    CHECK(list->entries[1].name == "/lib/odd\nname.so");
    CHECK(list->entries[1].bias == target_address{0x6000});
    CHECK(list->entries[1].dynamic == target_address{0x9000});
  }
}

TEST_CASE("a broken link map keeps its readable entries and has a problem") {
  const target_abi& abi = elf_abis[0];
  fake_memory memory;
  map_node(memory, abi, 0x2000, 0, 0x3000);
  std::string expected;
  SECTION("it has a cycle") {
    map_node(memory, abi, 0x3000, 0, 0x2000);
    expected = "has a cycle: it returns to 0x2000";
  }
  SECTION("it leads to unmapped memory") {
    map_node(memory, abi, 0x3000, 0, 0xdead0000);
    expected = "leads to 0xdead0000";
  }
  SECTION("a name cannot be read") {
    map_node(memory, abi, 0x3000, 0xdead0000, 0);
    expected = "reading the name of the module at 0x6000";
  }
  SECTION("a name has no end") {
    map_node(memory, abi, 0x3000, 0x100000, 0);
    memory.map(target_address{0x100000}, std::string(10000, 'x'));
    expected = "no end within 4096 bytes";
  }
  const auto list = read_link_map(memory, abi, {target_address{0x2000}, {}, false});
  REQUIRE(list.has_value());
  CHECK(list->entries.size() == 2);
  REQUIRE(list->problems.size() == 1);
  CHECK_THAT(list->problems[0].message, ContainsSubstring(expected));
}

TEST_CASE("an endless link map is cut") {
  const target_abi& abi = elf_abis[0];
  fake_memory memory;
  byte_writer nodes{abi};
  constexpr std::uint64_t count = 70000;
  for (std::uint64_t i = 1; i <= count; ++i) nodes.wide(0).wide(0).wide(0).wide(0x10000 + i * 32);
  memory.map(target_address{0x10000}, nodes.take());
  const auto list = read_link_map(memory, abi, {target_address{0x10000}, {}, false});
  REQUIRE(list.has_value());
  CHECK(list->entries.size() == 65536);
  REQUIRE(list->problems.size() == 1);
  CHECK(list->problems[0].code == error_code::limit);
}
