// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// mpiacq graph, and what inspect and check say of MPI2DD, on the jobs of fixtures/mpi2dd.
#include <map>
#include <set>

#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include "catch.hpp"
#include "json_of.hpp"
#include "on_terminal.hpp"
#include "reference_job.hpp"
#include "take_core.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using nlohmann::json;

namespace {

command_outcome mpiacq_on(const std::string& verb, const std::string& subject, std::vector<std::string> options = {}) {
  options.insert(options.begin(), {MPIACQ_COMMAND, verb});
  options.push_back(subject);
  return run_command(options);
}
command_outcome graph(pid_t pid, std::vector<std::string> options = {}) {
  return mpiacq_on("graph", std::to_string(pid), std::move(options));
}

/// "w0 1" to the pid, of all processes with a rank.
std::map<std::string, std::string> ranks_in(const json& seen) {
  std::map<std::string, std::string> all;
  for (const json& p : seen.at("processes")) {
    if (p.at("rank").is_null()) continue;
    all[p.at("world").get<std::string>() + " " + std::to_string(p.at("rank").get<int>())] =
        std::to_string(p.at("pid").get<int>());
  }
  return all;
}
std::map<std::string, std::string> told_ranks(const reference_job& job) {
  std::map<std::string, std::string> all;
  for (const auto& [key, value] : job.all_said()) {
    if (!key.starts_with("rank.") || !key.ends_with(".pid")) continue;
    std::string name = key.substr(5, key.size() - 9);
    name[name.rfind('.')] = ' ';
    all[name] = value;
  }
  return all;
}

struct two_worlds : reference_job {
  two_worlds()
      : reference_job(
            {"mpi2dd_starter", "--ranks", "3", "--world", "w0", "--metadirectory", "--hold", "1/spawn_apart=2"}) {
    ready();
    first_rank = rank("w0", 0);
    spawned = spawned_world(rank("w0", 1), 1);
  }
  pid_t first_rank = 0;
  std::string spawned;
};

}  // namespace

TEST_CASE("graph: the JSON is the same from the starter and from a rank, and equals what the job wrote down") {
  two_worlds job;
  const json from_starter = json_of(graph(job.pid(), {"--json"}));
  const json from_rank = json_of(graph(job.first_rank, {"--json"}));
  for (const json& seen : {from_starter, from_rank}) {
    CHECK(seen.at("schema") == "mpiacq.graph/1");
    CHECK(seen.at("interface") == "mpi2dd");
    CHECK(ranks_in(seen) == told_ranks(job));
    CHECK(seen.at("processes").size() == 8);
    CHECK(seen.at("disagreement_count") == 0);
    REQUIRE(seen.at("worlds").size() == 2);
    CHECK(seen.at("worlds")[0].at("id") == "w0");
    CHECK(seen.at("worlds")[0].at("ranks") == "0-2");
    CHECK(seen.at("worlds")[1].at("id") == job.spawned);
    CHECK(seen.at("worlds")[1].at("spawned_by") == json({{"world", "w0"}, {"rank", 1}, {"sequence", 0}}));
    REQUIRE(seen.at("spawns").size() == 1);
    const std::size_t parent = seen.at("spawns")[0].at("process");
    CHECK(seen.at("processes")[parent].at("pid") == job.rank("w0", 1));
    for (const json& visit : seen.at("visits")) CHECK(visit.at("state") == "read");
  }
  CHECK(from_starter.at("processes")[0].at("pid") == job.pid());
  CHECK(from_rank.at("processes")[0].at("pid") == job.first_rank);
  const json& first = from_starter.at("visits")[0];
  CHECK(first.at("roles") == json({"starter", "directory"}));
  CHECK(first.at("info").at("mpi_flags").at("names") ==
        json({"MPI2DD_MPIFLAG_I_AM_DIR", "MPI2DD_MPIFLAG_I_AM_STARTER"}));
  CHECK(first.at("info").at("address") == job.said(job.pid(), "info"));
  CHECK(from_starter.at("visits")[1].at("directory_table").at("stride").at("bytes") == 20);
  // Nobody was stopped or written to.
  CHECK(job.end() == 0);
  CHECK(job.said(job.pid(), "debugger_flags_at_end") == "0x0");
}

