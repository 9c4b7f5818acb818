// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The neighbours of a rank, read from Open MPI's objects in fake memory, including states that no MPI produces.
#include "objects/openmpi_topology.hpp"

#include <random>

#include "catch.hpp"
#include "fake_target.hpp"
#include "made_types.hpp"
#include "object_memory.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

using ranks = std::vector<std::int64_t>;

/// A process with one communicator that may have a topology.
class rank_with_neighbours : public object_memory {
 public:
  static constexpr std::uint64_t base = 0x4000000, grids = base + 0x20, graphs = base + 0x40, adjacent = base + 0x60;
  static constexpr std::uint64_t communicator = base + 0x100, module = base + 0x140, topology = base + 0x180;
  static constexpr std::uint64_t first = base + 0x400, second = base + 0x800, third = base + 0xc00;
  made_types types;
  process_handles handles;

  rank_with_neighbours() {
    types.define("opal_class_t", {number("cls_parent", 8, 8)});
    types.define("opal_pointer_array_t", {number("size", 0), number("addr", 8, 8)});
    types.define("ompi_request_t", {number("req_type", 16), number("req_complete", 24, 8), number("req_state", 32),
                                    number("req_persistent", 36, 1), number("req_mpi_object", 40, 8)});
    types.define("ompi_communicator_t", {number("c_contextid", 16), number("c_topo", 24, 8)});
    types.define("mca_topo_base_module_t", {number("mtc", 16, 8)});
    types.define("mca_topo_base_comm_cart_2_2_0_t",
                 {number("ndims", 16), number("dims", 24, 8), number("periods", 32, 8), number("coords", 40, 8)});
    types.define("mca_topo_base_comm_graph_2_2_0_t",
                 {number("nnodes", 16), number("index", 24, 8), number("edges", 32, 8)});
    types.define("mca_topo_base_comm_dist_graph_2_2_0_t", {number("in", 16, 8), number("indegree", 48)});
    memory.map(target_address{base}, std::vector<std::byte>(0x1000));
    put(communicator + 24, module);
    put(module + 16, topology);
    handles.abi = mpi_abi::openmpi;
    handles.objects = {{grids, "mca_topo_base_comm_cart_2_2_0_t_class"},
                       {graphs, "mca_topo_base_comm_graph_2_2_0_t_class"},
                       {adjacent, "mca_topo_base_comm_dist_graph_2_2_0_t_class"}};
    handles.layouts = find_openmpi_objects(types);
    REQUIRE(handles.layouts);
  }

  void list(std::uint64_t where, const ranks& numbers) {
    for (std::size_t i = 0; i < numbers.size(); ++i) put(where + i * 4, static_cast<std::uint32_t>(numbers[i]), 4);
  }
  void grid(const ranks& sizes, const ranks& cycles, const ranks& own) {
    put(topology, grids);
    put(topology + 16, sizes.size(), 4);
    put(topology + 24, first);
    put(topology + 32, second);
    put(topology + 40, third);
    list(first, sizes);
    list(second, cycles);
    list(third, own);
  }
  void graph(const ranks& ends, const ranks& edges) {
    put(topology, graphs);
    put(topology + 16, ends.size(), 4);
    put(topology + 24, first);
    put(topology + 32, second);
    list(first, ends);
    list(second, edges);
  }
  void sources(const ranks& all) {
    put(topology, adjacent);
    put(topology + 16, first);
    put(topology + 48, all.size(), 4);
    list(first, all);
  }
  [[nodiscard]] std::optional<ranks> of(std::int64_t rank, std::int64_t size) {
    object_reader objects(memory, handles.machine(), *handles.layouts);
    return read_neighbours(target_address{communicator}, handles, objects, memory, rank, size);
  }
};

}  // namespace

TEST_CASE("neighbours in a grid are the ranks before and behind in each dimension") {
  rank_with_neighbours rank;
  // 3 rows of 4: the rank in row 1, column 3 is rank 7.
  rank.grid({3, 4}, {0, 0}, {1, 3});
  CHECK(rank.of(7, 12) == ranks{3, 11, 6});
  rank.grid({3, 4}, {0, 1}, {1, 3});
  CHECK(rank.of(7, 12) == ranks{3, 11, 6, 4});
  rank.grid({3, 4}, {1, 1}, {0, 0});
  CHECK(rank.of(0, 12) == ranks{8, 4, 3, 1});
  rank.grid({2, 2, 2}, {0, 0, 0}, {1, 0, 1});
  CHECK(rank.of(5, 8) == ranks{1, 7, 4});
  // A ring of two has the same neighbour twice, a ring of one has itself.
  rank.grid({2}, {1}, {0});
  CHECK(rank.of(0, 2) == ranks{1, 1});
  rank.grid({1}, {1}, {0});
  CHECK(rank.of(0, 1) == ranks{0, 0});
  rank.grid({1}, {0}, {0});
  CHECK(rank.of(0, 1) == ranks{});
}

