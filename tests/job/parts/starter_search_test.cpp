// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "parts/starter_search.hpp"

#include "fake_parts.hpp"

using namespace mpiacq;

namespace {
constexpr process_id script{10}, wrapper{11}, mpirun{12}, ompi_info{13};
}  // namespace

TEST_CASE("starter search: what was launched is the first guess, and its descendants are followed") {
  starter_search search(script);
  CHECK(search.starter() == script);
  CHECK(search.follows_child_of(script, false));
  CHECK_FALSE(search.follows_child_of(wrapper, false));
  search.add(wrapper);
  CHECK(search.follows_child_of(wrapper, false));
  CHECK(search.starter() == script);
}

TEST_CASE("starter search: the children of a process with the interface are not followed") {
  const starter_search search(mpirun);
  CHECK_FALSE(search.follows_child_of(mpirun, true));
}

TEST_CASE("starter search: a process with the interface is the best guess, until another one has it too") {
  starter_search search(script);
  search.add(ompi_info);
  CHECK(search.found_interface(ompi_info));
  CHECK_FALSE(search.found_interface(ompi_info));
  CHECK(search.starter() == ompi_info);
  search.add(mpirun);
  CHECK(search.found_interface(mpirun));
  CHECK(search.starter() == mpirun);
  CHECK_FALSE(search.is_over());
}

TEST_CASE("starter search: the best guess ends and has spawned nothing: a living process is the next guess") {
  starter_search search(script);
  search.add(ompi_info);
  CHECK(search.found_interface(ompi_info));
  CHECK(search.process_ended(ompi_info));
  CHECK(search.starter() == script);
  CHECK(search.is_any_alive());
  // No process is left to guess.
  CHECK_FALSE(search.process_ended(script));
  CHECK(search.starter() == script);
  CHECK_FALSE(search.is_any_alive());
}

TEST_CASE("starter search: the process that spawns the job ends the search, and the others are to be let go") {
  starter_search search(script);
  for (const process_id one : {wrapper, mpirun, ompi_info}) search.add(one);
  CHECK_FALSE(search.process_ended(ompi_info));
  CHECK(search.found_interface(wrapper));
  CHECK(search.has_spawned(mpirun));
  CHECK(search.is_over());
  CHECK(search.starter() == mpirun);
  CHECK(search.others() == std::vector<process_id>{script, wrapper});
  // Nothing changes the answer any more.
  CHECK_FALSE(search.has_spawned(wrapper));
  CHECK_FALSE(search.found_interface(wrapper));
  CHECK_FALSE(search.process_ended(mpirun));
  CHECK(search.starter() == mpirun);
  CHECK_FALSE(search.follows_child_of(script, false));
}

TEST_CASE("starter search: a lost process is neither alive nor to be let go") {
  starter_search search(script);
  search.add(wrapper);
  search.remove(wrapper);
  CHECK(search.others().empty());
  CHECK_FALSE(search.follows_child_of(wrapper, false));
}
