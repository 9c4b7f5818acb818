// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The requests of a call, read from MPICH's objects in fake memory, including states that no MPI produces.
#include "objects/mpich_requests.hpp"

#include <random>

#include "catch.hpp"
#include "fake_target.hpp"
#include "made_types.hpp"
#include "object_memory.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

using purpose = mpi_request_kind;

enum request_kind : std::uint64_t { undefined, send, receive, started_receive, collective, generalized };

/// A process of a world of 4 with two tables of requests, the world, and a communicator of ranks 3, 1 and a stranger.
struct mpich_rank : object_memory {
  static constexpr std::uint64_t bytes = 128;  // of every object
  static constexpr std::uint64_t base = 0x4000000, requests = base, table_1 = base + bytes,
                                 of_communicators = base + 0x100;
  static constexpr std::uint64_t predefined = base + 0x200, world = predefined, complete = base + 0x400;
  static constexpr std::uint64_t direct = base + 0x800, own = base + 0xc00, blocks = base + 0xd00;
  static constexpr std::uint64_t block = base + 0xe00, processes = base + 0x1200, array = base + 0x1800;
  static constexpr std::uint64_t world_handle = 0x44000000, own_handle = 0x84000000, own_id = 132;
  made_types types;
  process_handles handles;

  mpich_rank() {
    types.define("MPIR_Object_alloc_t", {number("direct", 0, 8), number("direct_size", 8), number("indirect", 16, 8),
                                         number("indirect_size", 24), number("size", 28)});
    types.define("MPIR_Request", {number("handle", 0), number("kind", 4), number("cc_ptr", 8, 8), number("cc", 16),
                                  number("comm", 24, 8), number("dev", 32, 64)});
    types.define("MPIDI_Request", {number("match", 8, 8)});
    types.define("MPIDI_Message_match", {number("parts", 0, 8)});
    types.define("MPIDI_Message_match_parts_t", {number("tag", 0), number("rank", 4, 2), number("context_id", 6, 2)});
    types.define("MPIR_Comm", {number("handle", 0), number("rank", 4), number("remote_size", 8),
                               number("context_id", 12, 2), number("recvcontext_id", 14, 2), number("dev", 16, 32)});
    types.define("MPIDI_CH3I_comm_t", {number("vcrt", 8, 8)});
    types.define("struct MPIDI_VCRT", {number("size", 0), number("vcr_table", 8, 8)});
    types.define("struct MPIDI_VC", {number("pg", 0, 8), number("pg_rank", 8)});
    types.define_enumeration("MPIR_Request_kind_t", {{"MPIR_REQUEST_KIND__UNDEFINED", undefined},
                                                     {"MPIR_REQUEST_KIND__SEND", send},
                                                     {"MPIR_REQUEST_KIND__RECV", receive},
                                                     {"MPIR_REQUEST_KIND__PREQUEST_RECV", started_receive},
                                                     {"MPIR_REQUEST_KIND__COLL", collective},
                                                     {"MPIR_REQUEST_KIND__GREQUEST", generalized}});
    memory.map(target_address{base}, std::vector<std::byte>(0x3000));
    table(requests, direct, 4, blocks, 1);
    table(table_1, 0, 0, blocks, 1);
    table(of_communicators, own, 1, 0, 0);
    put(blocks, block);
    communicator(world, world_handle, 4, 0);
    communicator(own, own_handle, 3, own_id);
    peers(world, processes, {0, 1, 2, 3});
    peers(own, processes + 0x200, {3, 1, 1});
    put(processes + 0x200 + 0x100 + 2 * 16, 0x1234);  // the last one is of another world
    put(complete, 0x6c000000, 4);
    put(complete + 8, complete + 16);
    handles.abi = mpi_abi::mpich;
    handles.objects = {{requests, "MPIR_Request_mem"},
                       {complete, "MPIR_Request_builtins"},
                       {of_communicators, "MPIR_Comm_mem"},
                       {predefined, "MPIR_Comm_builtin"}};
    handles.mpich = find_mpich_objects(types);
    REQUIRE(handles.mpich);
    REQUIRE(handles.mpich->message);
    REQUIRE(handles.mpich->processes);
    handles.mpich->request_tables = 2;
  }