TEST_CASE("neighbours in a graph are between the end of the rank before and the end of the rank") {
  rank_with_neighbours rank;
  rank.graph({2, 3, 4, 6}, {1, 3, 0, 3, 0, 2});
  CHECK(rank.of(0, 4) == ranks{1, 3});
  CHECK(rank.of(1, 4) == ranks{0});
  CHECK(rank.of(3, 4) == ranks{0, 2});
  rank.graph({0, 1}, {0});
  CHECK(rank.of(0, 2) == ranks{});
}

TEST_CASE("neighbours in a distributed graph are the sources") {
  rank_with_neighbours rank;
  rank.sources({4, 0, 0});
  CHECK(rank.of(2, 5) == ranks{4, 0, 0});
  rank.sources({});
  CHECK(rank.of(2, 5) == ranks{});
}

TEST_CASE("neighbours that are not plausible are not known") {
  rank_with_neighbours rank;
  SECTION("no topology") {
    rank.grid({2}, {0}, {0});
    rank.put(rank_with_neighbours::communicator + 24, 0);
  }
  SECTION("no object of a topology") {
    rank.grid({2}, {0}, {0});
    rank.put(rank_with_neighbours::topology, rank_with_neighbours::module);
  }
  SECTION("a grid with more places than ranks") {
    rank.grid({3}, {0}, {0});
  }
  SECTION("a grid with another place for this rank") {
    rank.grid({2}, {0}, {1});
  }
  SECTION("a grid without end") {
    rank.grid({2}, {0}, {0});
    rank.put(rank_with_neighbours::topology + 16, 0x7fffffff, 4);
  }
  SECTION("a dimension without places") {
    rank.grid({0, 2}, {0, 0}, {0, 0});
  }
  SECTION("a grid that cannot be read") {
    rank.grid({2}, {0}, {0});
    rank.put(rank_with_neighbours::topology + 24, 0x10);
  }
  SECTION("a graph of another size") {
    rank.graph({1, 2, 2}, {1, 0});
  }
  SECTION("a graph whose edges end before they begin") {
    rank.graph({-1, 2}, {1, 0});
  }
  SECTION("a graph without end") {
    rank.graph({0x7fffffff, 0x7fffffff}, {1, 0});
  }
  SECTION("a neighbour that is not in the communicator") {
    rank.sources({1, 2});
  }
  SECTION("a negative neighbour") {
    rank.sources({-1});
  }
  SECTION("more neighbours than are looked at") {
    rank.sources({1});
    rank.put(rank_with_neighbours::topology + 48, most_neighbours + 1, 4);
  }
  SECTION("the types are not known") {
    rank.sources({1});
    REQUIRE(rank.of(0, 2));
    rank.types.forget("mca_topo_base_module_t");
    rank.handles.layouts = find_openmpi_objects(rank.types);
    REQUIRE(rank.handles.layouts);
  }
  CHECK_FALSE(rank.of(0, 2));
}

TEST_CASE("arbitrary bytes of a topology give ranks of the communicator") {
  std::mt19937 source(22);  // NOLINT: the same numbers in every run
  for (int round = 0; round < 2000; ++round) {
    rank_with_neighbours rank;
    if (round % 3 == 0) rank.grid({3, 4}, {0, 1}, {1, 3});
    if (round % 3 == 1) rank.graph({1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3});
    if (round % 3 == 2) rank.sources({1, 2, 3});
    for (auto changes = source() % 8; changes > 0; --changes) {
      const std::uint64_t where = rank_with_neighbours::topology + source() % 0x400;
      rank.put(where, source() % 2 == 0 ? source() % 16 : rank_with_neighbours::base + source() % 0x1000, 4);
    }
    const auto found = rank.of(7, 12);
    if (!found) continue;
    CHECK(found->size() <= most_neighbours);
    for (const std::int64_t one : *found) CHECK((one >= 0 && one < 12));
  }
}