TEST_CASE("graph: the text report draws the job as a tree") {
  two_worlds job;
  const std::string meta = job.said("metadirectory.0.pid");
  const auto from_starter = graph(job.pid());
  INFO(from_starter.out << from_starter.err);
  CHECK(from_starter.exit_code == 0);
  CHECK(from_starter.err.empty());
  CHECK_THAT(from_starter.out, ContainsSubstring("5 ranks in 2 worlds, 3 directories, 1 metadirectory, on 1 host"));
  CHECK_THAT(from_starter.out, ContainsSubstring("\n  metadirectory, directory  " + meta + " on "));
  CHECK_THAT(from_starter.out, ContainsSubstring("|-- world w0  ranks 0-2  on "));
  CHECK_THAT(from_starter.out, ContainsSubstring("`-> rank 1 spawned world " + job.spawned + " (2 ranks), sequence 0"));
  CHECK_THAT(from_starter.out, ContainsSubstring("-- starter, directory  " + std::to_string(job.pid())));
  CHECK_THAT(from_starter.out, ContainsSubstring("(walked from here)"));
  CHECK_THAT(from_starter.out, ContainsSubstring("    `-- world " + job.spawned + "  ranks 0-1  on "));
  CHECK_THAT(from_starter.out, ContainsSubstring(", spawned by w0:1\n"));
  CHECK_THAT(from_starter.out, !ContainsSubstring("problem"));
  CHECK_THAT(from_starter.out, !ContainsSubstring("\x1b["));
  const auto from_rank = graph(job.first_rank);
  CHECK_THAT(from_rank.out, ContainsSubstring("walked from rank w0:0"));
  CHECK_THAT(from_rank.out, ContainsSubstring("-- starter, directory  " + std::to_string(job.pid())));
}

TEST_CASE("graph: a problem stands below its process, and foreign text stays text") {
  reference_job job{{"mpi2dd_starter", "--ranks", "2", "--directories", "1", "--world", "w\x1b[31m\"0", "--hold"}};
  job.ready();
  job.tell(job.pid(), "directory,far.away,/bin/dird,77\nprocess,localhost,/bin/a,-,4194001,7");
  const auto text = graph(job.pid(), {"--agents", "none"});
  INFO(text.out);
  CHECK(text.exit_code == 0);
  CHECK_THAT(text.out, ContainsSubstring("problem: proctable: comm_world_id of entry 0: the pointer is null"));
  CHECK_THAT(text.out, ContainsSubstring("no known world  rank 7"));
  CHECK_THAT(text.out, ContainsSubstring("directory  77 on far.away  dird"));
  CHECK_THAT(text.out, ContainsSubstring("problem: unreachable: process 77 is on far.away"));
  CHECK_THAT(text.out, ContainsSubstring("world w\\x1b[31m\"0"));
  const json seen = json_of(graph(job.pid(), {"--json", "--agents", "none"}));
  std::set<std::string> states;
  for (const json& visit : seen.at("visits")) states.insert(visit.at("state").get<std::string>());
  CHECK(states == std::set<std::string>{"read", "unreachable"});
  if (!is_installed("dot")) MPIACQ_SKIP("graphviz is not installed");
  const scratch_folder folder;
  CHECK(graph(job.pid(), {"--agents", "none", "--dot", "-o", folder.path("g.dot")}).exit_code == 0);
  const auto drawn = run_command({"dot", "-Tplain", folder.path("g.dot")});
  CHECK(drawn.exit_code == 0);
  CHECK(drawn.err.empty());
}

TEST_CASE("graph: Graphviz draws each process that is more than a rank, each world, and each spawn") {
  two_worlds job;
  const auto dot = graph(job.pid(), {"--dot"});
  CHECK(dot.exit_code == 0);
  CHECK_THAT(dot.out, ContainsSubstring("digraph mpi2dd {"));
  if (!is_installed("dot")) MPIACQ_SKIP("graphviz is not installed");
  const scratch_folder folder;
  CHECK(graph(job.pid(), {"--dot", "-o", folder.path("g.dot")}).exit_code == 0);
  const auto drawn = run_command({"dot", "-Tplain", folder.path("g.dot")});
  INFO(drawn.out << drawn.err);
  REQUIRE(drawn.exit_code == 0);
  CHECK(drawn.err.empty());
  std::size_t nodes = 0, edges = 0;
  std::istringstream lines(drawn.out);
  for (std::string line; std::getline(lines, line);) {
    nodes += line.starts_with("node ") ? 1U : 0U;
    edges += line.starts_with("edge ") ? 1U : 0U;
  }
  CHECK(nodes == 5);  // metadirectory, directory, starter; two worlds
  CHECK(edges == 5);  // two directories, two worlds, one spawn
}

TEST_CASE("graph: a core file of a rank leads to its job while the job lives, and is a graph of its own afterwards") {
  const scratch_folder folder;
  reference_job job{{"mpi2dd_starter", "--ranks", "2", "--rank-directory", "--world", "w0", "--hold"}};
  job.ready();
  const auto core = core_by_gcore(process_id{job.rank("w0", 0)}, folder.path(""));
  if (!core) MPIACQ_SKIP("gcore cannot make a core file here");
  const json alive = json_of(mpiacq_on("graph", *core, {"--json"}));
  CHECK(alive.at("core") == *core);
  CHECK(ranks_in(alive) == told_ranks(job));
  CHECK(alive.at("visits").size() == 2);
  const auto ranks = told_ranks(job);
  REQUIRE(job.end() == 0);
  const json ended = json_of(mpiacq_on("graph", *core, {"--json"}));
  CHECK(ranks_in(ended) == ranks);
  CHECK(ended.at("visits")[1].at("state") == "unreachable");
  const auto text = mpiacq_on("graph", *core);
  CHECK_THAT(text.out, ContainsSubstring("core file " + *core));
  CHECK_THAT(text.out, ContainsSubstring("the core file names process"));
}

