// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Directory entries, which the draft packs and its C declaration does not.
#include "catch.hpp"
#include "fake_job.hpp"
#include "mpiacq/mpi2dd/mpi2dd_tables.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

result<mpi2dd::directory_entries> read_directory(fake_mpi_process& p) {
  p.publish();
  return mpi2dd::read_directory_entries(p.as_target(), p.info_symbol(), p.info.directory_table, p.info.directory_size);
}

std::vector<fake_entry> some(fake_mpi_process& p, int count) {
  std::vector<fake_entry> entries;
  for (int i = 0; i < count; ++i)
    entries.push_back({p.string("n" + std::to_string(i)), p.string("/usr/bin/dird"), 100 + i});
  return entries;
}

void check_entries(const mpi2dd::directory_entries& t, int count) {
  REQUIRE(t.size() == static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    CHECK(t.string(t.hosts()[at]) == "n" + std::to_string(i));
    CHECK(t.string(t.executables()[at]) == "/usr/bin/dird");
    CHECK(t.pids()[at] == 100 + i);
  }
  CHECK(t.facts().problem_count == 0);
}

structure_layout declared(std::size_t size) {
  return {"MPI2DD_DIRECTORYENTRY",
          size,
          {{"host_name", 0, 8, false, false}, {"executable_name", 8, 8, false, false}, {"pid", 16, 4, false, true}},
          layout_source::dwarf,
          "/usr/lib/libstarter.so",
          ""};
}

}  // namespace

TEST_CASE("each stride is inferred from the entries, on every ABI") {
  for (const target_abi& abi : every_abi) {
    for (const bool packed : {true, false}) {
      for (const int count : {1, 2, 3, 50}) {
        INFO(abi_title(abi) << (packed ? " packed " : " compiled ") << count);
        fake_mpi_process p(abi);
        p.put_directories(some(p, count), packed);
        const auto t = read_directory(p);
        REQUIRE(t.has_value());
        check_entries(*t, count);
        const bool choice = abi.pointer_size == 8 && count > 1;
        CHECK(t->stride().source == (choice ? layout_source::inferred : layout_source::fixed));
        if (choice) CHECK(t->stride().bytes == (packed ? 20 : 24));
        if (abi.pointer_size == 4) CHECK(t->stride().bytes == 12);
        CHECK_FALSE(t->stride().why.empty());
      }
    }
  }
}

TEST_CASE("debug information of the type decides the stride") {
  for (const bool packed : {true, false}) {
    fake_mpi_process p;
    p.put_directories(some(p, 4), packed);
    p.symbols.structure = declared(packed ? 20 : 24);
    const auto t = read_directory(p);
    REQUIRE(t.has_value());
    check_entries(*t, 4);
    CHECK(t->stride().source == layout_source::dwarf);
    CHECK(p.symbols.asked_variable == "MPI2DD_DIRECTORYENTRY");
    CHECK(p.symbols.asked_near == "MPI2DD_info");
    CHECK(p.memory.calls == 2);
    CHECK_THAT(t->stride().why, ContainsSubstring("debug information of /usr/lib/libstarter.so"));
  }
}

TEST_CASE("another type of the same name does not decide the stride") {
  fake_mpi_process p;
  p.put_directories(some(p, 4), false);
  p.symbols.structure = declared(32);
  const auto t = read_directory(p);
  REQUIRE(t.has_value());
  check_entries(*t, 4);
  CHECK(t->stride().source == layout_source::inferred);
  CHECK_THAT(t->stride().why, ContainsSubstring("is another type"));
  p.symbols.layout_error = error{error_code::bad_format, "broken units"};
  const auto again = read_directory(p);
  REQUIRE(again.has_value());
  CHECK_THAT(again->stride().why, ContainsSubstring("broken units"));
}

TEST_CASE("if one entry is bad with both strides, the stride with more good entries is used") {
  for (const bool packed : {true, false}) {
    fake_mpi_process p;
    auto entries = some(p, 9);
    entries[4].pid = -1;
    entries[5].host_name = target_address{0x10};
    p.put_directories(entries, packed);
    const auto t = read_directory(p);
    REQUIRE(t.has_value());
    CHECK(t->stride().bytes == (packed ? 20 : 24));
    CHECK_THAT(t->stride().why, ContainsSubstring("of 9 entries"));
    CHECK(t->facts().problem_count == 2);
    CHECK(t->hosts()[5] == mpi2dd::unreadable_string);
    CHECK(t->pids()[8] == 108);
  }
}

TEST_CASE("if both strides fit, the entries are read as packed") {
  fake_mpi_process p;
  // Null names and the same small number everywhere: 20 bytes on or 24, it looks alike.
  std::vector<std::byte> bytes(48);
  encode_integer(7, byte_order::little, std::span{bytes}.subspan(16, 4));
  encode_integer(7, byte_order::little, std::span{bytes}.subspan(36, 4));
  p.memory.map(fake_mpi_process::directories_at, bytes);
  p.info.directory_table = fake_mpi_process::directories_at;
  p.info.directory_size = 2;
  const auto t = read_directory(p);
  REQUIRE(t.has_value());
  CHECK(t->stride().bytes == 20);
  CHECK(t->pids()[1] == 7);
}

TEST_CASE("a packed table that ends at the end of memory is read completely") {
  for (const target_abi& abi : every_abi) {
    fake_mpi_process p(abi);
    p.put_directories(some(p, 3), true);
    const auto t = read_directory(p);
    REQUIRE(t.has_value());
    check_entries(*t, 3);
    CHECK_FALSE(t->facts().shortfall.has_value());
  }
}

TEST_CASE("a stride that no entry can have is refused") {
  fake_mpi_process p;
  p.put_directories(some(p, 2));
  p.publish();
  const auto t =
      mpi2dd::read_directory_entries(p.memory, p.abi, {16, layout_source::fixed, ""}, p.info.directory_table, 2);
  REQUIRE_FALSE(t.has_value());
  CHECK(t.error().code == error_code::invalid_argument);
}
