// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The meaning of handles. The headers of installed MPIs are another test's subject.
#include "handles/handle_meaning.hpp"

#include "catch.hpp"

using namespace mpiacq;

namespace {

using kind = mpi_handle_kind;

handle_context mpich() {
  return {mpi_abi::mpich, mpi_language::c, 8, {}};
}
handle_context standard() {
  return {mpi_abi::standard, mpi_language::c, 8, {}};
}
handle_context openmpi() {
  return {mpi_abi::openmpi, mpi_language::c, 8, [](std::uint64_t address) -> std::string {
            if (address == 0x7f0000001000) return "ompi_mpi_comm_world";
            if (address == 0x7f0000002000) return "ompi_mpi_double";
            if (address == 0x7f0000003000) return "ompi_request_null";
            return address == 0x7f0000004000 ? "ompi_mpi_communicators" : "";
          }};
}

}  // namespace

TEST_CASE("MPICH's handles are known by their number, and tell their kind") {
  CHECK(meaning_of_handle(kind::communicator, 0x44000000, mpich()).name == "MPI_COMM_WORLD");
  CHECK(meaning_of_handle(kind::communicator, 0xffffffff44000001, mpich()).name == "MPI_COMM_SELF");
  CHECK(meaning_of_handle(kind::communicator, 0x04000000, mpich()).is_null);
  const auto own = meaning_of_handle(kind::communicator, 0x84000002, mpich());
  CHECK(own.is_possible);
  CHECK(own.name.empty());
  CHECK_FALSE(meaning_of_handle(kind::datatype, 0x84000002, mpich()).is_possible);
  CHECK_FALSE(meaning_of_handle(kind::communicator, 0, mpich()).is_possible);
  CHECK_FALSE(meaning_of_handle(kind::communicator, 0x4c000405, mpich()).is_possible);
}

TEST_CASE("MPICH's basic datatypes tell their size") {
  const auto number = meaning_of_handle(kind::datatype, 0x4c000405, mpich());
  CHECK(number.name == "MPI_INT");
  CHECK(number.bytes == 4U);
  // MPI_LONG of a library for 32 bits.
  const auto small = meaning_of_handle(kind::datatype, 0x4c000407, mpich());
  CHECK(small.name == "MPI_LONG");
  CHECK(small.bytes == 4U);
  CHECK(meaning_of_handle(kind::datatype, 0x4c00100c, mpich()).bytes == 16U);
  CHECK_FALSE(meaning_of_handle(kind::datatype, 0xcc000001, mpich()).bytes);
}

TEST_CASE("Open MPI's predefined objects are known by their symbols") {
  CHECK(meaning_of_handle(kind::communicator, 0x7f0000001000, openmpi()).name == "MPI_COMM_WORLD");
  const auto type = meaning_of_handle(kind::datatype, 0x7f0000002000, openmpi());
  CHECK(type.name == "MPI_DOUBLE");
  CHECK(type.bytes == 8U);
  CHECK(meaning_of_handle(kind::request, 0x7f0000003000, openmpi()).is_null);
  // A symbol that is no handle, and a handle of another kind.
  CHECK(meaning_of_handle(kind::communicator, 0x7f0000004000, openmpi()).name.empty());
  CHECK(meaning_of_handle(kind::communicator, 0x7f0000002000, openmpi()).name.empty());
  CHECK(meaning_of_handle(kind::communicator, 0x555555561230, openmpi()).is_possible);
  CHECK_FALSE(meaning_of_handle(kind::communicator, 0, openmpi()).is_possible);
  CHECK_FALSE(meaning_of_handle(kind::communicator, 0x44000001, openmpi()).is_possible);
}

TEST_CASE("Open MPI's handles in Fortran are small numbers") {
  auto context = openmpi();
  context.language = mpi_language::fortran;
  CHECK(meaning_of_handle(kind::communicator, 0, context).name == "MPI_COMM_WORLD");
  CHECK(meaning_of_handle(kind::datatype, 17, context).name == "MPI_DOUBLE_PRECISION");
  CHECK(meaning_of_handle(kind::communicator, 5, context).is_possible);
  CHECK_FALSE(meaning_of_handle(kind::communicator, 0xffffffff, context).is_possible);
  CHECK(handle_bytes(kind::communicator, context) == 4);
}

