// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Message queues of real MPIs through their own queue libraries, against what the ranks say of themselves: the
// distribution's Open MPI with a carrier of types, and builds with debug information where their prefixes are named.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
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

constexpr int rank_count = 4;

/// The other's rank in the communicator and in the world, the tag, the bytes: as text, since each can be "any".
using operation = std::tuple<std::string, std::string, std::string, std::string>;

struct communicator {
  std::string local_rank, size, group;
  std::string remote_group;                                ///< of an intercommunicator
  std::map<std::string, std::multiset<operation>> queues;  ///< by "sends" and "receives"
};
/// By name, of one rank.
using communicators = std::map<std::string, communicator>;

std::vector<std::string> fields(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string one; std::getline(in, one, '|');) all.push_back(one);
  return all;
}

/// What the ranks have said.
std::map<long, communicators> told(const std::string& output) {
  std::map<long, communicators> all;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string rank, kind, rest;
    long number = 0;
    if (!(words >> rank >> number >> kind) || rank != "rank") continue;
    std::getline(words, rest);
    const auto parts = fields(rest.empty() ? rest : rest.substr(1));
    if (kind == "comm" && parts.size() == 5) {
      communicator& c = all[number][parts[0]];
      c.local_rank = parts[1];
      c.size = parts[2];
      c.group = parts[3];
      c.remote_group = parts[4] == "-" ? "" : parts[4];
    } else if ((kind == "sends" || kind == "receives") && parts.size() == 5) {
      all[number][parts[0]].queues[kind].insert({parts[1], parts[2], parts[3], parts[4]});
    }
  }
  return all;
}

std::string number_or(const json& value, const std::string& otherwise) {
  return value.is_null() ? otherwise : std::to_string(value.get<long>());
}

operation operation_of(const json& seen) {
  const json& peer = seen.at("peer");
  const bool any = peer.at("any").get<bool>();
  return {any ? "any" : number_or(peer.at("local"), "?"), any ? "any" : number_or(peer.at("global"), "?"),
          number_or(seen.at("tag"), "any"), std::to_string(seen.at("length").get<long>())};
}

std::multiset<operation> operations_of(const json& communicator, const std::string& queue) {
  std::multiset<operation> all;
  for (const json& one : communicator.at(queue)) all.insert(operation_of(one));
  return all;
}

std::string shown(const std::multiset<operation>& operations) {
  std::string text;
  for (const auto& [local, global, tag, bytes] : operations) {
    text += "peer " + local + "/" + global + " tag " + tag + " bytes " + bytes + "; ";
  }
  return text;
}

std::string group_text(const json& group) {
  std::string text;
  for (const json& rank : group) text += (text.empty() ? "" : ",") + std::to_string(rank.get<long>());
  return text;
}

/// What of the ranks' word a library is held against.
struct expectation {
  bool sends = true;
  bool world_ranks = true;  ///< of groups and of the others in operations
  /// What the library calls a communicator without a name; the MPI's own ones, which nothing waits in, have none
  /// either.
  std::string unnamed = {};
};

void check_rank(const json& rank, const communicators& said, const expectation& expected) {
  REQUIRE(said.size() == 5);
  std::size_t others = 0;
  std::set<std::string> found;
  for (const json& seen : rank.at("communicators")) {
    std::string name = seen.at("name").get<std::string>();
    INFO("communicator \"" << name << "\"");
    if (!expected.unnamed.empty() && name == expected.unnamed) {
      if (seen.at("sends").empty() && seen.at("receives").empty()) continue;
      name.clear();
    }
    const auto known = said.find(name);
    if (known == said.end() || found.contains(name)) {
      for (const char* queue : {"sends", "receives"}) others += seen.at(queue).size();
      continue;
    }
    found.insert(name);
    CHECK(std::to_string(seen.at("local_rank").get<long>()) == known->second.local_rank);
    CHECK(std::to_string(seen.at("size").get<long>()) == known->second.size);
    if (expected.world_ranks) {
      CHECK(group_text(seen.at("group")) == known->second.group);
      CHECK(seen.at("intercommunicator") == !known->second.remote_group.empty());
      CHECK(group_text(seen.at("remote_group")) == known->second.remote_group);
    }
    for (const std::string queue : {"sends", "receives"}) {
      if (queue == "sends" && !expected.sends) continue;
      auto ours = operations_of(seen, queue);
      const auto theirs = known->second.queues.find(queue);
      std::multiset<operation> wanted;
      if (theirs != known->second.queues.end()) wanted = theirs->second;
      if (!expected.world_ranks) {
        for (auto* set : {&ours, &wanted}) {
          std::multiset<operation> without;
          for (operation one : *set) {
            std::get<1>(one).clear();
            without.insert(std::move(one));
          }
          *set = std::move(without);
        }
      }
      CHECK(shown(ours) == shown(wanted));
      CHECK(seen.at("known").at(queue) == "complete");
    }
  }
  CHECK(found.size() == said.size());
  CHECK(others == 0);
}

class queues_job {
 public:
  explicit queues_job(const std::vector<std::string>& command) : job_(command, rank_count) {
    environment_.environment = {{"XDG_CACHE_HOME", cache_.path("cache")}};
    environment_.limit = std::chrono::seconds(90);
  }

  [[nodiscard]] running_job& job() { return job_; }
  /// Where the command finds compilers.
  void set_path(const std::string& path) { environment_.environment["PATH"] = path; }
  [[nodiscard]] std::string in_cache(const std::string& name) const { return cache_.path(name); }
  [[nodiscard]] command_outcome run(std::vector<std::string> words) const {
    words.insert(words.begin(), MPIACQ_COMMAND);
    return run_command(words, environment_);
  }
  [[nodiscard]] command_outcome queues(std::vector<std::string> options) const {
    options.insert(options.begin(), "queues");
    options.push_back(job_.pid_text());
    return run(std::move(options));
  }

