// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The requests of a call, read from Open MPI's objects in fake memory, including states that no MPI produces.
#include "objects/openmpi_requests.hpp"

#include <random>

#include "catch.hpp"
#include "fake_target.hpp"
#include "made_types.hpp"
#include "object_memory.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

using purpose = mpi_request_kind;

/// A process with the world, a communicator of its own, and requests.
struct openmpi_rank : object_memory {
  static constexpr std::uint64_t base = 0x4000000, world = base + 0x400, own = base + 0x440;
  static constexpr std::uint64_t objects = base + 0x10, requests = base + 0x40, communicators = base + 0x80;
  static constexpr std::uint64_t table = base + 0xc0, array = base + 0x1000, first = base + 0x2000;
  made_types types;
  process_handles handles;

  openmpi_rank() {
    types.define("opal_class_t", {number("cls_parent", 8, 8)});
    types.define("opal_pointer_array_t", {number("size", 0), number("addr", 8, 8)});
    types.define("ompi_communicator_t", {number("c_contextid", 16)});
    types.define("ompi_request_t", {number("req_type", 16), number("req_complete", 24, 8), number("req_state", 32),
                                    number("req_persistent", 36, 1), number("req_mpi_object", 40, 8)});
    memory.map(target_address{base}, std::vector<std::byte>(0x8000));
    put(requests + 8, objects);  // both classes are derived from the class of all objects
    put(communicators + 8, objects);
    communicator(world, 0);
    communicator(own, 5);
    handles.abi = mpi_abi::openmpi;
    handles.objects = {{requests, "ompi_request_t_class"},
                       {communicators, "ompi_communicator_t_class"},
                       {table, "ompi_request_f_to_c_table"},
                       {world, "ompi_mpi_comm_world"}};
    handles.layouts = find_openmpi_objects(types);
    REQUIRE(handles.layouts);
  }

  void communicator(std::uint64_t where, std::uint64_t id) {
    put(where, communicators);
    put(where + 16, id, 4);
  }
  static std::uint64_t place(std::size_t which) { return first + which * 64; }
  /// The numbers are those of Open MPI: the request's type, and whether it is complete.
  std::uint64_t request(std::size_t which, std::uint64_t type, std::uint64_t complete, std::uint64_t on = world,
                        bool persistent = false) {
    const std::uint64_t where = place(which);
    put(where, requests);
    put(where + 16, type, 4);
    put(where + 24, complete);
    put(where + 32, 2, 4);
    put(where + 36, persistent ? 1 : 0, 1);
    put(where + 40, on);
    return where;
  }

  [[nodiscard]] std::optional<awaited_requests> wait_for(std::uint64_t handle,
                                                         mpi_language language = mpi_language::c) {
    mpi_argument one{mpi_role::request, true, false, static_cast<std::int64_t>(handle), ""};
    return read_openmpi_requests({&one, 1}, handles, language, memory);
  }
  [[nodiscard]] std::optional<awaited_requests> wait_for_all(const std::vector<std::uint64_t>& all, std::int64_t count,
                                                             mpi_language language = mpi_language::c) {
    const std::size_t width = language == mpi_language::c ? 8 : 4;
    for (std::size_t i = 0; i < all.size(); ++i) put(array + i * width, all[i], width);
    const std::vector<mpi_argument> arguments = {
        {mpi_role::request_count, true, false, count, ""},
        {mpi_role::request, true, true, static_cast<std::int64_t>(array), ""},
    };
    return read_openmpi_requests(arguments, handles, language, memory);
  }
};

constexpr std::uint64_t point_to_point = 0, generalized = 2, collective = 4, null = 5, partitioned = 8;
const pending_requests a_barrier{purpose::collective, false, 0, "MPI_COMM_WORLD", 1};

bool is_unknown(const std::optional<awaited_requests>& found) {
  return found == awaited_requests{{}, 0, 1};
}

}  // namespace