TEST_CASE("the handles of the ABI of MPI 5.0 are the numbers of the standard") {
  CHECK(meaning_of_handle(kind::communicator, 0x101, standard()).name == "MPI_COMM_WORLD");
  CHECK(meaning_of_handle(kind::communicator, 0x102, standard()).name == "MPI_COMM_SELF");
  CHECK(meaning_of_handle(kind::operation, 0x21, standard()).name == "MPI_SUM");
  CHECK(meaning_of_handle(kind::request, 0x180, standard()).is_null);
  CHECK(meaning_of_handle(kind::datatype, 0x20a, standard()).bytes == 8U);
  CHECK_FALSE(meaning_of_handle(kind::communicator, 0, standard()).is_possible);
  CHECK_FALSE(meaning_of_handle(kind::communicator, 0x103, standard()).is_possible);
  CHECK(meaning_of_handle(kind::communicator, 0x84000002, standard()).is_possible);
}

TEST_CASE("the sizes of datatypes agree with the sizes in the numbers of the ABI of MPI 5.0") {
  // The numbers from 0x240 to 0x27f and from 0x2c0 to 0x2ff have the logarithm of the size in bits 3 to 5.
  std::size_t checked = 0;
  for (const predefined_handle& row : predefined_handles()) {
    const bool fixed = (row.standard >= 0x240 && row.standard < 0x280) || row.standard >= 0x2c0;
    if (row.kind != kind::datatype || !fixed) continue;
    INFO(row.name);
    CHECK(row.bytes == 1U << ((static_cast<std::uint64_t>(row.standard) >> 3U) & 7U));
    ++checked;
  }
  CHECK(checked > 25);
}

TEST_CASE("the sizes of datatypes agree with the sizes in MPICH's handles") {
  std::size_t checked = 0;
  for (const predefined_handle& row : predefined_handles()) {
    if (row.kind != kind::datatype || row.bytes == 0 || row.mpich >> 16U != 0x4c00) continue;
    INFO(row.name);
    const std::int64_t bytes = row.bytes == predefined_handle::address_size ? 8 : row.bytes;
    CHECK(bytes == ((row.mpich >> 8U) & 0xff));
    ++checked;
  }
  CHECK(checked > 40);
}

TEST_CASE("without a known ABI a handle has no name") {
  const auto found = meaning_of_handle(kind::communicator, 0x44000000, {});
  CHECK(found.is_possible);
  CHECK(found.name.empty());
  CHECK(constants_of(mpi_abi::unknown) == nullptr);
}

TEST_CASE("the ABI of an MPI library is known by its file's name or its symbols") {
  const auto with = [](std::string symbol) { return [symbol](const std::string& name) { return name == symbol; }; };
  CHECK(abi_of_library("/usr/lib/libmpi.so.40.30.4", with("ompi_mpi_comm_world")) == mpi_abi::openmpi);
  CHECK(abi_of_library("/opt/intel/lib/libmpi.so.12", with("MPI_UNWEIGHTED")) == mpi_abi::mpich);
  CHECK(abi_of_library("libmpi_abi.so.1", with("MPI_UNWEIGHTED")) == mpi_abi::standard);
  CHECK(abi_of_library("/bin/static_program", with("main")) == mpi_abi::unknown);
  CHECK(abi_of_library("", {}) == mpi_abi::unknown);
}

TEST_CASE("an MPI library is known by the name of its file") {
  for (const char* path : {"/usr/lib/libmpi.so.40.30.4", "/opt/mpich/lib/libmpich.so.12", "libmpi_abi.so.1"}) {
    INFO(path);
    CHECK(is_mpi_library(path));
  }
  for (const char* path : {"/opt/libmpi/bin/solver", "/usr/lib/libpmix.so.2", "/lib/old_libmpi.so", "libmpi.d/", ""}) {
    INFO(path);
    CHECK_FALSE(is_mpi_library(path));
  }
}
