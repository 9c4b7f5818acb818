// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "fake_job.hpp"
#include "mpiacq/mpi2dd/mpi2dd_info.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

TEST_CASE("the info block has the draft's sizes") {
  CHECK(mpi2dd::layout_of_info(8).size == 128);
  CHECK(mpi2dd::layout_of_info(4).size == 96);
  CHECK(mpi2dd::layout_of_info(8).counts == 80);
  CHECK(mpi2dd::layout_of_info(4).counts == 48);
}

TEST_CASE("an info block is read on every ABI") {
  for (const target_abi& abi : every_abi) {
    INFO(abi_title(abi));
    fake_mpi_process p(abi);
    p.info.debug_state = 2;
    p.info.debugger_flags = 0x80000005;
    p.info.mpi_flags = 0x71;
    p.info.dll_name_32 = p.string("/usr/lib/libdbg32.so");
    p.info.dll_name_64 = p.string("/usr/lib/libdbg64.so");
    p.info.abort_string = p.string("no memory");
    p.meta("fe80::1", 4711);
    p.info.proctable = target_address{0x1234};
    p.info.directory_table = target_address{0x5678};
    p.info.metadirectory_table = target_address{0x9abc};
    p.info.proctable_size = 3;
    p.info.directory_size = -1;
    p.info.metadirectory_size = 0x7fffffff;
    p.publish();
    const auto read = mpi2dd::read_info(p.as_target());
    REQUIRE((read && *read));
    const mpi2dd::process_info& info = **read;
    CHECK(info.address == fake_mpi_process::info_at);
    CHECK(info.block.version == 1);
    CHECK(info.block.variant == 1);
    CHECK(info.block.state == mpi2dd::debug_state::spawn);
    CHECK(info.block.debugger_flags.has(mpi2dd::debugger_flag::gate));
    CHECK_FALSE(info.block.debugger_flags.has(mpi2dd::debugger_flag::being_debugged));
    CHECK(info.block.debugger_flags.has(mpi2dd::debugger_flag::request_directory_events));
    CHECK(mpi2dd::unknown_bits(info.block.debugger_flags) == 0x80000000U);
    CHECK(info.block.mpi_flags.has(mpi2dd::mpi_flag::i_am_metadir));
    CHECK_FALSE(info.block.mpi_flags.has(mpi2dd::mpi_flag::i_am_dir));
    CHECK(info.queue_library_32 == "/usr/lib/libdbg32.so");
    CHECK(info.queue_library_64 == "/usr/lib/libdbg64.so");
    CHECK(info.meta_host == "fe80::1");
    CHECK(info.meta_executable == "/usr/bin/metad");
    CHECK(info.abort_reason == "no memory");
    CHECK(info.block.proctable == target_address{0x1234});
    CHECK(info.block.directory_table == target_address{0x5678});
    CHECK(info.block.metadirectory_table == target_address{0x9abc});
    CHECK(info.block.proctable_size == 3);
    CHECK(info.block.directory_size == -1);
    CHECK(info.block.metadirectory_size == 0x7fffffff);
    CHECK(info.block.meta_pid == 4711);
    CHECK(info.has_metadirectory());
    CHECK(info.warnings.empty());
    CHECK(p.memory.calls == 2);
  }
}

TEST_CASE("a process without the symbol does not offer the interface") {
  fake_mpi_process p;
  p.publish();
  p.symbols.remove("MPI2DD_info");
  const auto read = mpi2dd::read_info(p.as_target());
  REQUIRE(read.has_value());
  CHECK_FALSE(read->has_value());
}

TEST_CASE("another version is refused, another variant read with a warning") {
  fake_mpi_process p;
  p.info.version = 2;
  p.publish();
  const auto refused = mpi2dd::read_info(p.as_target());
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == error_code::unsupported);
  CHECK(refused.error().address == fake_mpi_process::info_at + 5);
  p.info.version = 1;
  p.info.variant = 9;
  p.publish();
  const auto read = mpi2dd::read_info(p.as_target());
  REQUIRE((read && *read));
  REQUIRE((*read)->warnings.size() == 1);
  CHECK_THAT((*read)->warnings[0].message, ContainsSubstring("variant 9"));
}

