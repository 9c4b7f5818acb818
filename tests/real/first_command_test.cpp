// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// mpiacq queues on the distribution's Open MPI as the first command on a machine: no types are in the user's cache.
#include <csignal>
#include <filesystem>

#include "openmpi.hpp"
#include "running_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

std::vector<std::string> line_of(const std::vector<std::string>& program, int ranks) {
  std::vector<std::string> words = {mpirun, "--oversubscribe", "--mca", "pml", "ob1", "-n", std::to_string(ranks)};
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

/// The first command of a user whose cache is empty.
class new_user {
 public:
  explicit new_user(const std::string& path = {}) : how_(openmpi_options()) {
    how_.environment["XDG_CACHE_HOME"] = folder_.path("cache");
    if (!path.empty()) how_.environment["PATH"] = path;
  }
  [[nodiscard]] command_outcome queues(const running_job& job, const std::vector<std::string>& options = {}) const {
    std::vector<std::string> words = {MPIACQ_COMMAND, "queues"};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back(job.pid_text());
    return run_command(words, how_);
  }
  /// Once the ranks are in the calls that they wait in for ever.
  [[nodiscard]] json until_deadlock(const running_job& job) const {
    json seen;
    CHECK(comes_true([&] {
      const auto run = queues(job, {"--json"});
      INFO(run.err);
      REQUIRE(!run.out.empty());
      seen = json::parse(run.out);
      return !seen.at("cycles").empty();
    }));
    return seen;
  }
  [[nodiscard]] std::size_t types_in_cache() const {
    std::error_code none;
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path("cache/mpiacq/types"), none)) {
      if (entry.path().extension() == ".so") ++count;
    }
    return count;
  }

 private:
  scratch_folder folder_;
  command_options how_;
};

bool have(const char* program) {
  return have_openmpi() && std::filesystem::exists(rank_program(program));
}

bool notes_say(const json& seen, const std::string& part) {
  for (const json& note : seen.at("notes")) {
    if (note.get<std::string>().find(part) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("openmpi: the first command on a machine makes the types and names the deadlock", "[releases]") {
  if (!have("mpi_deadlock_openmpi")) MPIACQ_SKIP(openmpi_not_installed);
  const running_job job(line_of({rank_program("mpi_deadlock_openmpi")}, 2), 2);
  REQUIRE(job.ranks().size() == 2);
  const new_user user;
  const auto first = user.queues(job);
  INFO(first.err << first.out);
  CHECK_THAT(first.out, ContainsSubstring("were compiled"));
  CHECK(user.types_in_cache() == 1);
  const json seen = user.until_deadlock(job);
  CHECK(seen.at("cycles") == json::array({json::array({0, 1})}));
  CHECK_FALSE(notes_say(seen, "were compiled"));
  const auto text = user.queues(job);
  CHECK(text.exit_code == 0);
  CHECK_THAT(text.out, ContainsSubstring("DEADLOCK: 0 -> 1 -> 0"));
}

TEST_CASE("openmpi: without a compiler the built-in types of its release name the deadlock", "[releases]") {
  if (!have("mpi_deadlock_openmpi")) MPIACQ_SKIP(openmpi_not_installed);
  const running_job job(line_of({rank_program("mpi_deadlock_openmpi")}, 2), 2);
  REQUIRE(job.ranks().size() == 2);
  const new_user user("/nowhere");
  const json seen = user.until_deadlock(job);
  INFO(seen.dump(1));
  CHECK(user.types_in_cache() == 0);
  CHECK(notes_say(seen, "built-in ones of Open MPI"));
  CHECK(seen.at("cycles") == json::array({json::array({0, 1})}));
  for (const json& rank : seen.at("ranks")) CHECK(rank.at("outcome") == "complete");
}

TEST_CASE("openmpi: a receive from a rank in MPI_Finalize is a deadlock that names both", "[releases]") {
  if (!have("mpi_finalize_openmpi")) MPIACQ_SKIP(openmpi_not_installed);
  const running_job job(line_of({rank_program("mpi_finalize_openmpi")}, 3), 3);
  REQUIRE(job.ranks().size() == 3);
  const new_user user;
  const json seen = user.until_deadlock(job);
  INFO(seen.dump(1));
  CHECK(seen.at("cycles") == json::array({json::array({0, 2})}));
  CHECK(seen.at("deadlocks").at(0).at("in_finalize") == "2");
  CHECK(seen.at("deadlocks").at(0).at("certain") == true);
  const auto text = user.queues(job);
  INFO(text.out);
  CHECK(text.exit_code == 0);
  CHECK_THAT(text.out, ContainsSubstring("DEADLOCK: rank 0 waits for rank 2, which is in MPI_Finalize"));
}

TEST_CASE("openmpi: mpi4py's recv that never gets its message is a deadlock") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  const auto library = run_command(
      {"/usr/bin/python3", "-c", "from mpi4py import MPI; print(MPI.Get_library_version())"}, openmpi_options());
  if (library.out.find("Open MPI") == std::string::npos)
    MPIACQ_SKIP("mpi4py for Open MPI (python3-mpi4py) is not installed");
  const running_job job(line_of({"/usr/bin/python3", MPIACQ_RANK_SOURCES "/mpi4py_recv.py"}, 3), 3);
  REQUIRE(job.ranks().size() == 3);
  const new_user user;
  const json seen = user.until_deadlock(job);
  INFO(seen.dump(1));
  CHECK(seen.at("cycles") == json::array({json::array({0, 1, 2})}));
  for (const json& rank : seen.at("ranks")) CHECK(rank.at("pid") == job.ranks().at(rank.at("rank").get<long>()));
  CHECK_THAT(user.queues(job).out, ContainsSubstring("DEADLOCK: 0 -> 1 -> 2 -> 0"));
  for (const auto& [rank, pid] : job.ranks()) ::kill(static_cast<pid_t>(pid), SIGKILL);
}