  void table(std::uint64_t where, std::uint64_t first, std::uint64_t count, std::uint64_t its_blocks,
             std::uint64_t block_count) {
    put(where, first);
    put(where + 8, count, 4);
    put(where + 16, its_blocks);
    put(where + 24, block_count, 4);
    put(where + 28, bytes, 4);
  }
  void communicator(std::uint64_t where, std::uint64_t handle, std::uint64_t size, std::uint64_t id) {
    put(where, handle, 4);
    put(where + 8, size, 4);
    put(where + 12, id, 2);
    put(where + 14, id, 2);
  }
  /// The ranks of the communicator in the world.
  void peers(std::uint64_t of, std::uint64_t where, const std::vector<std::uint64_t>& ranks) {
    put(of + 16 + 8, where);
    put(where, ranks.size(), 4);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const std::uint64_t process = where + 0x100 + i * 16;
      put(where + 8 + i * 8, process);
      put(process, 0x9999);
      put(process + 8, ranks[i], 4);
    }
  }
  /// A request with this handle at `where`, which is pending.
  std::uint64_t request_at(std::uint64_t where, std::uint64_t handle, std::uint64_t kind, std::uint64_t on = world) {
    put(where, handle, 4);
    put(where + 4, kind, 4);
    put(where + 8, where + 16);
    put(where + 16, 1, 4);
    put(where + 24, on);
    message(where, 1, 7, on == own ? own_id : 0);
    return handle;
  }
  std::uint64_t request(std::uint64_t which, std::uint64_t kind, std::uint64_t on = world) {
    return request_at(place(which), 0xac000000 + which, kind, on);
  }
  static std::uint64_t place(std::uint64_t which) { return direct + which * bytes; }
  void message(std::uint64_t where, std::int64_t peer, std::int64_t tag, std::uint64_t id) {
    put(where + 40, static_cast<std::uint32_t>(tag), 4);
    put(where + 44, static_cast<std::uint16_t>(peer), 2);
    put(where + 46, id, 2);
  }

  [[nodiscard]] std::optional<awaited_requests> wait_for(std::uint64_t handle) {
    mpi_argument one{mpi_role::request, true, false, static_cast<std::int64_t>(handle), ""};
    return read_mpich_requests({&one, 1}, handles, mpi_language::c, memory);
  }
  [[nodiscard]] std::optional<awaited_requests> wait_for_all(const std::vector<std::uint64_t>& all,
                                                             std::int64_t count) {
    for (std::size_t i = 0; i < all.size(); ++i) put(array + i * 4, all[i], 4);
    const std::vector<mpi_argument> arguments = {
        {mpi_role::request_count, true, false, count, ""},
        {mpi_role::request, true, true, static_cast<std::int64_t>(array), ""},
    };
    return read_mpich_requests(arguments, handles, mpi_language::fortran, memory);
  }
};

pending_requests on_world(bool is_send, std::optional<std::int64_t> peer, std::optional<std::int64_t> tag) {
  std::optional<std::uint32_t> number;
  if (peer) number = static_cast<std::uint32_t>(*peer);
  return {purpose::point_to_point, false, 0, "MPI_COMM_WORLD", 1, request_message{is_send, peer, number, tag}};
}
pending_requests without_message(pending_requests one) {
  one.message.reset();
  return one;
}

void check_unknown(const std::optional<awaited_requests>& found) {
  CHECK(found == awaited_requests{{}, 0, 1});
}
void check_pending(const std::optional<awaited_requests>& found, const pending_requests& expected) {
  CHECK(found == awaited_requests{{expected}, 0, 0});
}

}  // namespace

TEST_CASE("MPICH: a pending request says whether it sends, the other rank, the tag and the communicator") {
  mpich_rank rank;
  check_pending(rank.wait_for(rank.request(0, send)), on_world(true, 1, 7));
  check_pending(rank.wait_for(rank.request(3, receive)), on_world(false, 1, 7));
  rank.message(mpich_rank::place(3), -2, -1, 0);
  check_pending(rank.wait_for(0xac000003), on_world(false, std::nullopt, std::nullopt));
  check_pending(rank.wait_for(rank.request(1, collective)), {purpose::collective, false, 0, "MPI_COMM_WORLD", 1});
}

TEST_CASE("MPICH: the other rank is found in the world by the process behind it") {
  mpich_rank rank;
  rank.request(0, receive, mpich_rank::own);
  for (const auto& [peer, in_world] : {std::pair<int, std::optional<std::uint32_t>>{0, 3}, {1, 1}, {2, {}}}) {
    rank.message(mpich_rank::place(0), peer, 7, mpich_rank::own_id);
    check_pending(rank.wait_for(0xac000000), {purpose::point_to_point, false, mpich_rank::own_id, "", 1,
                                              request_message{false, peer, in_world, 7}});
  }
}

