// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// mpiacq queues on the distribution's MPICH, which has no queue library: what the arguments of the calls show. The
// fixture says which rank waits for which, with which tag.
#include <cstdio>
#include <filesystem>
#include <map>
#include <sstream>

#include "debug_builds.hpp"
#include "found_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

std::string why_no_deadlocks() {
  if (!is_installed("mpiexec.hydra") || !std::filesystem::exists(rank_program("mpi_deadlock_mpich"))) {
    return "MPICH (mpich, libmpich-dev) is not installed";
  }
  return "";
}

running_job stuck_mpich_job(int ranks, const std::vector<std::string>& options = {}) {
  std::vector<std::string> words = {"mpiexec.hydra", "-n", std::to_string(ranks), rank_program("mpi_deadlock_mpich")};
  words.insert(words.end(), options.begin(), options.end());
  return running_job(words, static_cast<std::size_t>(ranks));
}

/// The exit status is 1, because there is no queue library.
json queues_of(const running_job& job) {
  const auto run = run_command({MPIACQ_COMMAND, "queues", "--json", job.pid_text()});
  INFO(run.err);
  REQUIRE(run.exit_code == 1);
  return json::parse(run.out);
}

/// Once all ranks are in the calls that they wait in for ever.
json when_all_wait(const running_job& job) {
  json seen;
  CHECK(comes_true([&] {
    seen = queues_of(job);
    return !seen.at("deadlocks").empty();
  }));
  return seen;
}

}  // namespace

TEST_CASE("stock MPICH: ranks in receives that wait for each other are named, with the source and the tag",
          "[releases]") {
  if (const auto why = why_no_deadlocks(); !why.empty()) MPIACQ_SKIP(why);
  running_job job = stuck_mpich_job(3);
  const json seen = when_all_wait(job);
  INFO(seen.dump(1));
  REQUIRE(seen.at("ranks").size() == 3);
  for (int rank = 0; rank < 3; ++rank) {
    const json& row = seen.at("ranks").at(static_cast<std::size_t>(rank));
    CHECK(row.at("call") == "MPI_Recv");
    const auto known = arguments_of(row);
    REQUIRE(known.contains("source"));
    CHECK(known.at("source").at("value") == (rank + 1) % 3);
    CHECK(known.at("tag").at("value") == 7 + rank);
    CHECK(known.at("count").at("value") == 8 * (rank + 1));
    CHECK(known.at("datatype").at("name") == "MPI_BYTE");
    CHECK(known.at("communicator").at("name") == "MPI_COMM_WORLD");
  }
  CHECK(seen.at("deadlocks").at(0).at("certain") == false);
  CHECK(seen.at("deadlocks").at(0).at("ranks") == json::array({0, 1, 2}));
  const auto text = run_command({MPIACQ_COMMAND, "queues", job.pid_text()});
  INFO(text.out);
  CHECK_THAT(text.out, ContainsSubstring("perhaps a deadlock: 0 -> 1 -> 2 -> 0 wait for each other"));
  CHECK_THAT(text.out, ContainsSubstring("rank 0 may wait for rank 1: in MPI_Recv(source 1, tag 7, MPI_COMM_WORLD)"));
  CHECK(comes_true([&] { return job.disturbed().empty(); }));
}

TEST_CASE("stock MPICH: ranks in a barrier wait for the one that has not come", "[releases]") {
  if (const auto why = why_no_deadlocks(); !why.empty()) MPIACQ_SKIP(why);
  running_job job = stuck_mpich_job(3, {"--barrier", "yes"});
  const json seen = when_all_wait(job);
  INFO(seen.dump(1));
  CHECK(seen.at("deadlocks").at(0).at("ranks") == json::array({0, 2}));
  CHECK(seen.at("deadlocks").at(0).at("behind") == "1");
  const auto text = run_command({MPIACQ_COMMAND, "queues", job.pid_text()});
  CHECK_THAT(text.out, ContainsSubstring("ranks 0-1 may wait for rank 2: in MPI_Barrier(MPI_COMM_WORLD)"));
}

TEST_CASE("stock MPICH: ranks in matching probes wait for each other", "[releases]") {
  if (const auto why = why_no_deadlocks(); !why.empty()) MPIACQ_SKIP(why);
  running_job job = stuck_mpich_job(2, {"--call", "Mprobe"});
  const json seen = when_all_wait(job);
  INFO(seen.dump(1));
  CHECK(seen.at("deadlocks").at(0).at("ranks") == json::array({0, 1}));
}