TEST_CASE("a block without the magic bytes is not an info block") {
  fake_mpi_process p;
  p.info.magic = "MPI2\x7e";
  p.publish();
  const auto other = mpi2dd::read_info(p.as_target());
  REQUIRE_FALSE(other.has_value());
  CHECK(other.error().code == error_code::bad_format);
  p.memory.map(fake_mpi_process::info_at, std::vector<std::byte>(128));
  const auto empty = mpi2dd::read_info(p.as_target());
  REQUIRE_FALSE(empty.has_value());
  CHECK_THAT(empty.error().message, ContainsSubstring("not filled yet"));
}

TEST_CASE("an info block that ends with memory is unreadable") {
  fake_mpi_process p;
  p.memory.map(fake_mpi_process::info_at, std::vector<std::byte>(127));
  const auto read = mpi2dd::read_info(p.as_target());
  REQUIRE_FALSE(read.has_value());
  CHECK(read.error().code == error_code::unreadable_memory);
  CHECK(read.error().address == fake_mpi_process::info_at + 127);
}

TEST_CASE("a string of the info block that cannot be read is a warning, and the others are there") {
  fake_mpi_process p;
  p.meta("n1", 5);
  p.info.abort_string = target_address{0x10};
  p.info.dll_name_64 = p.string(std::string(40000, 'x'));
  p.publish();
  const auto read = mpi2dd::read_info(p.as_target());
  REQUIRE((read && *read));
  CHECK((*read)->meta_host == "n1");
  CHECK_FALSE((*read)->abort_reason.has_value());
  CHECK_FALSE((*read)->queue_library_64.has_value());
  REQUIRE((*read)->warnings.size() == 2);
  CHECK_THAT((*read)->warnings[0].message, ContainsSubstring("abort_string"));
  CHECK_THAT((*read)->warnings[1].message, ContainsSubstring("dll_name_64"));
}

TEST_CASE("a symbol of another size is a warning") {
  fake_mpi_process p;
  p.publish();
  p.symbols.define("MPI2DD_info", fake_mpi_process::info_at, 96);
  const auto read = mpi2dd::read_info(p.as_target());
  REQUIRE((read && *read));
  CHECK((*read)->warnings.size() == 1);
}

TEST_CASE("states and flags have the draft's names") {
  CHECK(mpi2dd::name(mpi2dd::debug_state::metadirectory_changed) == "MPI2DD_DEBUG_METADIRECTORY_CHANGED");
  CHECK(mpi2dd::name(mpi2dd::debug_state{99}).empty());
  CHECK(mpi2dd::debug_states().size() == 8);
  CHECK(mpi2dd::text(mpi2dd::flag_set<mpi2dd::mpi_flag>{}) == "0");
  CHECK(mpi2dd::text(mpi2dd::flag_set<mpi2dd::mpi_flag>{0x106}) ==
        "MPI2DD_MPIFLAG_I_AM_DIR | MPI2DD_MPIFLAG_I_AM_STARTER | 0x100");
  const mpi2dd::flag_set<mpi2dd::debugger_flag> foreign{0xf0};
  CHECK(foreign.with(mpi2dd::debugger_flag::gate).bits() == 0xf1);
  CHECK(foreign.with(mpi2dd::debugger_flag::gate).without(mpi2dd::debugger_flag::gate) == foreign);
  std::uint32_t all = 0;  // each row has a bit of its own
  for (const auto& row : mpi2dd::mpi_flags()) {
    CHECK((all & static_cast<std::uint32_t>(row.value)) == 0);
    all |= static_cast<std::uint32_t>(row.value);
  }
  CHECK(all == 0x7f);
}