TEST_CASE("MPICH: handles lead to predefined objects, to blocks, and to other tables") {
  mpich_rank rank;
  CHECK(rank.wait_for(0x6c000000) == awaited_requests{{}, 1, 0});
  check_unknown(rank.wait_for(0x6c000001));
  check_pending(rank.wait_for(rank.request_at(mpich_rank::block + 128, 0xec000001, send)), on_world(true, 1, 7));
  check_pending(rank.wait_for(rank.request_at(mpich_rank::block + 128, 0xec100001, send)), on_world(true, 1, 7));
  check_unknown(rank.wait_for(0xec000001));  // the object is now another one's
  check_unknown(rank.wait_for(rank.request_at(mpich_rank::block + 128, 0xec200001, send)));
  check_unknown(rank.wait_for(rank.request_at(mpich_rank::block + 128, 0xec001001, send)));
  rank.handles.mpich->request_tables = 1;  // an MPICH of before 3.4, whose blocks may be larger
  rank.put(mpich_rank::requests + 24, 2, 4);
  rank.put(mpich_rank::blocks + 8, mpich_rank::block);
  check_pending(rank.wait_for(rank.request_at(mpich_rank::block + 128, 0xec010001, send)), on_world(true, 1, 7));
}

TEST_CASE("MPICH: a request that is complete and MPI_REQUEST_NULL need nothing any more") {
  mpich_rank rank;
  const auto request = rank.request(0, undefined);
  rank.put(mpich_rank::place(0) + 16, 0, 4);
  CHECK(rank.wait_for(request) == awaited_requests{{}, 1, 0});
  CHECK(rank.wait_for(0x2c000000) == awaited_requests{{}, 1, 0});
}

TEST_CASE("MPICH: a persistent request is the operation that it has begun") {
  mpich_rank rank;
  const auto persistent = rank.request(0, started_receive);
  rank.request(1, receive);
  rank.message(mpich_rank::place(1), 2, 9, 0);
  rank.put(mpich_rank::place(0) + 8, mpich_rank::place(1) + 16);
  pending_requests expected = on_world(false, 2, 9);
  expected.persistent = true;
  check_pending(rank.wait_for(persistent), expected);
  rank.put(mpich_rank::place(1) + 16, 0, 4);
  CHECK(rank.wait_for(persistent) == awaited_requests{{}, 1, 0});
  rank.put(mpich_rank::place(1) + 16, 1, 4);
  rank.put(mpich_rank::place(1), 0xac000002, 4);  // no object of this handle is there
  check_unknown(rank.wait_for(persistent));
}

TEST_CASE("MPICH: the requests of an array are counted by what they are for") {
  mpich_rank rank;
  const auto message = rank.request(0, receive), another = rank.request(1, receive),
             barrier = rank.request(2, collective);
  const auto found = rank.wait_for_all({message, barrier, 0x2c000000, another, 0x12345678}, 5);
  pending_requests twice = on_world(false, 1, 7);
  twice.count = 2;
  CHECK(found == awaited_requests{{twice, {purpose::collective, false, 0, "MPI_COMM_WORLD", 1}}, 1, 1});
  CHECK_FALSE(rank.wait_for_all({message}, -1));
}

TEST_CASE("MPICH: what does not look like a request is not known") {
  mpich_rank rank;
  const auto request = rank.request(0, receive);
  const std::uint64_t at = mpich_rank::place(0);
  SECTION("another handle in the object") {
    rank.put(at, 0xac000001, 4);
  }
  SECTION("a kind that has no name") {
    rank.put(at + 4, 77, 4);
  }
  SECTION("a kind that is not understood") {
    rank.put(at + 4, generalized, 4);
  }
  SECTION("a counter that cannot be read") {
    rank.put(at + 8, 0x10);
  }
  SECTION("a counter below zero") {
    rank.put(at + 16, 0xffffffff, 4);
  }
  SECTION("the counter of another request, though it is not persistent") {
    rank.request(1, receive);
    rank.put(at + 8, mpich_rank::place(1) + 16);
  }
  SECTION("objects of another size") {
    rank.put(mpich_rank::requests + 28, 96, 4);
  }
  SECTION("a table that is shorter") {
    rank.put(mpich_rank::requests + 8, 0, 4);
  }
  SECTION("a table that is not there") {
    rank.put(mpich_rank::requests, 0);
  }
  check_unknown(rank.wait_for(request));
}