TEST_CASE("stock MPICH: the report names the line of each rank's call, as the rank has announced it", "[releases]") {
  if (const auto why = why_no_deadlocks(); !why.empty()) MPIACQ_SKIP(why);
  constexpr int ranks = 2;
  const std::vector<std::string> words = {
      "mpiexec.hydra", "-n", std::to_string(ranks), rank_program("mpi_waits_mpich"), "--calls", "different"};
  running_job job(words, ranks);
  REQUIRE(job.ranks().size() == ranks);
  // MPICH 4.2 ends MPI_Waitall with a jump to a function without a name, so that no stack shows it.
  const std::vector<std::string> calls = {"MPI_Recv", "MPI_Wait"};
  json seen;
  CHECK(comes_true([&] {
    seen = queues_of(job);
    std::vector<std::string> now;
    for (const json& rank : seen.at("ranks")) now.push_back(rank.at("call").is_null() ? "" : rank.at("call"));
    return now == calls;
  }));
  const auto text = run_command({MPIACQ_COMMAND, "queues", job.pid_text()});
  const auto said = places_said(job.finish().out);
  INFO(seen.dump(1) << text.out);
  for (int rank = 0; rank < ranks; ++rank) {
    const json& at = seen.at("ranks").at(static_cast<std::size_t>(rank)).at("at");
    const json& place = said.at(rank);
    CHECK(at.at("function") == place.at("function"));
    CHECK(at.at("line") == place.at("line"));
    CHECK(at.at("file").get<std::string>().ends_with("ranks/mpi_waits.c"));
    CHECK_THAT(text.out,
               ContainsSubstring("rank " + std::to_string(rank) + ": in " + calls.at(static_cast<std::size_t>(rank)) +
                                 " at mpi_waits.c:" + place.at("line").dump() + "\n"));
  }
}

TEST_CASE("stock MPICH: stacks --args shows the arguments behind the function", "[releases]") {
  if (const auto why = why_no_deadlocks(); !why.empty()) MPIACQ_SKIP(why);
  const running_job job = stuck_mpich_job(3, {"--barrier", "yes"});
  check_arguments_in_stacks(job);
}

TEST_CASE("stock MPICH: stacks --args shows one line for each group of ranks with the same arguments", "[releases]") {
  if (const auto why = why_no_deadlocks(); !why.empty()) MPIACQ_SKIP(why);
  const running_job job = stuck_mpich_job(3);
  (void)when_all_wait(job);
  const auto text = run_command({MPIACQ_COMMAND, "stacks", "--args", job.pid_text()});
  INFO(text.out);
  for (const char* line : {"  0: (source 1, tag 7, MPI_COMM_WORLD)\n", "  1: (source 2, tag 8, MPI_COMM_WORLD)\n",
                           "  2: (source 0, tag 9, MPI_COMM_WORLD)\n"}) {
    CHECK_THAT(text.out, ContainsSubstring(line));
  }
}

TEST_CASE("MPICH with symbols: the arguments of a tail call are read in the frame of MPI_Probe") {
  const debug_build mpich = find_mpich_debug();
  if (mpich.prefix.empty()) MPIACQ_SKIP(mpich.why_not);
  const scratch_folder folder;
  const std::string program = folder.path("tail_call");
  const std::string source = std::string(MPIACQ_RANK_SOURCES) + "/mpi_tail_call.c";
  const auto built =
      run_command({mpich.prefix + "/bin/mpicc", "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-o", program, source});
  INFO(built.out << built.err);
  REQUIRE(built.exit_code == 0);
  running_job job({mpich.prefix + "/bin/mpiexec.hydra", "-n", "3", program}, 3);
  std::map<std::size_t, std::map<std::string, long>> known;
  CHECK(comes_true([&] {
    const auto run = run_command({MPIACQ_COMMAND, "queues", "--json", job.pid_text()});
    const json seen = json::parse(run.out);
    known.clear();
    for (std::size_t rank = 0; rank < seen.at("ranks").size(); ++rank) {
      for (const auto& [role, argument] : arguments_of(seen.at("ranks").at(rank))) {
        if (argument.at("source") == "debug-information") known[rank][role] = argument.at("value");
      }
    }
    return known.size() == 3;
  }));
  std::istringstream lines{job.out()};
  int told = 0;
  for (std::string line; std::getline(lines, line);) {
    std::size_t rank = 0;
    long from = 0, tag = 0;
    if (std::sscanf(line.c_str(), "rank %zu probes %ld for tag %ld", &rank, &from, &tag) != 3) continue;
    ++told;
    CHECK(known[rank]["source"] == from);
    CHECK(known[rank]["tag"] == tag);
  }
  CHECK(told == 3);
}
