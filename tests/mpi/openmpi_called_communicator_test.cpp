// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The communicator of a call, read from Open MPI's objects in fake memory, including states that no MPI produces.
#include "objects/openmpi_called_communicator.hpp"

#include <random>
#include <string>
#include <string_view>

#include "catch.hpp"
#include "fake_target.hpp"
#include "made_types.hpp"
#include "object_memory.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

constexpr std::uint64_t job = 0x1234'0001, another_job = 0x1234'0002;

/// Rank 2 of a world of six processes, with a communicator of its own.
class rank_of_six : public object_memory {
 public:
  static constexpr std::uint64_t base = 0x4000000, objects = base + 0x10, communicators = base + 0x40;
  static constexpr std::uint64_t groups = base + 0x80, table = base + 0xc0, entries = base + 0x100;
  static constexpr std::uint64_t world = base + 0x400, own = base + 0x500, text = base + 0x600;
  static constexpr std::uint64_t world_group = base + 0x700, own_group = base + 0x740, remote_group = base + 0x780;
  static constexpr std::uint64_t window = base + 0x800, file = base + 0x880, windows = base + 0x20, files = base + 0x30;
  static constexpr std::uint64_t processes = base + 0x1000, lists = base + 0x2000;
  made_types types;
  process_handles handles;

  explicit rank_of_six(std::uint64_t label_bytes = 64) {
    types.define("opal_class_t", {number("cls_parent", 8, 8)});
    types.define("opal_pointer_array_t", {number("size", 0), number("addr", 8, 8)});
    types.define("ompi_request_t", {number("req_type", 16), number("req_complete", 24, 8), number("req_state", 32),
                                    number("req_persistent", 36, 1), number("req_mpi_object", 40, 8)});
    types.define("ompi_communicator_t",
                 {number("c_contextid", 16), number("c_my_rank", 20), number("c_flags", 24),
                  number("c_local_group", 32, 8), number("c_remote_group", 40, 8), number("c_name", 48, label_bytes)});
    types.define("ompi_group_t",
                 {number("grp_proc_count", 16), number("grp_my_rank", 20), number("grp_proc_pointers", 24, 8)});
    types.define("ompi_win_t", {number("w_flags", 8, 2), number("w_group", 16, 8), number("w_name", 24, 64)});
    types.define("ompi_file_t", {number("f_comm", 8, 8)});
    types.define("opal_proc_t", {number("proc_name", 40, 8)});
    memory.map(target_address{base}, std::vector<std::byte>(0x8000));
    put(communicators + 8, objects);  // both classes are derived from the class of all objects
    put(groups + 8, objects);
    put(windows + 8, objects);
    put(files + 8, objects);
    for (std::uint64_t i = 0; i < 6; ++i) process(i, job, i);
    group(world_group, {at(0), at(1), at(2), at(3), at(4), at(5)});
    communicator(world, 0, 2, world_group);
    // The first member is stored by its name, as Open MPI does before they have talked.
    group(own_group, {word(job, 5), at(2), at(3)});
    communicator(own, 7, 1, own_group);
    put(own_group + 20, 1, 4);
    put(window, windows);
    put(window + 16, own_group);
    put_text(window + 24, "halo");
    put(file, files);
    put(file + 8, own);
    handles.abi = mpi_abi::openmpi;
    handles.objects = {{communicators, "ompi_communicator_t_class"},
                       {groups, "ompi_group_t_class"},
                       {table, "ompi_comm_f_to_c_table"},
                       {windows, "ompi_win_t_class"},
                       {files, "ompi_file_t_class"},
                       {world, "ompi_mpi_comm_world"}};
    learn();
  }
  void learn() {
    handles.layouts = find_openmpi_objects(types);
    REQUIRE(handles.layouts);
  }

