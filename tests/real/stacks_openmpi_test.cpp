// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The merged tree of a job of the distribution's Open MPI, whose ranks have said in which call they wait, at which
// line.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <random>
#include <set>
#include <thread>

#include "mpiacq/ranks/rank_group.hpp"
#include "openmpi.hpp"
#include "running_job.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using nlohmann::json;

namespace {

const char* const waits_program = "mpi_waits_openmpi";

bool have_waits() {
  return have_openmpi() && std::filesystem::exists(rank_program(waits_program));
}

/// By rank, where it waits.
struct waiting_place {
  std::string function;
  long line = 0;
};

class waiting_job {
 public:
  waiting_job(int ranks, const std::string& calls)
      : count_(ranks),
        job_({mpirun, "--oversubscribe", "-n", std::to_string(ranks), rank_program(waits_program), "--calls", calls},
             static_cast<std::size_t>(ranks)) {}

  [[nodiscard]] running_job& job() { return job_; }

  /// What `mpiacq stacks --json` says, once every rank is in the MPI call that it has announced.
  [[nodiscard]] json stacks_when_all_wait(std::vector<std::string> options = {}) {
    json seen;
    CHECK(comes_true([&] {
      seen = stacks(options);
      std::set<long> in_mpi;
      for (const json& frame : seen.at("tree")) {
        const std::string function = frame.at("function").is_null() ? "" : frame.at("function").get<std::string>();
        if (function.find("MPI_") != std::string::npos && function.find("Init") == std::string::npos) {
          for (const long rank : ranks_in(frame)) in_mpi.insert(rank);
        }
      }
      return in_mpi.size() == static_cast<std::size_t>(count_);
    }));
    return seen;
  }
  [[nodiscard]] json stacks(const std::vector<std::string>& options = {}) {
    std::vector<std::string> words = {MPIACQ_COMMAND, "stacks", "--json"};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back(job_.pid_text());
    const auto run = run_command(words);
    INFO(run.err);
    CHECK(run.exit_code == 0);
    return json::parse(run.out);
  }
  static std::set<long> ranks_in(const json& frame) {
    std::set<long> ranks;
    std::istringstream parts(frame.at("ranks").get<std::string>());
    for (std::string part; std::getline(parts, part, ',');) {
      const auto dash = part.find('-');
      const long last = std::stol(dash == std::string::npos ? part : part.substr(dash + 1));
      for (long rank = std::stol(part); rank <= last; ++rank) ranks.insert(rank);
    }
    return ranks;
  }

 private:
  int count_;
  running_job job_;
};

/// The frames of a function of the application.
std::vector<json> frames_of(const json& report, const std::string& function) {
  std::vector<json> frames;
  for (const json& frame : report.at("tree")) {
    if (frame.at("function") == function) frames.push_back(frame);
  }
  return frames;
}

/// Those right below a frame that are MPI's own: of all that are further in, the outermost.
std::set<std::string> calls_below(const json& report, const json& frame) {
  std::set<std::string> calls;
  for (const json& other : report.at("tree")) {
    if (other.at("parent") == frame.at("id") && !other.at("function").is_null()) calls.insert(other.at("function"));
  }
  return calls;
}

/// The library has two names for each of its calls, at one address.
bool says(const std::set<std::string>& calls, const std::string& call) {
  return calls.contains(call) || calls.contains("P" + call);
}

/// "rank R waits in FUNCTION at LINE", by rank. Only what was said so far.
std::map<long, waiting_place> waiting_places_said(const std::string& output) {
  std::map<long, waiting_place> places;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string rank, waits, in, at;
    long number = 0;
    waiting_place place;
    if (words >> rank >> number >> waits >> in >> place.function >> at >> place.line && waits == "waits") {
      places[number] = place;
    }
  }
  return places;
}

}  // namespace

TEST_CASE("Open MPI: rank 0 waits in MPI_Recv, the others in MPI_Barrier, and the tree says so", "[releases]") {
  if (!have_waits()) MPIACQ_SKIP(openmpi_not_installed);
  waiting_job waits(4, "one");
  REQUIRE(waits.job().ranks().size() == 4);
  const json seen = waits.stacks_when_all_wait();
  INFO(seen.dump(1));
  CHECK(seen.at("schema") == "mpiacq.stacks/1");
  REQUIRE(seen.at("ranks").size() == 4);
  for (const json& rank : seen.at("ranks")) {
    CHECK(rank.at("outcome") == "taken");
    CHECK(rank.at("pid") == waits.job().ranks().at(rank.at("rank").get<long>()));
  }
  const auto mains = frames_of(seen, "main");
  // One line of main each: where it calls exchange, and where it calls settle.
  REQUIRE(mains.size() == 2);
  const auto exchanging = frames_of(seen, "exchange");
  const auto settling = frames_of(seen, "settle");
  REQUIRE(exchanging.size() == 1);
  REQUIRE(settling.size() == 1);
  CHECK(exchanging[0].at("ranks") == "0");
  CHECK(settling[0].at("ranks") == "1-3");
  CHECK_THAT(exchanging[0].at("file").get<std::string>(), ContainsSubstring("mpi_waits.c"));
  CHECK(says(calls_below(seen, exchanging[0]), "MPI_Recv"));
  CHECK(says(calls_below(seen, settling[0]), "MPI_Barrier"));
  CHECK(waits.job().disturbed() == "");

  const job_end end = waits.job().finish();
  CHECK(end.as_shell() == 0);
  CHECK(end.all_ranks_ended(4));
  const auto said = waiting_places_said(end.out);
  // Rank 0 said its second wait, too, after it was let go on.
  for (long rank = 1; rank < 4; ++rank) {
    CHECK(said.at(rank).function == "settle");
    CHECK(settling[0].at("line") == said.at(rank).line);
  }
  CHECK_THAT(end.out, ContainsSubstring("rank 0 waits in exchange at " + exchanging[0].at("line").dump() + "\n"));
}