  /// Every rank's word against the report.
  void check(const command_outcome& run, const expectation& expected = {}) {
    INFO(run.err);
    REQUIRE_FALSE(run.out.empty());
    const json report = json::parse(run.out);
    INFO(report.dump(1));
    CHECK(run.exit_code == 0);
    const auto said = told(job_.out());
    REQUIRE(said.size() == rank_count);
    REQUIRE(report.at("ranks").size() == rank_count);
    for (const json& rank : report.at("ranks")) {
      const long number = rank.at("rank").get<long>();
      INFO("rank " << number);
      CHECK(rank.at("missing_types").empty());
      CHECK(rank.at("problems").empty());
      check_rank(rank, said.at(number), expected);
    }
  }

 private:
  scratch_folder cache_;
  running_job job_;
  command_options environment_;
};

std::vector<std::string> openmpi_line(const std::string& starter, const std::string& program) {
  return {starter, "--oversubscribe", "--mca", "pml", "ob1", "-n", std::to_string(rank_count), program};
}

bool have_queues() {
  return have_openmpi() && std::filesystem::exists(rank_program("mpi_queues_openmpi"));
}

}  // namespace

TEST_CASE("the queues of a stock Open MPI are what its ranks say, with built-in types and with made ones",
          "[releases]") {
  if (!have_queues()) MPIACQ_SKIP(openmpi_not_installed);
  queues_job job{openmpi_line(mpirun, rank_program("mpi_queues_openmpi"))};
  REQUIRE(job.job().ranks().size() == rank_count);

  {
    INFO("without a compiler: the built-in types");
    job.set_path("/nowhere");
    job.check(job.queues({"--json"}));
    CHECK_THAT(job.queues({}).out, ContainsSubstring("built-in ones of Open MPI"));
    CHECK_FALSE(std::filesystem::exists(job.in_cache("cache")));
    job.set_path(std::getenv("PATH"));
  }
  const auto made = job.run({"types", "openmpi", "--json"});
  INFO(made.err);
  REQUIRE(made.exit_code == 0);
  const json carrier = json::parse(made.out);
  CHECK(carrier.at("compared").size() >= 15);
  CHECK_THAT(carrier.at("path").get<std::string>(), ContainsSubstring(job.in_cache("cache/mpiacq/types/")));

  job.check(job.queues({"--json"}));
  CHECK(job.job().disturbed().empty());

  // The same as a file that is named, and no cache.
  const std::string own = job.in_cache("own.so");
  std::filesystem::rename(carrier.at("path").get<std::string>(), own);
  job.check(job.queues({"--json", "--types", own}));
  CHECK_FALSE(std::filesystem::exists(carrier.at("path").get<std::string>()));

  CHECK(job.job().finish().all_ranks_ended(rank_count));
}

TEST_CASE("a file of types of another machine or build is refused for a stock Open MPI", "[releases]") {
  if (!have_queues()) MPIACQ_SKIP(openmpi_not_installed);
  queues_job job{openmpi_line(mpirun, rank_program("mpi_queues_openmpi"))};
  REQUIRE(job.job().ranks().size() == rank_count);
  // A communicator that is one field longer.
  const std::string bad = job.in_cache("bad.c");
  std::ofstream{bad} << "typedef struct ompi_communicator_t { char bytes[360]; } ompi_communicator_t;\n"
                        "typedef struct { void *a[4]; int b[2]; void *c[2]; unsigned long cls_sizeof; } opal_class_t;\n"
                        "ompi_communicator_t one; opal_class_t two;\n";
  REQUIRE(run_command({"gcc", "-g", "-c", bad, "-o", job.in_cache("bad.o")}).exit_code == 0);
  const auto run = job.queues({"--types", job.in_cache("bad.o")});
  CHECK(run.exit_code != 0);
  CHECK_THAT(run.out + run.err, ContainsSubstring("ompi_communicator_t has 360 bytes"));
  CHECK(job.job().finish().all_ranks_ended(rank_count));
}

TEST_CASE("the queues of an Open MPI with debug information need no types of ours") {
  const auto [prefix, why_not] = find_openmpi_debug();
  if (prefix.empty()) MPIACQ_SKIP(why_not);
  const scratch_folder folder;
  REQUIRE(build_ranks(prefix, "mpi_queues.c", folder.path("ranks"), openmpi_options()) == "");
  queues_job job{openmpi_line(prefix + "/bin/mpirun", folder.path("ranks"))};
  REQUIRE(job.job().ranks().size() == rank_count);
  job.check(job.queues({"--json"}));
  CHECK(job.job().finish().all_ranks_ended(rank_count));
}

TEST_CASE("the queues of an MPICH (ch3) with debug information") {
  const auto [prefix, why_not] = find_mpich_debug();
  if (prefix.empty()) MPIACQ_SKIP(why_not);
  const scratch_folder folder;
  REQUIRE(build_ranks(prefix, "mpi_queues.c", folder.path("ranks"), openmpi_options()) == "");
  queues_job job{{prefix + "/bin/mpiexec", "-n", std::to_string(rank_count), folder.path("ranks")}};
  REQUIRE(job.job().ranks().size() == rank_count);
  // It gives no groups; its list of sends has only those that Isend began. A prefix for tests may lie where others can
  // write.
  job.check(job.queues({"--json", "--trust-library"}), {false, false, "--unnamed--"});
  CHECK(job.job().finish().all_ranks_ended(rank_count));
}