  void put_text(std::uint64_t where, std::string_view what) {
    for (std::size_t i = 0; i < what.size(); ++i) put(where + i, static_cast<unsigned char>(what[i]), 1);
  }
  static std::uint64_t at(std::uint64_t which) { return processes + which * 64; }
  /// As proc.h describes it, written anew.
  static std::uint64_t word(std::uint64_t of_job, std::uint64_t number) {
    return 1 + 2 * (of_job % 0x8000) + (of_job / 0x10000) * 0x10000 + number * 0x100000000;
  }
  void process(std::uint64_t which, std::uint64_t of_job, std::uint64_t number) {
    put(at(which) + 40, of_job, 4);
    put(at(which) + 44, number, 4);
  }
  void group(std::uint64_t where, const std::vector<std::uint64_t>& members) {
    const std::uint64_t list = lists + (where - world_group) * 8;
    put(where, groups);
    put(where + 16, members.size(), 4);
    put(where + 24, list);
    for (std::size_t i = 0; i < members.size(); ++i) put(list + i * 8, members[i]);
  }
  void communicator(std::uint64_t where, std::uint64_t id, std::uint64_t rank, std::uint64_t local) {
    put(where, communicators);
    put(where + 16, id, 4);
    put(where + 20, rank, 4);
    put(where + 32, local);
    put(where + 40, local);
  }
  void make_inter(const std::vector<std::uint64_t>& others) {
    group(remote_group, others);
    put(own + 24, 1, 4);
    put(own + 40, remote_group);
  }

  [[nodiscard]] std::optional<called_communicator> call_on(std::uint64_t handle,
                                                           mpi_language language = mpi_language::c,
                                                           const std::string& known_as = {},
                                                           mpi_role of = mpi_role::communicator) {
    mpi_argument one{of, true, false, static_cast<std::int64_t>(handle), known_as};
    return read_openmpi_communicator({&one, 1}, handles, language, memory);
  }
};

}  // namespace

TEST_CASE("the object of a call's communicator says its id, its name, and which ranks have it") {
  rank_of_six rank;
  rank.put_text(rank_of_six::own + 48, "half\x01");
  const auto found = rank.call_on(rank_of_six::own);
  REQUIRE(found);
  CHECK(found->by == mpi_role::communicator);
  CHECK(found->facts.id == 7);
  CHECK(found->facts.name.starts_with("half"));
  CHECK(found->facts.name.find('\x01') == std::string::npos);
  CHECK(found->facts.local_rank == 1);
  CHECK(found->facts.size == 3);
  CHECK(found->facts.group == group_members{5, 2, 3});
  CHECK(found->facts.is_inter == false);
  CHECK_FALSE(found->facts.remote_group);
}

TEST_CASE("the name of a communicator may stand behind an address, as in Open MPI 5") {
  rank_of_six rank(8);
  rank.put(rank_of_six::own + 48, rank_of_six::text);
  rank.put_text(rank_of_six::text, "MPI COMM 7");
  CHECK(rank.call_on(rank_of_six::own)->facts.name == "MPI COMM 7");
  rank.put(rank_of_six::own + 48, 0x10);
  REQUIRE(rank.call_on(rank_of_six::own));
  CHECK(rank.call_on(rank_of_six::own)->facts.name.empty());
}

TEST_CASE("an intercommunicator has the ranks of both sides") {
  rank_of_six rank;
  rank.make_inter({rank_of_six::at(0), rank_of_six::word(job, 4)});
  const auto found = rank.call_on(rank_of_six::own);
  REQUIRE(found);
  CHECK(found->facts.is_inter == true);
  CHECK(found->facts.group == group_members{5, 2, 3});
  CHECK(found->facts.remote_group == group_members{0, 4});
}

TEST_CASE("a process of another job has no number in this one") {
  rank_of_six rank;
  rank.make_inter({rank_of_six::word(another_job, 0), rank_of_six::word(another_job, 1)});
  CHECK(rank.call_on(rank_of_six::own)->facts.remote_group == group_members{-1, -1});
}

TEST_CASE("the numbers of Fortran's communicators lead to the same objects") {
  rank_of_six rank;
  rank.put(rank_of_six::table, 4, 4);
  rank.put(rank_of_six::table + 8, rank_of_six::entries);
  rank.put(rank_of_six::entries + 24, rank_of_six::own);
  const auto found = rank.call_on(3, mpi_language::fortran);
  REQUIRE(found);
  CHECK(found->facts.id == 7);
  CHECK_FALSE(rank.call_on(2, mpi_language::fortran));
  CHECK_FALSE(rank.call_on(4, mpi_language::fortran));
}

