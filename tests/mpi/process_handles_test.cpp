// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The MPI of a process by its symbols.
#include "handles/process_handles.hpp"

#include "catch.hpp"
#include "fake_target.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

TEST_CASE("the symbols of a process tell the ABI of its MPI and Open MPI's predefined objects") {
  fake_starter process;
  target subject{process.memory, nullptr, process.abi, process.symbols};
  process.symbols.define("MPI_Init", target_address{0x20000}, 16, symbol_kind::function);

  SECTION("Open MPI") {
    process.symbols.define("ompi_mpi_comm_world", target_address{0x30000}, 512);
    process.symbols.define("ompi_mpi_int", target_address{0x30200}, 512);
    const auto found = find_process_handles(subject).value();
    CHECK(found.abi == mpi_abi::openmpi);
    const auto context = found.context(mpi_language::c);
    CHECK(meaning_of_handle(mpi_handle_kind::communicator, 0x30000, context).name == "MPI_COMM_WORLD");
    CHECK(meaning_of_handle(mpi_handle_kind::datatype, 0x30200, context).name == "MPI_INT");
    CHECK(meaning_of_handle(mpi_handle_kind::communicator, 0x30008, context).name.empty());
  }
  SECTION("MPICH") {
    process.symbols.define("MPI_UNWEIGHTED", target_address{0x30000}, 8);
    CHECK(find_process_handles(subject).value().abi == mpi_abi::mpich);
  }
  SECTION("the ABI of MPI 5.0") {
    process.symbols.home->path = "/usr/lib/libmpi_abi.so.1";
    CHECK(find_process_handles(subject).value().abi == mpi_abi::standard);
  }
  SECTION("no MPI that is known") {
    process.symbols.remove("MPI_Init");
    CHECK(find_process_handles(subject).value().abi == mpi_abi::unknown);
  }
  SECTION("symbols that cannot be read") {
    process.symbols.find_error = error{error_code::unreadable_memory, "gone"};
    CHECK(find_process_handles(subject).error().code == error_code::unreadable_memory);
  }
  REQUIRE(process.symbols.scopes.size() == 1);
  CHECK(process.symbols.scopes.front().loaded_only);
}
