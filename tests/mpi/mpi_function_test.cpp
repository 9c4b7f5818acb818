// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The names of MPI functions, and the rows of the table that they lead to.
#include "calls/mpi_function.hpp"

#include "calls/mpi_parameters.hpp"
#include "catch.hpp"

using namespace mpiacq;

TEST_CASE("the name of an MPI function tells its row and its language") {
  struct expected {
    const char* function;
    const char* name;
    mpi_language language;
  };
  for (const auto& each : {expected{"MPI_Recv", "Recv", mpi_language::c},
                           {"PMPI_Recv", "Recv", mpi_language::c},
                           {"MPI_Recv@plt", "Recv", mpi_language::c},
                           {"mpi_recv_", "Recv", mpi_language::fortran},
                           {"MPI_RECV", "Recv", mpi_language::fortran},
                           {"pmpi_recv__", "Recv", mpi_language::fortran},
                           {"mpi_recv_f08ts_", "Recv", mpi_language::fortran},
                           {"MPI_Recv_f08", "Recv_f08", mpi_language::c},
                           {"mpi_win_lock_", "Win_lock", mpi_language::fortran}}) {
    INFO(each.function);
    const auto found = mpi_function_named(each.function);
    REQUIRE(found);
    CHECK(found->language == each.language);
    CHECK_FALSE(found->has_wide_counts);
    if (found->call != nullptr) CHECK(found->name == each.name);
  }
}

TEST_CASE("the functions with wide counts share the row of the others") {
  const auto found = mpi_function_named("PMPI_Sendrecv_c");
  REQUIRE(found);
  REQUIRE(found->call != nullptr);
  CHECK(found->call->name == "Sendrecv");
  CHECK(found->name == "Sendrecv_c");
  CHECK(found->has_wide_counts);
}

TEST_CASE("a function of MPI without a row is known by its prefix in C alone") {
  REQUIRE(mpi_function_named("MPI_Comm_rank"));
  CHECK(mpi_function_named("MPI_Comm_rank")->call == nullptr);
  CHECK_FALSE(mpi_function_named("mpi_comm_rank_"));
  CHECK_FALSE(mpi_function_named("mpi_setup"));
  CHECK_FALSE(mpi_function_named("MPIR_Wait"));
  CHECK_FALSE(mpi_function_named("p"));
  CHECK_FALSE(mpi_function_named(""));
}

TEST_CASE("an inner function of MPICH stands for the MPI function that jumps to it") {
  CHECK(called_function_name("internal_Waitany", "/usr/lib/libmpi.so.12") == "MPI_Waitany");
  CHECK(called_function_name("internal_Waitany", "/home/me/solver") == "internal_Waitany");
  CHECK(called_function_name("internal_error", "/usr/lib/libmpi.so.12") == "internal_error");
  CHECK(called_function_name("PMPI_Recv", "/usr/lib/libmpi.so.12") == "PMPI_Recv");
  CHECK(called_function_name("", "").empty());
}

TEST_CASE("a row lists its parameters in the order of C") {
  const auto found = parameters_of(mpi_call_named("Waitany")->parameters);
  REQUIRE(found.size() == 4);
  CHECK(found[0].role == mpi_role::request_count);
  CHECK(found[0].passing == mpi_passing::value);
  CHECK(found[1].role == mpi_role::request);
  CHECK(found[1].passing == mpi_passing::array);
  CHECK(found[2].passing == mpi_passing::output);
  CHECK(found[3].role == mpi_role::status);
  CHECK(parameters_of(mpi_call_named("Wait")->parameters)[0].passing == mpi_passing::address);
  CHECK(parameters_of(mpi_call_named("Finalize")->parameters).empty());
  CHECK_FALSE(parameter_of("comunicator"));
  CHECK_FALSE(parameter_of(""));
}
