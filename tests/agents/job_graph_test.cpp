// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The graph of an MPI2DD job over several hosts, which are names for this machine (fake_ssh.hpp). The oracle is what
// its processes write down.
#include <csignal>
#include <set>

#include "catch.hpp"
#include "fake_ssh.hpp"
#include "mpiacq/job/job.hpp"
#include "patience.hpp"
#include "running_starter.hpp"
#include "told_graph.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using mpi2dd::visit_state;

namespace {

/// Three jobs that refer to each other: one on this host, one on n1 with its own directories, and one on n2, known only
/// to n1, whose tables call their host by another name.
struct met_jobs {
  met_jobs() {
    here.ready();
    n1.ready();
    n2.ready();
    list("metadirectory", here.said_pid("metadirectory.0.pid"), "n1", n1.said_pid("metadirectory.0.pid"));
    list("metadirectory", n1.said_pid("metadirectory.0.pid"), "n2", n2.pid());
  }
  /// Makes a process of the job list another one.
  void list(const std::string& kind, pid_t in, const std::string& host, pid_t pid) const {
    here.tell(in, kind + "," + host + ",/opt/mpi/dir," + std::to_string(pid));
  }
  [[nodiscard]] words ranks() const {
    words all;
    for (const reference_job* job : {&here, &n1, &n2}) all.merge(told_ranks(*job));
    return all;
  }

  reference_job here{{"mpi2dd_starter", "--ranks", "2", "--world", "w0", "--metadirectory", "--hold"}};
  reference_job n1{{"mpi2dd_starter", "--ranks", "4", "--world", "w1", "--metadirectory", "--directories", "2",
                    "--host", "n1", "--hold"}};
  reference_job n2{{"mpi2dd_starter", "--ranks", "2", "--world", "w2", "--host", "localhost", "--hold", "0/spawn=1"}};
};

job_graph seen_from(const met_jobs& job, const agents_options& agents) {
  graph_options how;
  how.agents = agents;
  auto seen = look_at_graph(process_id{job.here.pid()}, how);
  if (!seen) FAIL(seen.error().message);
  return std::move(*seen);
}

const mpi2dd::visit& visit_on(const job_graph& seen, const std::string& host, pid_t pid) {
  const auto found = seen.graph.find(host, process_id{pid});
  INFO(host << " " << pid);
  REQUIRE(found.has_value());
  REQUIRE(seen.graph.visit_of(*found) != nullptr);
  return *seen.graph.visit_of(*found);
}

job_description looked_at(const met_jobs& job, const agents_options& agents) {
  find_options how;
  how.agents = agents;
  auto view = job::find(process_id{job.here.pid()}, how, in(patience));
  if (!view) FAIL(view.error().message);
  return std::move(*view);
}

/// In the form of told_ranks.
words ranks_of(const job_description& view) {
  words all;
  const process_table& table = *view.processes;
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    all.insert(table.worlds()[table.names().world(entry_index{i})].id + " " +
               std::to_string(table.names().rank(entry_index{i}).value()) + " is " +
               std::to_string(table.pid(entry_index{i}).value()));
  }
  return all;
}

std::string why_not(const mpi2dd::visit& visit) {
  return std::string(name(visit.state)) + ": " + (visit.failure ? visit.failure->message : "");
}

}  // namespace

TEST_CASE("graph over nodes: all processes of all hosts are found as they describe themselves") {
  const fake_ssh ssh;
  const met_jobs job;
  std::set<std::size_t> wanted;
  auto options = ssh.agents();
  options.progress = [&](const agents_progress& seen) { wanted.insert(seen.wanted); };
  const job_graph seen = seen_from(job, options);
  CHECK(ranks_of(seen.graph) == job.ranks());
  words spawns = told_spawns(job.here);
  spawns.merge(told_spawns(job.n1));
  spawns.merge(told_spawns(job.n2));
  CHECK(spawns_of(seen.graph) == spawns);
  check_clean(seen.graph);
  // n2 is known only to n1.
  CHECK(wanted == std::set<std::size_t>{1, 2});
  REQUIRE(seen.others.size() == 2);
  CHECK(seen.others[0].host == "n1");
  CHECK(seen.others[1].host == "n2");
  for (const graph_host& other : seen.others) CHECK_FALSE(other.why.has_value());
  // "localhost" in n2's tables means n2, and not this host.
  for (const pid_t rank : {job.n2.rank("w2", 0), job.n2.rank("w2", 1)}) {
    CHECK(seen.graph.find("n2", process_id{rank}).has_value());
    CHECK_FALSE(seen.graph.find(seen.host, process_id{rank}).has_value());
  }
  CHECK(visit_on(seen, "n1", job.n1.said_pid("directory.0.pid")).processes.entries.size() == 2);
}