TEST_CASE("a pending request says what it is for and on which communicator") {
  openmpi_rank rank;
  CHECK(rank.wait_for(rank.request(0, collective, 0)) == awaited_requests{{a_barrier}, 0, 0});
  CHECK(rank.wait_for(rank.request(0, point_to_point, 0, openmpi_rank::own, true)) ==
        awaited_requests{{{purpose::point_to_point, true, 5, "", 1}}, 0, 0});
  CHECK(rank.wait_for(rank.request(0, partitioned, 0))->pending.at(0).kind == purpose::partitioned);
  // While a thread waits, the mark is the address of what wakes it.
  CHECK(rank.wait_for(rank.request(0, collective, 0x7ffe12345670))->pending == std::vector{a_barrier});
  CHECK(rank.wait_for(rank.request(0, generalized, 0)) ==
        awaited_requests{{{purpose::generalized, false, std::nullopt, "", 1}}, 0, 0});
}

TEST_CASE("a request that is complete and MPI_REQUEST_NULL need nothing any more") {
  openmpi_rank rank;
  CHECK(rank.wait_for(rank.request(0, collective, 1)) == awaited_requests{{}, 1, 0});
  CHECK(rank.wait_for(rank.request(0, null, 1)) == awaited_requests{{}, 1, 0});
}

TEST_CASE("the requests of an array are counted by what they are for") {
  openmpi_rank rank;
  const auto message = rank.request(0, point_to_point, 0), barrier = rank.request(1, collective, 0);
  const auto done = rank.request(2, point_to_point, 1), another = rank.request(3, point_to_point, 0);
  const awaited_requests expected{{{purpose::point_to_point, false, 0, "MPI_COMM_WORLD", 2}, a_barrier}, 1, 0};
  CHECK(rank.wait_for_all({message, barrier, done, another}, 4) == expected);
  CHECK(rank.wait_for_all({message}, 0) == awaited_requests{});
  CHECK_FALSE(rank.wait_for_all({message}, -1));
}

TEST_CASE("the numbers of Fortran's requests lead to the same objects") {
  openmpi_rank rank;
  rank.put(openmpi_rank::table, 3, 4);
  rank.put(openmpi_rank::table + 8, openmpi_rank::base + 0x600);
  rank.put(openmpi_rank::base + 0x608, rank.request(0, collective, 0));
  CHECK(rank.wait_for(1, mpi_language::fortran)->pending == std::vector{a_barrier});
  CHECK(rank.wait_for_all({1, 1}, 2, mpi_language::fortran)->pending.at(0).count == 2);
  CHECK(is_unknown(rank.wait_for(2, mpi_language::fortran)));
  CHECK(is_unknown(rank.wait_for(3, mpi_language::fortran)));
}

TEST_CASE("an Open MPI with debugging has a mark in front of the class of each object") {
  openmpi_rank rank;
  const auto request = rank.request(0, collective, 0);
  rank.put(request, 0xdeafbeeddeafbeed);
  CHECK(is_unknown(rank.wait_for(request)));
  rank.put(request + 8, openmpi_rank::requests);
  CHECK(rank.wait_for(request)->pending == std::vector{a_barrier});
}

TEST_CASE("what does not look like a request is not known") {
  openmpi_rank rank;
  const auto request = rank.request(0, collective, 0);
  SECTION("another class") {
    rank.put(request, openmpi_rank::objects);
  }
  SECTION("a class that is its own parent") {
    rank.put(request, openmpi_rank::base + 0x700);
    rank.put(openmpi_rank::base + 0x708, openmpi_rank::base + 0x700);
  }
  SECTION("a class that cannot be read") {
    rank.put(request, 0x10);
  }
  SECTION("a type that Open MPI does not have") {
    rank.put(request + 16, 9, 4);
  }
  SECTION("an object that is not in use") {
    rank.put(request + 32, 0, 4);
  }
  SECTION("a state that Open MPI does not have") {
    rank.put(request + 32, 4, 4);
  }
  SECTION("a mark of completion that is no address") {
    rank.put(request + 24, 2);
  }
  SECTION("a truth value that is none") {
    rank.put(request + 36, 2, 1);
  }
  CHECK(is_unknown(rank.wait_for(request)));
}