TEST_CASE("Open MPI: eight ranks in eight calls are eight nodes of the call tree", "[releases]") {
  if (!have_waits()) MPIACQ_SKIP(openmpi_not_installed);
  waiting_job waits(8, "different");
  REQUIRE(waits.job().ranks().size() == 8);
  const json seen = waits.stacks_when_all_wait();
  INFO(seen.dump(1));
  const job_end end = waits.job().finish();
  CHECK(end.as_shell() == 0);
  const auto said = waiting_places_said(end.out);
  REQUIRE(said.size() == 8);
  for (const auto& [rank, place] : said) {
    INFO("rank " << rank << " in " << place.function);
    const auto frames = frames_of(seen, place.function);
    REQUIRE(frames.size() == 1);
    CHECK(frames[0].at("ranks") == std::to_string(rank));
    CHECK(frames[0].at("line") == place.line);
  }
}

TEST_CASE("Open MPI: a job that is sampled 200 times, by forty commands, ends as it would have") {
  if (!have_waits()) MPIACQ_SKIP(openmpi_not_installed);
  waiting_job waits(4, "one");
  REQUIRE(waits.job().ranks().size() == 4);
  (void)waits.stacks_when_all_wait();
  const std::string image = image_of(waits.job().pid(), openmpi_library);
  for (int round = 0; round < 40; ++round) {
    INFO("round " << round);
    std::vector<std::string> options = {"--samples", "5", "--interval", "0"};
    if (round % 2 != 0) options.insert(options.end(), {"--threads", "all"});
    const json seen = waits.stacks(options);
    for (const json& rank : seen.at("ranks")) REQUIRE(rank.at("samples") == 5);
    REQUIRE(frames_of(seen, "settle").at(0).at("count") == 15);
    for (const json& rank : seen.at("ranks")) REQUIRE(rank.at("outcome") == "taken");
    REQUIRE(waits.job().disturbed() == "");
  }
  CHECK(image_of(waits.job().pid(), openmpi_library) == image);
  const job_end end = waits.job().finish();
  CHECK(end.as_shell() == 0);
  CHECK(end.all_ranks_ended(4));
}

TEST_CASE("Open MPI: mpiacq killed at any moment of its sampling leaves no rank stopped") {
  if (!have_waits()) MPIACQ_SKIP(openmpi_not_installed);
  waiting_job waits(4, "one");
  REQUIRE(waits.job().ranks().size() == 4);
  std::mt19937 random(11);  // NOLINT: the same moments in every run
  for (int round = 0; round < 25; ++round) {
    INFO("round " << round);
    const pid_t tool = start_process({MPIACQ_COMMAND, "stacks", "--json", "-o", "/dev/null", "--threads", "all",
                                      "--samples", "1000000", "--interval", "0", waits.job().pid_text()});
    // Some before the first sample, most in the middle of one.
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 600));
    ::kill(tool, SIGKILL);
    int status = 0;
    REQUIRE(wait_for_process(tool, status, patience));
    // Those that it held are let go by the tracing process when it learns of the end.
    REQUIRE(comes_true([&] { return waits.job().disturbed() == ""; }));
  }
  const job_end end = waits.job().finish();
  CHECK(end.as_shell() == 0);
  CHECK(end.all_ranks_ended(4));
}

TEST_CASE("Open MPI: ranks of MPI_Comm_spawn are recognised, whatever rank number they have") {
  const std::string spawning = rank_program("mpi_spawn_openmpi");
  if (!is_installed(mpirun) || !std::filesystem::exists(spawning)) MPIACQ_SKIP(openmpi_not_installed);
  running_job job({mpirun, "--oversubscribe", "-n", "1", spawning}, 3);
  REQUIRE(job.ranks().size() == 3);
  std::vector<rank_process> all;
  for (const auto& [rank, pid] : job.ranks()) {
    all.push_back({entry_index{static_cast<std::size_t>(rank)}, process_id{pid}, spawning});
  }
  auto ranks = rank_group::of_ranks(all).value();
  const auto held = ranks.hold();
  for (std::size_t i = 0; i < 3; ++i) {
    INFO(i << ": " << (held[i].why ? held[i].why->message : ""));
    CHECK(held[i].state == hold_state::held);
  }
  ranks.release();
  // The first process was not spawned, and its launcher gave it another number.
  auto other_number = rank_group::of_ranks({{entry_index{1}, all[0].pid, spawning}}).value();
  CHECK(other_number.hold()[0].state == hold_state::replaced);
  CHECK(job.finish().all_ranks_ended(3));
}