TEST_CASE("a group that has no list leaves the id of its communicator known") {
  rank_of_six rank;
  SECTION("it is stored in another way") {
    rank.put(rank_of_six::own_group + 24, 0);
  }
  SECTION("where the name of a process stands is not known") {
    rank.types.forget("opal_proc_t");
    rank.learn();
  }
  const auto found = rank.call_on(rank_of_six::own);
  REQUIRE(found);
  CHECK(found->facts.id == 7);
  CHECK(found->facts.size == 3);
  CHECK_FALSE(found->facts.group);
}

TEST_CASE("what does not look like a communicator is not known") {
  rank_of_six rank;
  const std::uint64_t list = rank_of_six::lists + (rank_of_six::own_group - rank_of_six::world_group) * 8;
  REQUIRE(rank.call_on(rank_of_six::own));
  SECTION("another class") {
    rank.put(rank_of_six::own, rank_of_six::groups);
  }
  SECTION("a group of another class") {
    rank.put(rank_of_six::own_group, rank_of_six::communicators);
  }
  SECTION("a communicator that was freed") {
    rank.put(rank_of_six::own + 24, 0x20, 4);
  }
  SECTION("a rank beyond the group") {
    rank.put(rank_of_six::own + 20, 3, 4);
  }
  SECTION("a negative rank") {
    rank.put(rank_of_six::own + 20, 0xffffffff, 4);
  }
  SECTION("an empty group") {
    rank.put(rank_of_six::own_group + 16, 0, 4);
  }
  SECTION("a group without end") {
    rank.put(rank_of_six::own_group + 16, 0x7fffffff, 4);
  }
  SECTION("a list that cannot be read") {
    rank.put(rank_of_six::own_group + 24, 0x10);
  }
  SECTION("a process that cannot be read") {
    rank.put(list, 0x10);
  }
  SECTION("a process that is not in the world") {
    rank.put(list, rank_of_six::word(job, 6));
  }
  SECTION("a process that is there twice") {
    rank.put(list, rank_of_six::at(3));
  }
  SECTION("this process is not where it says") {
    rank.put(rank_of_six::own + 20, 0, 4);
  }
  SECTION("the world has another rank") {
    rank.put(rank_of_six::world + 20, 3, 4);
  }
  SECTION("an intercommunicator without another side") {
    rank.make_inter({rank_of_six::at(0)});
    rank.put(rank_of_six::own + 40, 0);
  }
  CHECK_FALSE(rank.call_on(rank_of_six::own));
}

TEST_CASE("a handle that points nowhere is no communicator") {
  rank_of_six rank;
  for (const std::uint64_t handle : {0x0ULL, 0x10ULL, 0x4007ffcULL, 0x7fffffffffffffffULL, 0xffffffffffffffffULL}) {
    CHECK_FALSE(rank.call_on(handle));
  }
}

TEST_CASE("the object of a call's window says which ranks have the window") {
  rank_of_six rank;
  const auto on_window = [&] { return rank.call_on(rank_of_six::window, mpi_language::c, {}, mpi_role::window); };
  const auto found = on_window();
  REQUIRE(found);
  CHECK(found->by == mpi_role::window);
  CHECK(found->facts.name == "halo");
  CHECK(found->facts.local_rank == 1);
  CHECK(found->facts.group == group_members{5, 2, 3});
  SECTION("it is not the object of another kind") {
    CHECK_FALSE(rank.call_on(rank_of_six::window));
    CHECK_FALSE(rank.call_on(rank_of_six::own, mpi_language::c, {}, mpi_role::window));
    CHECK_FALSE(rank.call_on(rank_of_six::window, mpi_language::c, {}, mpi_role::file));
  }
  SECTION("a window that was freed") {
    rank.put(rank_of_six::window + 8, 1, 2);
    CHECK_FALSE(on_window());
  }
  SECTION("a group that has no list") {
    rank.put(rank_of_six::own_group + 24, 0);
    CHECK_FALSE(on_window());
  }
  SECTION("another rank of the group") {
    rank.put(rank_of_six::own_group + 20, 0, 4);
    CHECK_FALSE(on_window());
  }
  SECTION("the type is not known") {
    rank.types.forget("ompi_win_t");
    rank.learn();
    CHECK_FALSE(on_window());
    CHECK(rank.call_on(rank_of_six::own));
  }
}