TEST_CASE("a handle that points nowhere is an unknown request") {
  openmpi_rank rank;
  for (const std::uint64_t handle : {0x0ULL, 0x10ULL, 0x4007ffcULL, 0x7fffffffffffffffULL, 0xffffffffffffffffULL}) {
    CHECK(is_unknown(rank.wait_for(handle)));
  }
}

TEST_CASE("a request whose communicator is none has no communicator") {
  openmpi_rank rank;
  const auto found = rank.wait_for(rank.request(0, collective, 0, openmpi_rank::array));
  REQUIRE(found);
  CHECK(found->pending == std::vector{pending_requests{purpose::collective, false, std::nullopt, "", 1}});
}

TEST_CASE("of an array of 2^31 requests only a bounded number is looked at") {
  openmpi_rank rank;
  rank.memory.map(target_address{0x8000000}, std::vector<std::byte>(std::size_t{8} * most_requests));
  for (std::size_t i = 0; i < most_requests; ++i) rank.put(0x8000000 + i * 8, rank.request(i % 8, collective, 0));
  std::vector<mpi_argument> arguments = {{mpi_role::request_count, true, false, INT32_MAX, ""},
                                         {mpi_role::request, true, true, 0x8000000, ""}};
  const auto found = read_openmpi_requests(arguments, rank.handles, mpi_language::c, rank.memory);
  REQUIRE(found);
  CHECK(found->pending.at(0).count == most_requests);
  CHECK(found->unknown == INT32_MAX - most_requests);
  arguments[1].value = 0x7000000;  // nothing is there
  CHECK_FALSE(read_openmpi_requests(arguments, rank.handles, mpi_language::c, rank.memory));
}

TEST_CASE("requests of more kinds than can be told apart are not known") {
  openmpi_rank rank;
  std::vector<std::uint64_t> all;
  for (std::size_t i = 0; i < most_kinds_of_requests + 2; ++i) {
    const std::uint64_t on = openmpi_rank::base + 0x5000 + i * 32;
    rank.communicator(on, 100 + i);
    all.push_back(rank.request(i, collective, 0, on));
  }
  const auto found = rank.wait_for_all(all, static_cast<std::int64_t>(all.size()));
  REQUIRE(found);
  CHECK(found->pending.size() == most_kinds_of_requests);
  CHECK(found->pending.back().communicator == 163U);
  CHECK(found->unknown == 2);
}

TEST_CASE("requests are not looked at without the types, the classes, or Open MPI") {
  openmpi_rank rank;
  const auto request = rank.request(0, collective, 0);
  SECTION("types") {
    rank.types.forget("ompi_request_t");
    CHECK_FALSE(find_openmpi_objects(rank.types));
    rank.handles.layouts.reset();
  }
  SECTION("the class") {
    rank.handles.objects.erase(openmpi_rank::requests);
  }
  SECTION("another MPI") {
    rank.handles.abi = mpi_abi::mpich;
  }
  CHECK_FALSE(rank.wait_for(request));
}

TEST_CASE("arbitrary bytes of requests give values within their bounds") {
  std::mt19937 source(20);  // NOLINT: the same numbers in every run
  for (int round = 0; round < 2000; ++round) {
    openmpi_rank rank;
    std::vector<std::uint64_t> all;
    for (std::size_t i = 0; i < 8; ++i) all.push_back(rank.request(i, source() % 10, source() % 3));
    for (auto changes = source() % 16; changes > 0; --changes) {
      const std::uint64_t where = openmpi_rank::base + source() % 0x2400;
      rank.put(where, source() % 2 == 0 ? source() : openmpi_rank::base + source() % 0x2400);
    }
    const auto found = rank.wait_for_all(all, 8);
    REQUIRE(found);
    std::uint64_t count = found->complete + found->unknown;
    for (const auto& one : found->pending) count += one.count;
    CHECK(count == 8);
  }
}
