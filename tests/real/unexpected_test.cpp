// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Messages that no receive has asked for, in MPIs with debug information: those that mpiacq reads from the memory of
// Open MPI's ranks, and those that MPICH's queue library lists, against what the ranks find with MPI_Iprobe.
#include <array>
#include <csignal>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "debug_builds.hpp"
#include "openmpi.hpp"
#include "running_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

constexpr int ranks_started = 4;

/// Communicator, the sender's rank in it and in the world, tag, bytes.
using message = std::array<std::string, 5>;
/// By rank.
using messages = std::map<long, std::multiset<message>>;

messages messages_told(const std::string& output) {
  messages all;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string rank, kind;
    long number = 0;
    if (!(words >> rank >> number >> kind >> std::ws) || rank != "rank" || kind != "unexpected") continue;
    message one;
    for (std::string& part : one) std::getline(words, part, '|');
    all[number].insert(one);
  }
  return all;
}

std::string text_of(const json& value) {
  return value.is_null() ? "?" : std::to_string(value.get<long>());
}

/// The program's messages: those of the MPI itself have tags below 0.
messages reported(const json& report) {
  messages all;
  for (const json& rank : report.at("ranks")) {
    for (const json& communicator : rank.at("communicators")) {
      for (const json& one : communicator.at("unexpected")) {
        if (one.at("tag").get<long>() < 0) continue;
        all[rank.at("rank").get<long>()].insert(
            {communicator.at("name").get<std::string>(), text_of(one.at("peer").at("local")),
             text_of(one.at("peer").at("global")), text_of(one.at("tag")), text_of(one.at("length"))});
      }
    }
  }
  return all;
}

std::string shown(const messages& all) {
  std::string text;
  for (const auto& [rank, of_rank] : all) {
    for (const message& one : of_rank) {
      text += std::to_string(rank) + ":";
      for (const std::string& part : one) text += " " + part;
      text += "\n";
    }
  }
  return text;
}

/// What was said of unexpected messages: "complete memory".
std::set<std::string> how_known(const json& report) {
  std::set<std::string> all;
  for (const json& rank : report.at("ranks")) {
    for (const json& communicator : rank.at("communicators")) {
      all.insert(communicator.at("known").at("unexpected").get<std::string>() + " " +
                 communicator.at("origins").at("unexpected").get<std::string>());
    }
  }
  return all;
}

command_outcome queues(const running_job& job, const std::vector<std::string>& options) {
  std::vector<std::string> words = {MPIACQ_COMMAND, "queues"};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(job.pid_text());
  return run_command(words, openmpi_options());
}

std::vector<std::string> line_of_debug_build(const std::string& prefix, const std::string& program) {
  return {
      prefix + "/bin/mpirun", "--oversubscribe", "--mca", "pml", "ob1", "-n", std::to_string(ranks_started), program};
}

/// Ends a job whose ranks wait for ever. Returns what it has said.
std::string end(running_job& job) {
  ::kill(job.pid(), SIGTERM);
  return job.wait().out;
}

}  // namespace

TEST_CASE("the unexpected messages of an Open MPI with debug information are those that its ranks find") {
  const auto [prefix, why_not] = find_openmpi_debug();
  if (prefix.empty()) MPIACQ_SKIP(why_not);
  const scratch_folder folder;
  REQUIRE(build_ranks(prefix, "mpi_unexpected.c", folder.path("ranks"), openmpi_options()) == "");
  running_job job(line_of_debug_build(prefix, folder.path("ranks")), ranks_started);
  REQUIRE(job.ranks().size() == ranks_started);
  const messages said = messages_told(job.out());
  REQUIRE(said.size() == ranks_started);
  for (const auto& [rank, of_rank] : said) REQUIRE(of_rank.size() == 8);
  {
    const auto run = queues(job, {"--json"});
    INFO(run.err);
    CHECK(run.exit_code == 0);
    REQUIRE_FALSE(run.out.empty());
    const json report = json::parse(run.out);
    CHECK(shown(reported(report)) == shown(said));
    CHECK(how_known(report) == std::set<std::string>{"complete memory"});
  }
  {
    const auto run = queues(job, {});
    INFO(run.out << run.err);
    CHECK(run.exit_code == 0);
    CHECK_THAT(run.out, ContainsSubstring("message from"));
    CHECK_THAT(run.out, ContainsSubstring("those of ranks 0-3 are from the memory of the ranks"));
  }
  CHECK(job.disturbed().empty());
  CHECK(job.finish().all_ranks_ended(ranks_started));
}

