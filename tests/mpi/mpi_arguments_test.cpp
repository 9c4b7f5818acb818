// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The arguments of MPI calls: their meaning, their text, and the bytes that a tool has to read for them.
#include "calls/mpi_arguments.hpp"

#include <optional>
#include <random>

#include "catch.hpp"

using namespace mpiacq;

namespace {

using passed = std::vector<std::optional<std::uint64_t>>;
constexpr std::uint64_t world = 0x44000000;
constexpr std::uint64_t mpi_int = 0x4c000405;
constexpr std::uint64_t mpi_sum = 0x58000003;
constexpr std::uint64_t buffer = 0x7ffc12345678;
const std::nullopt_t unknown = std::nullopt;

/// An int in a register: the upper half holds whatever was there.
std::uint64_t as_number(std::int32_t value) {
  return 0xabcdef0100000000 | static_cast<std::uint32_t>(value);
}

rank_activity described(const char* function, const passed& values, handle_context context = {}) {
  if (context.abi == mpi_abi::unknown) context.abi = mpi_abi::mpich;
  std::vector<found_argument> found;
  for (const auto& value : values) found.push_back({value.value_or(77), value.has_value(), 64});
  const auto named = mpi_function_named(function);
  REQUIRE(named);
  context.language = named->language;
  rank_activity made;
  made.kind = named->call->kind;
  made.function = "MPI_" + named->name;
  made.arguments = explain_arguments(*named, found, context);
  return made;
}

std::string text(const char* function, const passed& values) {
  return call_text(described(function, values));
}

std::size_t behind(const char* function, std::size_t parameter, mpi_abi abi) {
  const auto named = mpi_function_named(function);
  REQUIRE(named);
  return bytes_behind(parameters_of(named->call->parameters).at(parameter), *named, {abi, named->language, 8, {}});
}

}  // namespace

TEST_CASE("the text of a point-to-point call names the other rank, the tag and the communicator") {
  CHECK(text("MPI_Recv", {buffer, as_number(1), mpi_int, as_number(0), as_number(10), world, 1}) ==
        "MPI_Recv(source 0, tag 10, MPI_COMM_WORLD)");
  CHECK(text("PMPI_Send", {buffer, as_number(1), mpi_int, as_number(3), as_number(7), world}) ==
        "MPI_Send(destination 3, tag 7, MPI_COMM_WORLD)");
  CHECK(text("MPI_Sendrecv", {buffer, 1, mpi_int, as_number(1), as_number(5), buffer, 1, mpi_int, as_number(2),
                              as_number(6), world, 1}) ==
        "MPI_Sendrecv(destination 1, send tag 5, source 2, receive tag 6, MPI_COMM_WORLD)");
  CHECK(text("MPI_Ssend_c", {buffer, 1, mpi_int, 3, 7, 0x84000002}) ==
        "MPI_Ssend_c(destination 3, tag 7, communicator 0x84000002)");
  CHECK(text("MPI_Probe", {as_number(2), as_number(4), world, 1}) == "MPI_Probe(source 2, tag 4, MPI_COMM_WORLD)");
}

TEST_CASE("the text names wildcards and ranks that do not exist") {
  CHECK(text("MPI_Recv", {buffer, 1, mpi_int, as_number(-2), as_number(-1), world, 1}) ==
        "MPI_Recv(source any, tag any, MPI_COMM_WORLD)");
  CHECK(text("MPI_Recv", {buffer, 1, mpi_int, as_number(-1), as_number(0), world, 1}) ==
        "MPI_Recv(source MPI_PROC_NULL, tag 0, MPI_COMM_WORLD)");
  CHECK(text("MPI_Bcast", {buffer, 1, mpi_int, as_number(-3), 0x84000001}) ==
        "MPI_Bcast(count 1, root MPI_ROOT, communicator 0x84000001)");
  const auto call = described("MPI_Recv", {buffer, 1, mpi_int, as_number(-2), as_number(-1), world, 1});
  CHECK(call.arguments[3] == mpi_argument{mpi_role::source, true, false, -2, "MPI_ANY_SOURCE"});
  CHECK(call.arguments[4] == mpi_argument{mpi_role::tag, true, false, -1, "MPI_ANY_TAG"});
}