TEST_CASE("MPICH: a message that is not plausible is not known, and its request is") {
  mpich_rank rank;
  const auto request = rank.request(0, receive);
  const std::uint64_t at = mpich_rank::place(0);
  pending_requests expected = without_message(on_world(false, 1, 7));
  SECTION("a rank beyond the communicator") {
    rank.message(at, 4, 7, 0);
  }
  SECTION("a rank that has no meaning") {
    rank.message(at, -3, 7, 0);
  }
  SECTION("a tag that has no meaning") {
    rank.message(at, 1, -2, 0);
  }
  SECTION("the id of another communicator") {
    rank.message(at, 1, 7, 1);
  }
  SECTION("a send from any source") {
    rank.put(at + 4, send, 4);
    rank.message(at, -2, 7, 0);
  }
  SECTION("a send with any tag") {
    rank.put(at + 4, send, 4);
    rank.message(at, 1, -1, 0);
  }
  SECTION("another device") {
    rank.handles.mpich->message.reset();
  }
  SECTION("a communicator that is none") {
    rank.put(at + 24, mpich_rank::own + 8);
    expected = {purpose::point_to_point, false, std::nullopt, "", 1};
  }
  SECTION("a communicator whose handle is another one's") {
    rank.put(mpich_rank::world, 0x44000001, 4);
    expected = {purpose::point_to_point, false, std::nullopt, "", 1};
  }
  SECTION("a communicator without ranks") {
    rank.put(mpich_rank::world + 8, 0, 4);
    expected = {purpose::point_to_point, false, std::nullopt, "", 1};
  }
  check_pending(rank.wait_for(request), expected);
}

TEST_CASE("MPICH: a handle that leads nowhere is an unknown request") {
  mpich_rank rank;
  for (const std::uint64_t handle :
       {0x0U, 0xac000004U, 0xafffffffU, 0xefffffffU, 0xffffffffU, 0x84000000U, 0x6fffffffU})
    check_unknown(rank.wait_for(handle));
}

TEST_CASE("MPICH: of an array of 2^31 requests only a bounded number is looked at") {
  mpich_rank rank;
  rank.request(0, receive);
  rank.memory.map(target_address{0x8000000}, std::vector<std::byte>(std::size_t{4} * most_requests));
  for (std::size_t i = 0; i < most_requests; ++i) rank.put(0x8000000 + i * 4, 0xac000000, 4);
  const std::vector<mpi_argument> arguments = {{mpi_role::request_count, true, false, INT32_MAX, ""},
                                               {mpi_role::request, true, true, 0x8000000, ""}};
  const auto found = read_mpich_requests(arguments, rank.handles, mpi_language::c, rank.memory);
  REQUIRE(found);
  CHECK(found->pending.at(0).count == most_requests);
  CHECK(found->unknown == INT32_MAX - most_requests);
}

TEST_CASE("MPICH: requests are not looked at without the types, the tables, or MPICH") {
  mpich_rank rank;
  const auto request = rank.request(0, receive);
  SECTION("types") {
    rank.types.forget("MPIR_Comm");
    CHECK_FALSE(find_mpich_objects(rank.types));
    rank.handles.mpich.reset();
  }
  SECTION("the tables") {
    rank.handles.objects.erase(mpich_rank::requests);
  }
  SECTION("another MPI") {
    rank.handles.abi = mpi_abi::openmpi;
  }
  CHECK_FALSE(rank.wait_for(request));
}

TEST_CASE("MPICH: arbitrary bytes of requests give values within their bounds") {
  std::mt19937 source(20);  // NOLINT: the same numbers in every run
  for (int round = 0; round < 2000; ++round) {
    mpich_rank rank;
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < 4; ++i)
      all.push_back(rank.request(i, source() % 6, source() % 2 == 0 ? mpich_rank::world : mpich_rank::own));
    for (auto changes = source() % 16; changes > 0; --changes) {
      const std::uint64_t where = mpich_rank::base + source() % 0x1800;
      rank.put(where, source() % 2 == 0 ? source() : mpich_rank::base + source() % 0x1800);
    }
    const auto found = rank.wait_for_all(all, 4);
    REQUIRE(found);
    std::uint64_t count = found->complete + found->unknown;
    for (const auto& one : found->pending) count += one.count;
    CHECK(count == 4);
  }
}