TEST_CASE("the object of a call's file leads to a communicator, which may be the world") {
  rank_of_six rank;
  const auto on_file = [&] { return rank.call_on(rank_of_six::file, mpi_language::c, {}, mpi_role::file); };
  REQUIRE(on_file());
  CHECK(on_file()->by == mpi_role::file);
  CHECK(on_file()->facts.id == 7);
  CHECK(on_file()->facts.group == group_members{5, 2, 3});
  rank.put(rank_of_six::file + 8, rank_of_six::world);
  REQUIRE(on_file());
  CHECK(on_file()->facts.id == 0);
  CHECK(on_file()->facts.group == group_members{0, 1, 2, 3, 4, 5});
  rank.put(rank_of_six::file + 8, rank_of_six::window);
  CHECK_FALSE(on_file());
  rank.put(rank_of_six::file + 8, rank_of_six::own);
  rank.types.forget("ompi_file_t");
  rank.learn();
  CHECK_FALSE(on_file());
}

TEST_CASE("the numbers of Fortran's windows and files lead to the same objects") {
  rank_of_six rank;
  rank.put(rank_of_six::table, 4, 4);
  rank.put(rank_of_six::table + 8, rank_of_six::entries);
  rank.put(rank_of_six::entries + 8, rank_of_six::window);
  rank.put(rank_of_six::entries + 16, rank_of_six::file);
  rank.handles.objects[rank_of_six::table] = "ompi_mpi_windows";
  CHECK(rank.call_on(1, mpi_language::fortran, {}, mpi_role::window));
  CHECK_FALSE(rank.call_on(2, mpi_language::fortran, {}, mpi_role::window));
  rank.handles.objects[rank_of_six::table] = "ompi_file_f_to_c_table";
  CHECK(rank.call_on(2, mpi_language::fortran, {}, mpi_role::file));
}

TEST_CASE("communicators are not looked at if they are predefined, or without types, classes or Open MPI") {
  rank_of_six rank;
  CHECK_FALSE(rank.call_on(rank_of_six::world, mpi_language::c, "MPI_COMM_WORLD"));
  SECTION("types") {
    rank.types.forget("ompi_group_t");
    rank.learn();
  }
  SECTION("the class") {
    rank.handles.objects.erase(rank_of_six::groups);
  }
  SECTION("the world") {
    rank.handles.objects.erase(rank_of_six::world);
  }
  SECTION("another MPI") {
    rank.handles.abi = mpi_abi::mpich;
  }
  CHECK_FALSE(rank.call_on(rank_of_six::own));
}

TEST_CASE("arbitrary bytes of communicators give groups of ranks in the world") {
  std::mt19937 source(21);  // NOLINT: the same numbers in every run
  for (int round = 0; round < 2000; ++round) {
    rank_of_six rank;
    const bool by_window = round % 3 == 0;
    if (round % 2 == 0) rank.make_inter({rank_of_six::at(0), rank_of_six::word(job, 4)});
    for (auto changes = source() % 8; changes > 0; --changes) {
      const std::uint64_t where = rank_of_six::base + source() % 0x3000;
      rank.put(where, source() % 2 == 0 ? source() : rank_of_six::base + source() % 0x3000);
    }
    const auto found = by_window ? rank.call_on(rank_of_six::window, mpi_language::c, {}, mpi_role::window)
                                 : rank.call_on(rank_of_six::own);
    if (!found || !found->facts.group) continue;
    CHECK(found->facts.group->size() == static_cast<std::size_t>(found->facts.size));
    CHECK((*found->facts.group)[static_cast<std::size_t>(found->facts.local_rank)] >= 0);
    for (const std::int64_t member : *found->facts.group) CHECK((member >= -1 && member < 1 << 24));
  }
}