TEST_CASE("the unexpected messages of a stock Open MPI are not known, and the report says so", "[releases]") {
  if (!have_openmpi() || !std::filesystem::exists(rank_program("mpi_unexpected_openmpi"))) {
    MPIACQ_SKIP(openmpi_not_installed);
  }
  running_job job({mpirun, "--oversubscribe", "--mca", "pml", "ob1", "-n", std::to_string(ranks_started),
                   rank_program("mpi_unexpected_openmpi")},
                  ranks_started);
  REQUIRE(job.ranks().size() == ranks_started);
  CHECK(messages_told(job.out()).size() == ranks_started);
  const auto run = queues(job, {"--json"});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  REQUIRE_FALSE(run.out.empty());
  const json report = json::parse(run.out);
  CHECK(how_known(report) == std::set<std::string>{"none library"});
  CHECK(report.at("not_known").dump().find("no information about their unexpected messages") != std::string::npos);
  CHECK(job.finish().all_ranks_ended(ranks_started));
}

TEST_CASE("the unexpected messages that MPICH's queue library lists are those that its ranks find") {
  const auto [prefix, why_not] = find_mpich_debug();
  if (prefix.empty()) MPIACQ_SKIP(why_not);
  const scratch_folder folder;
  REQUIRE(build_ranks(prefix, "mpi_unexpected.c", folder.path("ranks"), {}) == "");
  running_job job({prefix + "/bin/mpiexec", "-n", std::to_string(ranks_started), folder.path("ranks")}, ranks_started);
  REQUIRE(job.ranks().size() == ranks_started);
  messages said = messages_told(job.out());
  REQUIRE(said.size() == ranks_started);
  // A prefix for tests may lie where others can write.
  const auto run = queues(job, {"--json", "--trust-library"});
  INFO(run.err);
  REQUIRE_FALSE(run.out.empty());
  const json report = json::parse(run.out);
  INFO(report.dump(1));
  CHECK(how_known(report) == std::set<std::string>{"complete library"});
  messages found = reported(report);
  // The library knows no ranks of the world, and the length that it gives is left over from another message.
  for (messages* all : {&said, &found}) {
    for (auto& [rank, of_rank] : *all) {
      std::multiset<message> without;
      for (message one : of_rank) {
        one[2].clear();
        one[4].clear();
        without.insert(std::move(one));
      }
      of_rank = std::move(without);
    }
  }
  CHECK(shown(found) == shown(said));
  CHECK(job.finish().all_ranks_ended(ranks_started));
}

TEST_CASE("a hang for a wrong tag names the message that has arrived instead") {
  const auto [prefix, why_not] = find_openmpi_debug();
  if (prefix.empty()) MPIACQ_SKIP(why_not);
  const scratch_folder folder;
  REQUIRE(build_ranks(prefix, "mpi_hangs.c", folder.path("ranks"), openmpi_options()) == "");
  auto line = line_of_debug_build(prefix, folder.path("ranks"));
  const std::string hang = GENERATE("wrong_tag", "exchange_wrong_tag");
  line.push_back(hang);
  running_job job(line, ranks_started);
  REQUIRE(job.ranks().size() == ranks_started);
  // In these programs the messages have tag 8, and the receives ask for tag 7.
  const std::string arrived = "; a message from rank 1 with tag 8 has arrived";
  json seen;
  CHECK(comes_true([&] {
    const auto run = queues(job, {"--json"});
    REQUIRE_FALSE(run.out.empty());
    seen = json::parse(run.out);
    return seen.at("waits").dump().find(arrived) != std::string::npos;
  }));
  INFO(seen.dump(1));
  std::size_t found = 0;
  for (const json& wait : seen.at("waits")) {
    const std::string why = wait.at("why").get<std::string>();
    if (wait.at("from") != 0 || wait.at("to") != 1) continue;
    ++found;
    CHECK_THAT(why, ContainsSubstring("a receive with tag 7 on MPI_COMM_WORLD, and no send for it" + arrived));
  }
  CHECK(found == 1);
  // What rank 0 has said of itself.
  CHECK_THAT(end(job), ContainsSubstring("rank 0 waits for 1 in MPI_"));
}
