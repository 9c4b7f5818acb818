// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// mpiacq queues on the distribution's Open MPI: ranks that wait for each other, for ever.
#include <filesystem>

#include "found_job.hpp"
#include "openmpi.hpp"
#include "running_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

const char* const deadlock_program = "mpi_deadlock_openmpi";

bool have_deadlock() {
  return have_openmpi() && std::filesystem::exists(rank_program(deadlock_program));
}

/// A job that waits for ever, and the types that its queue library needs.
class stuck_job {
 public:
  explicit stuck_job(int ranks, const std::vector<std::string>& options = {})
      : job_(line(ranks, options), static_cast<std::size_t>(ranks)) {}

  [[nodiscard]] bool get_types() {
    const auto made = run_command({MPIACQ_COMMAND, "types", "openmpi", "-o", types()});
    INFO(made.err);
    CHECK(made.exit_code == 0);
    return made.exit_code == 0;
  }
  [[nodiscard]] running_job& job() { return job_; }
  [[nodiscard]] command_outcome queues(const std::vector<std::string>& options = {}) {
    std::vector<std::string> words = {MPIACQ_COMMAND, "queues", "--types", types()};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back(job_.pid_text());
    return run_command(words, openmpi_options());
  }
  /// Once all are in the calls that they wait in for ever.
  [[nodiscard]] json when_all_wait() {
    json seen;
    CHECK(comes_true([&] {
      const auto run = queues({"--json"});
      INFO(run.err);
      REQUIRE(!run.out.empty());
      seen = json::parse(run.out);
      return !seen.at("cycles").empty();
    }));
    INFO(seen.dump(1));
    CHECK(!seen.at("cycles").empty());
    return seen;
  }

 private:
  static std::vector<std::string> line(int ranks, const std::vector<std::string>& options) {
    std::vector<std::string> words = {
        mpirun, "--oversubscribe", "--mca", "pml", "ob1", "-n", std::to_string(ranks), rank_program(deadlock_program)};
    words.insert(words.end(), options.begin(), options.end());
    return words;
  }
  [[nodiscard]] std::string types() const { return folder_.path("openmpi.types"); }
  scratch_folder folder_;
  running_job job_;
};

const json& receive_of(const json& seen, int rank) {
  for (const json& own : seen.at("ranks").at(static_cast<std::size_t>(rank)).at("communicators")) {
    if (own.at("name") == "MPI_COMM_WORLD") return own.at("receives").at(0);
  }
  throw std::runtime_error("no MPI_COMM_WORLD");
}

}  // namespace

TEST_CASE("openmpi: two ranks that each wait in a receive for the other are reported as a deadlock", "[releases]") {
  if (!have_deadlock()) MPIACQ_SKIP(openmpi_not_installed);
  stuck_job stuck(2);
  if (!stuck.get_types()) return;
  const json seen = stuck.when_all_wait();
  INFO(seen.dump(1));
  CHECK_THAT(seen.at("library").at("path").get<std::string>(), ContainsSubstring("libompi_dbg_msgq"));
  REQUIRE(seen.at("ranks").size() == 2);
  for (const int rank : {0, 1}) {
    const json& row = seen.at("ranks").at(static_cast<std::size_t>(rank));
    CHECK(row.at("outcome") == "complete");
    CHECK(row.at("pid") == stuck.job().ranks().at(rank));
    CHECK(row.at("call") == "MPI_Recv");
    CHECK(row.at("pml") == "ob1");
    CHECK(row.at("length_unit") == "bytes");
    const json& receive = receive_of(seen, rank);
    CHECK(receive.at("status") == "pending");
    CHECK(receive.at("peer") == json{{"any", false}, {"local", 1 - rank}, {"global", 1 - rank}});
    CHECK(receive.at("tag") == 7 + rank);
    CHECK(receive.at("length") == 8 * (rank + 1));
  }
  REQUIRE(seen.at("waits").size() == 2);
  for (const int rank : {0, 1}) {
    CHECK(seen.at("waits").at(static_cast<std::size_t>(rank)).at("from") == rank);
    CHECK(seen.at("waits").at(static_cast<std::size_t>(rank)).at("to") == 1 - rank);
  }
  CHECK(seen.at("cycles") == json::array({json::array({0, 1})}));
  const auto text = stuck.queues();
  CHECK(text.exit_code == 0);
  CHECK_THAT(text.out, ContainsSubstring("DEADLOCK: 0 -> 1 -> 0"));
  CHECK(comes_true([&] { return stuck.job().disturbed().empty(); }));
}

