// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// mpiacq queues on MPI2DD jobs of several worlds, each of which has the same queues: nothing of one is the other's.
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "json_of.hpp"
#include "reference_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

const std::string library = MPIACQ_QUEUE_LIBRARIES "/libqueue_perfect.so";

/// Two worlds of two ranks that each wait in a receive for the other. `options` are the starter's.
struct queues_job : reference_job {
  explicit queues_job(const std::vector<std::string>& options) : reference_job(with_queues(options)) {
    ::unsetenv("MPI2DD_QUEUES");
    ready();
  }
  static std::vector<std::string> with_queues(const std::vector<std::string>& options) {
    ::setenv("MPI2DD_QUEUES", "in:MPI_Recv @0 receive:world:1:7:64 @1 receive:world:0:8:32 @all", 1);
    std::vector<std::string> words = {"mpi2dd_starter",
                                      "--ranks",
                                      "2",
                                      "--world",
                                      "w0",
                                      "--hold",
                                      "--rank-program",
                                      MPIACQ_MPI2DD "/mpi2dd_rank_queues"};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("1/spawn=2");
    return words;
  }
};

command_outcome queues(pid_t pid, std::vector<std::string> options = {}) {
  options.insert(options.begin(), {MPIACQ_COMMAND, "queues", "--trust-library"});
  options.push_back(std::to_string(pid));
  command_options how;
  how.limit = std::chrono::seconds(60);
  return run_command(options, how);
}

std::string name_of(const json& rank) {
  return std::to_string(rank.at("world").get<int>()) + ":" + std::to_string(rank.at("rank").get<int>());
}

}  // namespace

TEST_CASE("queues: each world of an MPI2DD job has its own queues and its own deadlock") {
  // The ranks name the library, or the starter does for ranks that name none.
  const std::string whose = GENERATE("--pass", "--do");
  queues_job job({whose, "dll,-," + library});
  const json seen = json_of(queues(job.rank("w0", 0), {"--json"}));
  INFO(seen.dump(1));
  CHECK(seen.at("starter").at("pid") == job.pid());
  CHECK(seen.at("library").at("path") == library);
  const std::string child = job.spawned_world(job.rank("w0", 1), 1);
  REQUIRE(seen.at("worlds").size() == 2);
  CHECK(seen.at("worlds")[1] ==
        json{{"number", 1}, {"id", child}, {"spawned_by", {{"world", "w0"}, {"rank", 1}, {"sequence", 0}}}});
  REQUIRE(seen.at("ranks").size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    const json& rank = seen.at("ranks")[i];
    CHECK(name_of(rank) == std::to_string(i / 2) + ":" + std::to_string(i % 2));
    CHECK(rank.at("pid") == job.rank(i < 2 ? "w0" : child, static_cast<int>(i % 2)));
    CHECK(rank.at("outcome") == "complete");
    CHECK(rank.at("call") == "MPI_Recv");
    const json& world = rank.at("communicators").at(0);
    CHECK(world.at("local_rank") == i % 2);
    CHECK(world.at("size") == 2);
    CHECK(world.at("group") == json{0, 1});
  }
  CHECK(seen.at("cycles") == json::parse(R"([["0:0", "0:1"], ["1:0", "1:1"]])"));
  for (const json& wait : seen.at("waits")) {
    CHECK(wait.at("from").get<std::string>().front() == wait.at("to").get<std::string>().front());
    CHECK(wait.at("certain") == true);
  }
  CHECK(seen.at("remote") == "");
  CHECK(job.end() == 0);
}

TEST_CASE("queues: the text report names the world of each rank") {
  queues_job job({"--pass", "dll,-," + library});
  const auto all = queues(job.pid());
  INFO(all.out << all.err);
  CHECK(all.exit_code == 0);
  CHECK_THAT(all.out, ContainsSubstring("0:0 -> 0:1 -> 0:0"));
  CHECK_THAT(all.out, ContainsSubstring("1:0 -> 1:1 -> 1:0"));
  CHECK_THAT(all.out, ContainsSubstring("world 0: w0\n"));
  CHECK_THAT(all.out, ContainsSubstring("world 1: " + job.spawned_world(job.rank("w0", 1), 1)));
  const json some = json_of(queues(job.pid(), {"--json", "--ranks", "1:0-3"}));
  REQUIRE(some.at("ranks").size() == 2);
  CHECK(name_of(some.at("ranks")[0]) == "1:0");
  CHECK(name_of(some.at("ranks")[1]) == "1:1");
  CHECK(some.at("cycles") == json::parse(R"([["1:0", "1:1"]])"));
  CHECK(job.end() == 0);
}

TEST_CASE("queues: a job with MPI2DD_MPIFLAG_IGNORE_QUEUE is not asked unless --library names a library") {
  // In the starter for all, or in the ranks for themselves.
  const std::string whose = GENERATE("--do", "--below");
  queues_job job({whose, "flags,0x10", "--below", "dll,-," + library});
  const json refused = json_of(queues(job.pid(), {"--json"}), 1);
  for (const json& rank : refused.at("ranks")) {
    CHECK(rank.at("outcome") == "failed");
    CHECK_THAT(rank.at("problems").at(0).get<std::string>(), ContainsSubstring("MPI2DD_MPIFLAG_IGNORE_QUEUE"));
  }
  const json asked = json_of(queues(job.pid(), {"--json", "--library", library}));
  CHECK(asked.at("ranks").at(3).at("outcome") == "complete");
  CHECK(job.end() == 0);
}

TEST_CASE("queues and stacks: --interface chooses the interface") {
  queues_job job({"--pass", "dll,-," + library});
  for (const std::string verb : {"queues", "stacks"}) {
    INFO(verb);
    const auto older = run_command({MPIACQ_COMMAND, verb, "--interface", "mpir", std::to_string(job.pid())});
    CHECK(older.exit_code == 125);
    CHECK_THAT(older.err, ContainsSubstring("MPIR_"));
    const auto newer =
        run_command({MPIACQ_COMMAND, verb, "--interface", "mpi2dd", "--ranks", "1:0", std::to_string(job.pid())});
    CHECK_THAT(newer.err, !ContainsSubstring("MPIR_"));
    CHECK_THAT(newer.out, ContainsSubstring("world 1: "));
    CHECK(run_command({MPIACQ_COMMAND, verb, "--interface", "both", std::to_string(job.pid())}).exit_code == 125);
    CHECK_THAT(run_command({MPIACQ_COMMAND, verb, "--help"}).out, ContainsSubstring("--interface"));
  }
  CHECK(job.end() == 0);
}