TEST_CASE("graph: only a terminal gets colour") {
  two_worlds job;
  const std::string out = shown_on_terminal({MPIACQ_COMMAND, "graph", std::to_string(job.pid())});
  CHECK_THAT(out, ContainsSubstring("\x1b[1mmetadirectory, directory\x1b[0m"));
}

TEST_CASE("graph: a process that cannot be examined ends the command in 125 with a sentence") {
  const auto none = graph(::getpid());
  CHECK(none.exit_code == 125);
  CHECK(none.out.empty());
  CHECK_THAT(none.err, ContainsSubstring("has no MPI2DD_info"));
  CHECK(graph(999999999).exit_code == 125);
  CHECK(mpiacq_on("graph", "/bin/sh").exit_code == 125);
  CHECK(mpiacq_on("graph", "1", {"--json", "--dot"}).exit_code == 125);
}

TEST_CASE("inspect: the report shows the info block of a running process and the symbols of a file") {
  reference_job job{{"mpi2dd_starter", "--ranks", "1", "--directories", "1", "--world", "w0", "--hold", "--do",
                     "dll,/lib/q32.so,/lib/q64.so"}};
  job.ready();
  const json live = json_of(mpiacq_on("inspect", std::to_string(job.pid()), {"--json"})).at("mpi2dd");
  CHECK(live.at("symbols").at("MPI2DD_info").at("address") == job.said(job.pid(), "info"));
  CHECK(live.at("symbols").at("MPI2DD_breakpoint").at("address") == job.said(job.pid(), "breakpoint"));
  CHECK(live.at("info").at("debug_state").at("name") == "MPI2DD_DEBUG_START");
  CHECK(live.at("info").at("queue_library_64") == "/lib/q64.so");
  CHECK(live.at("info").at("directory_size") == 1);
  const json rank =
      json_of(mpiacq_on("inspect", std::to_string(job.rank("w0", 0)), {"--json"})).at("mpi2dd").at("info");
  CHECK(rank.at("meta_pid") == job.pid());
  const auto text = mpiacq_on("inspect", std::to_string(job.pid()));
  INFO(text.out);
  CHECK_THAT(text.out, ContainsSubstring("MPI2DD_breakpoint"));
  CHECK_THAT(text.out, ContainsSubstring("MPI2DD: version 1, variant 1; MPI2DD_DEBUG_START"));
  CHECK_THAT(text.out, ContainsSubstring("mpi_flags: MPI2DD_MPIFLAG_I_AM_METADIR | MPI2DD_MPIFLAG_I_AM_STARTER"));
  CHECK_THAT(text.out, ContainsSubstring("missing: all symbols of MPIR"));
  CHECK_THAT(text.out, !ContainsSubstring("lacking"));

  const json file = json_of(mpiacq_on("inspect", MPIACQ_MPI2DD "/mpi2dd_starter_both", {"--json"}));
  CHECK(file.at("mpi2dd").at("symbols").contains("MPI2DD_info"));
  CHECK(file.at("mpi2dd").at("info").is_null());
  CHECK(file.at("symbols").contains("MPIR_proctable"));
  CHECK(json_of(mpiacq_on("inspect", "/bin/sh", {"--json"})).at("mpi2dd").is_null());
}

TEST_CASE("check: the draft alone judges a starter that has only MPI2DD") {
  const auto run = run_command({MPIACQ_COMMAND, "check", "--json", "-o", "-", "--",
                                MPIACQ_MPI2DD "/mpi2dd_starter_plain", "--ranks", "2", "--directories", "2"});
  INFO(run.out << run.err);
  CHECK(run.exit_code == 1);
  std::map<std::string, std::string> verdicts;
  const json report = json::parse(run.out);
  for (const json& clause : report.at("clauses")) verdicts[clause.at("id")] = clause.at("verdict");
  CHECK(verdicts.at("3.2") == "not-applicable");
  CHECK(verdicts.at("MPI2DD.start") == "pass");
  CHECK(verdicts.at("MPI2DD.packed") == "fail");
  CHECK(run_command({MPIACQ_COMMAND, "check", "--", MPIACQ_MPI2DD "/mpi2dd_starter", "--ranks", "2"}).exit_code == 0);
}