TEST_CASE("the text of a collective call has what all ranks must agree about") {
  CHECK(text("MPI_Barrier", {world}) == "MPI_Barrier(MPI_COMM_WORLD)");
  CHECK(text("MPI_Reduce", {buffer, buffer, as_number(4), mpi_int, mpi_sum, as_number(0), world}) ==
        "MPI_Reduce(count 4, MPI_SUM, root 0, MPI_COMM_WORLD)");
  CHECK(text("MPI_Gatherv", {buffer, as_number(2), mpi_int, buffer, buffer, buffer, mpi_int, as_number(1), world}) ==
        "MPI_Gatherv(send count 2, root 1, MPI_COMM_WORLD)");
  CHECK(text("MPI_Neighbor_alltoall", {buffer, 1, mpi_int, buffer, 1, mpi_int, 0x84000003}) ==
        "MPI_Neighbor_alltoall(send count 1, receive count 1, communicator 0x84000003)");
  CHECK(text("MPI_Comm_split", {world, as_number(-32766), as_number(0), buffer}) ==
        "MPI_Comm_split(MPI_COMM_WORLD, color MPI_UNDEFINED)");
  CHECK(text("MPI_Intercomm_create", {0x84000001, as_number(0), world, as_number(2), as_number(9), buffer}) ==
        "MPI_Intercomm_create(communicator 0x84000001, local leader 0, peer communicator MPI_COMM_WORLD, "
        "remote leader 2, tag 9)");
  CHECK(text("MPI_Finalize", {}) == "MPI_Finalize");
}

TEST_CASE("the text of waits, windows and files has what is known without reading memory") {
  CHECK(text("MPI_Waitall", {as_number(3), buffer, 1}) == "MPI_Waitall(3 requests)");
  CHECK(text("MPI_Waitany", {as_number(1), buffer, buffer, 1}) == "MPI_Waitany(1 request)");
  CHECK(text("MPI_Wait", {0x98000001, 1}) == "MPI_Wait");
  CHECK(text("MPI_Win_lock", {as_number(234), as_number(2), as_number(0), 0xa0000000}) ==
        "MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target 2, window 0xa0000000)");
  CHECK(text("MPI_Win_fence", {as_number(0), 0xa0000000}) == "MPI_Win_fence(window 0xa0000000)");
  CHECK(text("MPI_File_write_all", {0x555500001000, buffer, 1, mpi_int, 1}) ==
        "MPI_File_write_all(file 0x555500001000)");
}

TEST_CASE("what is not known is '?' for ranks and tags, and is left out otherwise") {
  CHECK(text("MPI_Recv", {buffer, 1, mpi_int, unknown, as_number(10), unknown, 1}) == "MPI_Recv(source ?, tag 10)");
  CHECK(text("MPI_Recv", {}) == "MPI_Recv");
  CHECK(text("MPI_Recv", {buffer, 1, mpi_int}) == "MPI_Recv");
  CHECK(text("MPI_Barrier", {unknown}) == "MPI_Barrier");
  CHECK(text("MPI_Allreduce", {buffer, buffer, unknown, mpi_int, mpi_sum, world}) ==
        "MPI_Allreduce(MPI_SUM, MPI_COMM_WORLD)");
}

TEST_CASE("a value that a parameter cannot have is not known") {
  // MPI_ANY_SOURCE is no destination, -5 no rank, and a datatype no communicator.
  CHECK(text("MPI_Send", {buffer, 1, mpi_int, as_number(-2), as_number(1), world}) ==
        "MPI_Send(destination ?, tag 1, MPI_COMM_WORLD)");
  CHECK(text("MPI_Recv", {buffer, 1, mpi_int, as_number(-5), as_number(1), mpi_int, 1}) == "MPI_Recv(source ?, tag 1)");
  CHECK(text("MPI_Send", {buffer, 1, mpi_int, as_number(1), as_number(-1), world}) ==
        "MPI_Send(destination 1, tag ?, MPI_COMM_WORLD)");
  CHECK(text("MPI_Waitall", {as_number(-1), buffer, 1}) == "MPI_Waitall");
  CHECK(text("MPI_Win_lock", {as_number(1), as_number(2), as_number(0), 0xa0000000}) ==
        "MPI_Win_lock(target 2, window 0xa0000000)");
  const auto call = described("MPI_Send", {buffer, as_number(-1), mpi_int, as_number(1), as_number(1), world});
  CHECK_FALSE(call.arguments[1].is_known);
  CHECK(call.arguments[1].value == 0);
}

TEST_CASE("a parameter of which only some bits are known is not known") {
  const handle_context openmpi{mpi_abi::openmpi, mpi_language::c, 8, {}};
  const std::vector<found_argument> found = {{buffer, true, 64}, {1, true, 32}, {buffer, true, 64},
                                             {2, true, 32},      {3, true, 16}, {0x7f0000001000, true, 32},
                                             {0, true, 64}};
  const auto made = explain_arguments(*mpi_function_named("MPI_Recv"), found, openmpi);
  CHECK(made[3].is_known);
  CHECK_FALSE(made[4].is_known);
  CHECK_FALSE(made[5].is_known);
}