TEST_CASE("openmpi: ranks in a barrier wait for the one that has not come, and it for one of them", "[releases]") {
  if (!have_deadlock()) MPIACQ_SKIP(openmpi_not_installed);
  stuck_job stuck(3, {"--barrier", "yes"});
  if (!stuck.get_types()) return;
  const json seen = stuck.when_all_wait();
  INFO(seen.dump(1));
  CHECK(seen.at("cycles") == json::array({json::array({0, 2})}));
  CHECK(seen.at("deadlocks").at(0).at("behind") == "1");
}

TEST_CASE("openmpi: stacks --args shows the arguments behind the function", "[releases]") {
  if (!have_deadlock()) MPIACQ_SKIP(openmpi_not_installed);
  stuck_job stuck(3, {"--barrier", "yes"});
  check_arguments_in_stacks(stuck.job());
}

TEST_CASE("openmpi: ranks that wait in other calls than MPI_Recv are reported as a deadlock", "[releases]") {
  if (!have_deadlock()) MPIACQ_SKIP(openmpi_not_installed);
  for (const std::string call : {"Wait", "Waitany", "Waitsome", "Mprobe"}) {
    INFO(call);
    stuck_job stuck(2, {"--call", call});
    if (!stuck.get_types()) return;
    const json seen = stuck.when_all_wait();
    INFO(seen.dump(1));
    CHECK(seen.at("cycles") == json::array({json::array({0, 1})}));
    for (const int rank : {0, 1}) {
      CHECK(seen.at("ranks").at(static_cast<std::size_t>(rank)).at("call") == "MPI_" + call);
      const json& receive = receive_of(seen, rank);
      CHECK(receive.at("status") == "pending");
      CHECK(receive.at("peer").at("global") == 1 - rank);
      CHECK(receive.at("tag") == 7 + rank);
    }
    CHECK_THAT(stuck.queues().out, ContainsSubstring("DEADLOCK: 0 -> 1 -> 0"));
    CHECK(comes_true([&] { return stuck.job().disturbed().empty(); }));
  }
}

TEST_CASE("openmpi: ranks whose MPI_Waitall has only receives are reported as a deadlock", "[releases]") {
  if (!have_deadlock()) MPIACQ_SKIP(openmpi_not_installed);
  stuck_job stuck(3, {"--call", "Waitall"});
  if (!stuck.get_types()) return;
  CHECK(comes_true([&] {
    const json seen = json::parse(stuck.queues({"--json"}).out);
    return seen.at("deadlocks").size() == 1 && seen.at("deadlocks").at(0).at("certain") == true &&
           seen.at("deadlocks").at(0).at("ranks") == json::array({0, 1, 2});
  }));
  const auto text = stuck.queues();
  INFO(text.out);
  CHECK_THAT(text.out, ContainsSubstring("\n  DEADLOCK"));
}

TEST_CASE("openmpi: one wrong tag in a halo exchange is a deadlock of its sender and its receiver", "[releases]") {
  if (!have_deadlock()) MPIACQ_SKIP(openmpi_not_installed);
  stuck_job stuck(5, {"--call", "halo"});
  if (!stuck.get_types()) return;
  const json seen = stuck.when_all_wait();
  INFO(seen.dump(1));
  CHECK(seen.at("cycles") == json::array({json::array({2, 3})}));
  CHECK(seen.at("deadlocks").at(0).at("certain") == true);
  CHECK(seen.at("deadlocks").at(0).at("behind") == "0-1,4");
  for (const json& rank : seen.at("ranks")) CHECK(rank.at("call") == "MPI_Waitall");
}
