// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Processes that have ended, that are on other hosts, or that differ from their entries.
#include <csignal>

#include <sys/wait.h>

#include "told_graph.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using mpi2dd::visit_state;

namespace {

void end_now(pid_t pid) {
  ::kill(pid, SIGKILL);
  REQUIRE(comes_true([&] {
    const char state = process_state(pid);
    return state == 'Z' || state == ' ';
  }));
}

}  // namespace

TEST_CASE("a walk from a process without MPI2DD is refused, and the error says what to do") {
  live_process cat({"cat"});
  REQUIRE(comes_true([&] { return file_contents("/proc/" + std::to_string(cat.pid().value()) + "/comm") == "cat\n"; }));
  const auto none = look_at_graph(cat.pid());
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().code == error_code::not_found);
  CHECK_THAT(none.error().message, ContainsSubstring("has no MPI2DD_info"));
  CHECK_THAT(none.error().message, ContainsSubstring("Name the job's starter"));

  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  const auto gone = look_at_graph(process_id{child});
  REQUIRE_FALSE(gone.has_value());
  CHECK(gone.error().code == error_code::process_gone);
  CHECK(look_at_graph(process_id{0}).error().code == error_code::invalid_argument);
}

TEST_CASE("a directory that has ended is kept as gone, and its siblings are read") {
  reference_job job{{"mpi2dd_starter", "--ranks", "4", "--directories", "2", "--world", "w0", "--hold"}};
  job.ready();
  const pid_t dead = job.said_pid("directory.0.pid");
  end_now(dead);
  const job_graph seen = graph_from(job.pid());
  const mpi2dd::visit& v = visit_at(seen, dead);
  CHECK(v.state == visit_state::unreachable);
  REQUIRE(v.failure.has_value());
  CHECK(v.failure->code == error_code::process_gone);
  CHECK(ranks_of(seen.graph).size() == 2);
  CHECK(visit_at(seen, job.said_pid("directory.1.pid")).state == visit_state::read);
}

TEST_CASE("processes on other hosts are kept, and the sentence says where they are") {
  reference_job job{
      {"mpi2dd_starter", "--ranks", "2", "--directories", "1", "--world", "w0", "--host", "n17.elsewhere", "--hold"}};
  job.ready();
  const job_graph seen = graph_from(job.pid());
  const auto directory = seen.graph.find("n17.elsewhere", process_id{job.said_pid("directory.0.pid")});
  REQUIRE(directory.has_value());
  const mpi2dd::visit* v = seen.graph.visit_of(*directory);
  REQUIRE(v != nullptr);
  CHECK(v->state == visit_state::unreachable);
  CHECK(v->failure->code == error_code::unsupported);
  CHECK_THAT(v->failure->message, ContainsSubstring("n17.elsewhere"));
}

TEST_CASE("processes that are listed under several names of this host are one each") {
  reference_job job{
      {"mpi2dd_starter", "--ranks", "2", "--directories", "1", "--world", "w0", "--host", "127.0.0.1", "--hold"}};
  job.ready();
  const job_graph seen = graph_from(job.rank("w0", 1));
  CHECK(seen.graph.process_count() == 4);
  CHECK(ranks_of(seen.graph) == told_ranks(job));
  check_clean(seen.graph);
}

TEST_CASE("false entries of tables are kept and marked as such") {
  reference_job job{{"mpi2dd_starter", "--ranks", "2", "--directories", "1", "--world", "w0", "--hold"}};
  job.ready();
  const std::string self = std::to_string(job.pid());
  const pid_t directory = job.said_pid("directory.0.pid");
  live_process cat({"cat"});
  REQUIRE(comes_true([&] { return file_contents("/proc/" + std::to_string(cat.pid().value()) + "/comm") == "cat\n"; }));
  // It lists itself, a process that is no MPI program, and a rank of its directory as another's.
  job.tell(job.pid(), "directory,localhost,/bin/self," + self + "\ndirectory,localhost,/bin/cat," +
                          std::to_string(cat.pid().value()) + "\nprocess,localhost,/bin/app,other," +
                          std::to_string(job.rank("w0", 1)) + ",9\nprocess,-,-,w0,-4,2");
  const job_graph seen = graph_from(job.pid());
  CHECK(visit_at(seen, job.pid()).directories.lists_itself);
  CHECK(visit_at(seen, job.pid()).processes.problem_count == 1);  // the pid; no name is this host's
  CHECK(visit_at(seen, static_cast<pid_t>(cat.pid().value())).state == visit_state::no_interface);
  CHECK(seen.graph.disagreement_count() >= 2);  // of its world and its rank
  CHECK(seen.graph.visits().size() == 3);
  CHECK(visit_at(seen, directory).processes.entries.size() == 2);
  CHECK(ranks_of(seen.graph).size() == 3);
}

TEST_CASE("a size beyond the table keeps the readable entries") {
  reference_job job{{"mpi2dd_starter", "--ranks", "3", "--world", "w0", "--hold"}};
  job.ready();
  job.tell(job.pid(), "claim,process,2000000000");
  const job_graph seen = graph_from(job.pid());
  const mpi2dd::listing& table = visit_at(seen, job.pid()).processes;
  CHECK(table.claimed == 2000000000);
  CHECK(table.shortfall.has_value());
  CHECK(table.entries.size() >= 3);
  const words ranks = ranks_of(seen.graph);
  for (const std::string& rank : told_ranks(job)) CHECK(ranks.contains(rank));
}