TEST_CASE("an argument keeps the way in which it was found, and one that is not known has none") {
  const handle_context openmpi{mpi_abi::openmpi, mpi_language::c, 8, {}};
  const auto found = argument_source::instructions;
  const std::vector<found_argument> values = {
      {buffer, true, 64, found}, {1, true, 32, found}, {buffer, true, 64, found},        {2, true, 32, found},
      {3, true, 16, found},      {0, true, 64, found}, {0x7f0000001000, true, 32, found}};
  const auto made = explain_arguments(*mpi_function_named("MPI_Recv"), values, openmpi);
  CHECK(made[0].source == argument_source::instructions);
  CHECK(made[3].source == argument_source::instructions);
  CHECK(made[4].source == argument_source::unknown);
}

TEST_CASE("Open MPI's constants and objects are its own") {
  handle_context openmpi;
  openmpi.abi = mpi_abi::openmpi;
  openmpi.symbol_at = [](std::uint64_t address) { return address == 0x7f0000001000 ? "ompi_mpi_comm_world" : ""; };
  CHECK(call_text(described("MPI_Recv", {buffer, 1, buffer, as_number(-1), as_number(-1), 0x7f0000001000, 0},
                            openmpi)) == "MPI_Recv(source any, tag any, MPI_COMM_WORLD)");
  CHECK(call_text(described("MPI_Recv", {buffer, 1, buffer, as_number(-2), as_number(3), 0x555500002000, 0},
                            openmpi)) == "MPI_Recv(source MPI_PROC_NULL, tag 3, communicator 0x555500002000)");
}

TEST_CASE("a call from Fortran has the same text once the values behind the addresses are read") {
  handle_context openmpi;
  openmpi.abi = mpi_abi::openmpi;
  CHECK(call_text(described("mpi_recv_", {buffer, 1, 7, as_number(0), as_number(-1), 0, buffer, buffer}, openmpi)) ==
        "MPI_Recv(source 0, tag any, MPI_COMM_WORLD)");
  CHECK(call_text(described("mpi_bcast_f08_", {buffer, 1, 7, 2, 4, unknown}, openmpi)) ==
        "MPI_Bcast(count 1, root 2, communicator 0x4)");
}

TEST_CASE("the bytes to read behind an argument depend on the language and the MPI") {
  CHECK(behind("MPI_Recv", 3, mpi_abi::openmpi) == 0);
  CHECK(behind("mpi_recv_", 0, mpi_abi::openmpi) == 0);
  CHECK(behind("mpi_recv_", 3, mpi_abi::openmpi) == 4);
  CHECK(behind("mpi_recv_", 5, mpi_abi::openmpi) == 4);
  CHECK(behind("mpi_send_c_", 1, mpi_abi::mpich) == 8);
  CHECK(behind("MPI_Wait", 0, mpi_abi::openmpi) == 8);
  CHECK(behind("MPI_Wait", 0, mpi_abi::mpich) == 4);
  CHECK(behind("mpi_wait_", 0, mpi_abi::openmpi) == 4);
  CHECK(behind("MPI_Waitall", 1, mpi_abi::openmpi) == 0);
  CHECK(behind("MPI_Comm_free", 0, mpi_abi::mpich) == 4);
  CHECK(behind("MPI_File_close", 0, mpi_abi::mpich) == 8);
  CHECK(behind("mpi_psend_init_", 2, mpi_abi::openmpi) == 8);
  CHECK(behind("mpi_file_write_at_all_", 1, mpi_abi::openmpi) == 8);
}

TEST_CASE("places for results are no arguments, and arrays are addresses") {
  const auto call = described("MPI_Waitsome", {as_number(2), buffer, buffer, buffer, 1});
  REQUIRE(call.arguments.size() == 2);
  CHECK(call.arguments[1] == mpi_argument{mpi_role::request, true, true, static_cast<std::int64_t>(buffer), ""});
  CHECK(call.kind == mpi_call_kind::wait_any);
}

TEST_CASE("any values in any call give a short text") {
  std::mt19937_64 random(20);
  for (const mpi_abi abi : {mpi_abi::unknown, mpi_abi::openmpi, mpi_abi::mpich, mpi_abi::standard}) {
    for (const mpi_language language : {mpi_language::c, mpi_language::fortran}) {
      for (const mpi_call& call : mpi_calls()) {
        const mpi_function function{std::string(call.name), &call, language, random() % 2 == 0};
        std::vector<found_argument> found(random() % (most_mpi_parameters + 3));
        for (auto& each : found) each = {random() >> (random() % 64), random() % 4 != 0, 64};
        rank_activity made{call.kind, "MPI_" + function.name, false, {}};
        made.arguments = explain_arguments(function, found, {abi, language, 8, {}});
        CHECK(call_text(made).starts_with("MPI_" + std::string(call.name)));
        CHECK(call_text(made).size() < 400);
      }
    }
  }
}