TEST_CASE("graph over nodes: a problem with one process affects no other") {
  const fake_ssh ssh;
  const met_jobs job;
  const pid_t in = job.n1.said_pid("metadirectory.0.pid");
  live_process other({"cat"});
  const pid_t plain = static_cast<pid_t>(other.pid().value());
  constexpr pid_t nobody = 4'194'303;
  job.list("directory", in, "n1", plain);
  job.list("directory", in, "n1", nobody);
  job.list("directory", in, "away", 1);
  const job_graph seen = seen_from(job, ssh.agents());
  CHECK(ranks_of(seen.graph) == job.ranks());
  CHECK(visit_on(seen, "n1", plain).state == visit_state::no_interface);
  CHECK(visit_on(seen, "n1", nobody).state == visit_state::unreachable);
  CHECK(visit_on(seen, "n1", nobody).failure->code == error_code::process_gone);
  CHECK_THAT(why_not(visit_on(seen, "away", 1)),
             ContainsSubstring("no agent has come from away") && ContainsSubstring("no route to away"));
  REQUIRE(seen.others.size() == 3);
  CHECK(seen.others[1].host == "away");
  CHECK(seen.others[1].why.has_value());
  CHECK(seen.others[2].host == "n2");
  CHECK_FALSE(seen.others[2].why.has_value());
}

TEST_CASE("graph over nodes: an agent that is killed during the walk is reported, and the walk goes on") {
  const fake_ssh ssh;
  const met_jobs job;
  auto options = ssh.agents();
  bool killed = false;
  options.progress = [&](const agents_progress& seen) {
    // The agent has reported what its metadirectory lists. The next question concerns those processes.
    if (seen.wanted == 2 && !killed) killed = ::kill(ssh.agent_of("n1"), SIGKILL) == 0;
  };
  const job_graph seen = seen_from(job, options);
  CHECK(killed);
  CHECK(visit_on(seen, "n1", job.n1.said_pid("metadirectory.0.pid")).state == visit_state::read);
  CHECK_THAT(why_not(visit_on(seen, "n1", job.n1.said_pid("directory.0.pid"))),
             ContainsSubstring("unreachable: n1: its agent has ended"));
  CHECK(visit_on(seen, "n2", job.n2.pid()).state == visit_state::read);
  REQUIRE(seen.others.size() == 2);
  CHECK(seen.others[0].why.has_value());
  CHECK_FALSE(seen.others[1].why.has_value());
}

TEST_CASE("graph over nodes: without a way to start agents, each remote process has that reason") {
  const met_jobs job;
  agents_options none;
  none.start = agent_start::none;
  const job_graph seen = seen_from(job, none);
  const mpi2dd::visit& meta = visit_on(seen, "n1", job.n1.said_pid("metadirectory.0.pid"));
  CHECK_THAT(why_not(meta), ContainsSubstring("no agent was to be started there"));
  CHECK(ranks_of(seen.graph) == told_ranks(job.here));
}

TEST_CASE("look over nodes: ranks in tables of other hosts are found, and the agents end afterwards") {
  const fake_ssh ssh;
  const met_jobs job;
  const job_description view = looked_at(job, ssh.agents());
  CHECK(ranks_of(view) == job.ranks());
  CHECK(view.problems.empty());
  const process_table& table = *view.processes;
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    const std::string& world = table.worlds()[table.names().world(entry_index{i})].id;
    INFO(world << " " << i);
    CHECK(view.is_local(entry_index{i}) == (world == "w0"));
    if (world == "w1") CHECK(table.host_name(entry_index{i}) == "n1");
    if (world == "w2") CHECK(table.host_name(entry_index{i}) == "n2");
  }
  for (const char* host : {"n1", "n2"}) {
    REQUIRE(ssh.agent_of(host) > 0);
    CHECK(comes_true([&] { return ::kill(ssh.agent_of(host), 0) != 0; }));
  }
  CHECK(ssh.secrets() == 0);
  const auto alone = job::find(process_id{job.here.pid()});
  REQUIRE(alone.has_value());
  CHECK(ranks_of(*alone) == told_ranks(job.here));
}

TEST_CASE("look over nodes: a host that cannot be reached is a problem of the view with its reason") {
  const fake_ssh ssh;
  const met_jobs job;
  job.list("directory", job.n1.said_pid("metadirectory.0.pid"), "away", 1);
  const job_description view = looked_at(job, ssh.agents());
  CHECK(ranks_of(view) == job.ranks());
  REQUIRE(view.problems.size() == 1);
  CHECK_THAT(view.problems.front().message,
             ContainsSubstring("reading the tables of process 1 of away") && ContainsSubstring("no route to away"));
}
