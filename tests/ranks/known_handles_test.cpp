// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The handles of an MPI that ranks share.
#include "known_handles.hpp"

#include "catch.hpp"

using namespace mpiacq;

namespace {

code_range mapped(std::uint64_t begin, std::uint64_t inode, std::uint64_t size = 0x1000, std::uint64_t offset = 0) {
  return {target_address{begin}, target_address{begin + size}, offset, 8, inode, false};
}

process_handles openmpi_at(std::uint64_t world, std::uint64_t self) {
  return {mpi_abi::openmpi, 8, {{world, "ompi_mpi_comm_world"}, {self, "ompi_mpi_comm_self"}}};
}

/// The program's code at 0x1000, with its data behind it, and the library's at 0x8000.
const std::vector<code_range> first_mappings = {mapped(0x1000, 1), mapped(0x8000, 2), mapped(0xa000, 2, 0x800, 0x5000)};

}  // namespace

TEST_CASE("known handles: another process has the same objects where its modules are") {
  known_handles known;
  known.learn(first_mappings, openmpi_at(0x2100, 0xc200));
  // The library lies below the program here.
  const std::vector<code_range> second = {mapped(0x30000, 2), mapped(0x32000, 2, 0x800, 0x5000), mapped(0x70000, 1)};
  const auto found = known.find(second);
  REQUIRE(found);
  CHECK(found->abi == mpi_abi::openmpi);
  CHECK(found->address_bytes == 8);
  CHECK(found->objects == openmpi_at(0x71100, 0x34200).objects);
  CHECK(known.find(first_mappings)->objects == openmpi_at(0x2100, 0xc200).objects);
}

TEST_CASE("known handles: a process with other files is not known") {
  known_handles known;
  CHECK_FALSE(known.find(first_mappings));
  known.learn(first_mappings, openmpi_at(0x2100, 0xc200));
  for (const auto& other : std::vector<std::vector<code_range>>{
           {},
           {mapped(0x1000, 1), mapped(0x8000, 2)},
           {mapped(0x1000, 1), mapped(0x8000, 3), mapped(0xa000, 2, 0x800, 0x5000)},
           {mapped(0x1000, 1), mapped(0x8000, 2, 0x2000), mapped(0xa000, 2, 0x800, 0x5000)},
           {mapped(0x1000, 1), mapped(0x8000, 2), mapped(0xa000, 2, 0x800, 0x6000)}}) {
    CHECK_FALSE(known.find(other));
  }
}

TEST_CASE("known handles: a process with code that belongs to no file is never known") {
  known_handles known;
  auto made = first_mappings;
  made.push_back(mapped(0xf000, 0));
  known.learn(made, openmpi_at(0x2100, 0xc200));
  CHECK_FALSE(known.find(made));
}

TEST_CASE("known handles: the vDSO does not count, and an object below all code is not learnt") {
  known_handles known;
  auto made = first_mappings;
  made.push_back({target_address{0xff000}, target_address{0x100000}, 0, 0, 0, true});
  known.learn(made, openmpi_at(0x2100, 0xc200));
  CHECK(known.find(first_mappings));
  known_handles none;
  none.learn(first_mappings, openmpi_at(0x10, 0xc200));
  CHECK_FALSE(none.find(first_mappings));
}
