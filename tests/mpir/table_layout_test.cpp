// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "fake_target.hpp"
#include "mpiacq/job/process_table.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

structure_layout layout_of(std::uint64_t size, structure_member host, structure_member executable,
                           structure_member pid) {
  host.name = "host_name";
  executable.name = "executable_name";
  pid.name = "pid";
  return {"MPIR_PROCDESC", size, {host, executable, pid}, layout_source::dwarf, "/bin/starter", ""};
}
structure_member pointer_at(std::uint64_t offset, std::uint64_t size = 8) {
  return {"", offset, size, true, false};
}
structure_member integer_at(std::uint64_t offset, std::uint64_t size, bool is_signed = true) {
  return {"", offset, size, false, is_signed};
}

error refused(const structure_layout& layout, const target_abi& abi = lp64_little) {
  fake_memory memory;
  const auto table = read_process_table(memory, abi, layout, target_address{0x1000}, 1);
  REQUIRE_FALSE(table.has_value());
  CHECK(memory.calls == 0);
  return table.error();
}

}  // namespace

TEST_CASE("fields are found by name in any order, between others, with garbage in the padding") {
  for (const target_abi& abi : every_abi) {
    INFO(abi_title(abi));
    const std::uint64_t p = abi.pointer_size;
    fake_starter starter(abi);
    starter.layout = layout_of(7 * p, pointer_at(5 * p, p), pointer_at(2 * p, p), integer_at(p, 4));
    const auto host = starter.string("n1");
    const auto app = starter.string("a.out");
    starter.put_table({{host, app, 77}, {app, host, 78}});
    const auto table = read_process_table(starter.memory, abi, starter.layout, fake_starter::table, 2);
    REQUIRE(table.has_value());
    CHECK(table->host_name(entry_index{0}) == "n1");
    CHECK(table->executable_name(entry_index{0}) == "a.out");
    CHECK(table->pid(entry_index{0}) == process_id{77});
    CHECK(table->host_name(entry_index{1}) == "a.out");
    CHECK(table->pid(entry_index{1}) == process_id{78});
    CHECK(table->problem_count() == 0);
  }
}

TEST_CASE("a packed structure has its fields at odd addresses") {
  fake_starter starter;
  starter.layout = layout_of(21, pointer_at(5), pointer_at(13), integer_at(1, 4));
  const auto host = starter.string("n1");
  starter.put_table({{host, host, 1}, {host, host, 2}, {host, host, 3}});
  const auto table = read_process_table(starter.memory, starter.abi, starter.layout, fake_starter::table, 3);
  REQUIRE(table.has_value());
  CHECK(table->pid(entry_index{2}) == process_id{3});
  CHECK(table->host_name(entry_index{2}) == "n1");
}

TEST_CASE("a pid of every width is read with its sign") {
  for (const target_abi& abi : every_abi) {
    for (std::uint64_t width = 2; width <= 8; ++width) {
      for (const bool is_signed : {true, false}) {
        INFO(abi_title(abi) << ", pid of " << width << (is_signed ? ", signed" : ", unsigned"));
        const std::uint64_t p = abi.pointer_size;
        fake_starter starter(abi);
        starter.layout = layout_of(2 * p + 8, pointer_at(0, p), pointer_at(p, p), integer_at(2 * p, width, is_signed));
        const auto host = starter.string("n1");
        starter.put_table({{host, host, 30000}, {host, host, -2}});
        const auto table = read_process_table(starter.memory, abi, starter.layout, fake_starter::table, 2);
        REQUIRE(table.has_value());
        CHECK(table->pid(entry_index{0}) == process_id{30000});
        const std::int64_t minus_two =
            is_signed || width == 8 ? -2 : static_cast<std::int64_t>((std::uint64_t{1} << (8 * width)) - 2);
        CHECK(table->pid(entry_index{1}) == process_id{minus_two});
        CHECK(table->problem_count() == (!is_signed && width == 2 ? 0 : 1));  // 65534 could be a pid
      }
    }
  }
}

TEST_CASE("a layout that cannot be a process descriptor's is refused with the reason") {
  structure_layout lacking = layout_of(24, pointer_at(0), pointer_at(8), integer_at(16, 4));
  lacking.members.pop_back();
  const error no_pid = refused(lacking);
  CHECK(no_pid.code == error_code::bad_format);
  CHECK_THAT(no_pid.message, ContainsSubstring("MPIR_PROCDESC (dwarf, /bin/starter) has no member pid"));

  CHECK_THAT(refused(layout_of(0, pointer_at(0), pointer_at(8), integer_at(16, 4))).message,
             ContainsSubstring("is said to have 0 bytes"));
  CHECK_THAT(refused(layout_of(65537, pointer_at(0), pointer_at(8), integer_at(16, 4))).message,
             ContainsSubstring("is said to have 65537 bytes"));
  CHECK_THAT(refused(layout_of(24, pointer_at(0), pointer_at(8), integer_at(21, 4))).message,
             ContainsSubstring("has 24 bytes, but its member pid is said to be 4 bytes at offset 21"));
  CHECK_THAT(refused(layout_of(24, pointer_at(UINT64_MAX - 3), pointer_at(8), integer_at(16, 4))).message,
             ContainsSubstring("its member host_name"));
  CHECK_THAT(refused(layout_of(24, pointer_at(0), pointer_at(8), integer_at(16, UINT64_MAX))).message,
             ContainsSubstring("its member pid"));
  CHECK_THAT(refused(layout_of(24, pointer_at(0, 4), pointer_at(8), integer_at(16, 4))).message,
             ContainsSubstring("member host_name"));
  CHECK_THAT(refused(layout_of(24, pointer_at(0), integer_at(8, 8), integer_at(16, 4))).message,
             ContainsSubstring("member executable_name of the process descriptor's structure MPIR_PROCDESC"));
  CHECK_THAT(refused(layout_of(24, pointer_at(0), pointer_at(8), pointer_at(16))).message,
             ContainsSubstring("is a pointer of 8 bytes"));
  CHECK_THAT(refused(layout_of(24, pointer_at(0), pointer_at(8), integer_at(16, 1))).message,
             ContainsSubstring("it must be an integer of 2 to 8"));
  target_abi odd = lp64_little;
  odd.pointer_size = 2;
  CHECK(refused(layout_of(24, pointer_at(0), pointer_at(8), integer_at(16, 4)), odd).code ==
        error_code::invalid_argument);
}

TEST_CASE("the inferred layout is the C compiler's of each ABI") {
  const structure_layout wide = inferred_descriptor_layout(lp64_big);
  CHECK(wide.size == 24);
  CHECK(wide.find("host_name")->offset == 0);
  CHECK(wide.find("executable_name")->offset == 8);
  CHECK(wide.find("pid")->offset == 16);
  CHECK(wide.find("pid")->size == 4);
  CHECK(wide.find("pid")->is_signed);
  CHECK(wide.source == layout_source::inferred);
  const structure_layout narrow = inferred_descriptor_layout(ilp32_little);
  CHECK(narrow.size == 12);
  CHECK(narrow.find("executable_name")->offset == 4);
  CHECK(narrow.find("pid")->offset == 8);
}
