// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Graphs from core files: of a running job and of a job that has ended.
#include "take_core.hpp"
#include "told_graph.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using mpi2dd::visit_state;

namespace {

std::string core_of(pid_t pid, const scratch_folder& folder) {
  const auto core = core_by_gcore(process_id{pid}, folder.path(""));
  return core.value_or("");
}

job_graph read(const std::string& core) {
  auto seen = read_graph(core);
  if (!seen) FAIL(seen.error().message);
  return std::move(*seen);
}

}  // namespace

TEST_CASE("a starter's core leads to the processes that still match its entries") {
  const scratch_folder folder;
  reference_job job{{"mpi2dd_starter", "--ranks", "4", "--directories", "2", "--world", "w0", "--hold"}};
  job.ready();
  const std::string core = core_of(job.pid(), folder);
  if (core.empty()) MPIACQ_SKIP("gcore cannot make a core file here");
  const words ranks = told_ranks(job);
  const job_graph alive = read(core);
  CHECK(alive.core == core);
  CHECK(ranks_of(alive.graph) == ranks);
  CHECK(alive.graph.pid(alive.graph.start()) == process_id{job.pid()});
  CHECK(alive.graph.visits().size() == 3);
  check_clean(alive.graph);

  const std::set<pid_t> directories = {job.said_pid("directory.0.pid"), job.said_pid("directory.1.pid")};
  REQUIRE(job.end() == 0);
  const job_graph ended = read(core);
  CHECK(ended.graph.visits()[0].state == visit_state::read);
  CHECK(ended.graph.visits()[0].is_starter());
  for (const pid_t pid : directories) {
    const mpi2dd::visit& v = visit_at(ended, pid);
    CHECK(v.state == visit_state::unreachable);
    CHECK_THAT(v.failure->message, ContainsSubstring("the core file names process " + std::to_string(pid)));
  }
  CHECK(ended.graph.process_count() == 3);
}

TEST_CASE("a core whose table lists its own process belongs to the host of that entry") {
  const scratch_folder folder;
  reference_job job{
      {"mpi2dd_starter", "--ranks", "2", "--rank-directory", "--world", "w0", "--host", "n17.elsewhere", "--hold"}};
  job.ready();
  const std::string core = core_of(job.rank("w0", 0), folder);
  if (core.empty()) MPIACQ_SKIP("gcore cannot make a core file here");
  const job_graph seen = read(core);
  CHECK(seen.graph.host(seen.graph.start()) == "n17.elsewhere");
  CHECK(seen.graph.rank(seen.graph.start()) == 0);
  CHECK(ranks_of(seen.graph) == told_ranks(job));
  REQUIRE(seen.graph.visits().size() == 2);  // and its metadirectory, elsewhere
  CHECK(seen.graph.visits()[1].state == visit_state::unreachable);
}

TEST_CASE("a file that is no core, and a core without MPI2DD, are refused") {
  CHECK(read_graph("/bin/sh").error().code == error_code::bad_format);
  CHECK(read_graph("/nonexistent/core").error().code == error_code::not_found);
  const scratch_folder folder;
  live_process cat({"cat"});
  REQUIRE(comes_true([&] { return file_contents("/proc/" + std::to_string(cat.pid().value()) + "/comm") == "cat\n"; }));
  const std::string core = core_of(static_cast<pid_t>(cat.pid().value()), folder);
  if (core.empty()) MPIACQ_SKIP("gcore cannot make a core file here");
  CHECK(read_graph(core).error().code == error_code::not_found);
}
