// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// job::find and list_jobs on starters that are PMIx servers.
#include <algorithm>

#include "mpiacq/job/job.hpp"
#include "mpiacq/job/job_list.hpp"
#include "pmix_fixture.hpp"
#include "proc/known_processes.hpp"
#include "views/pmix_description.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// The processes that the server has started, in the order of their pids, which is that of the ranks.
std::vector<process_id> ranks_of(const running_server& server) {
  known_processes all;
  std::vector<process_id> ranks;
  for (const process_id pid : all.all()) {
    const auto process = all.find(pid);
    if (process && process->parent() == server.pid()) ranks.push_back(pid);
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

}  // namespace

TEST_CASE("a job of a PMIx server is found by its starter and by its ranks") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  const running_server server(folder, folder.copy_of("usual"), "honest", 3);
  const auto ranks = ranks_of(server);
  REQUIRE(ranks.size() == 3);
  for (const process_id named : {server.pid(), ranks[0], ranks[2]}) {
    const auto job = job::find(named);
    REQUIRE(job);
    CHECK(job->source == interface_kind::pmix);
    CHECK(job->starter.pid == server.pid());
    CHECK(job->launcher == launcher_kind::prrte);
    CHECK_FALSE(job->is_controlled);
    REQUIRE(job->processes->size() == 3);
    CHECK(job->processes->user() == user_id{::geteuid()});
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      CHECK(job->processes->pid(entry_index{i}) == ranks[i]);
      CHECK(job->is_local(entry_index{i}));
    }
    CHECK(job->starter.found_how.empty() == (named == server.pid()));
    if (named == ranks[2]) CHECK(job->starter.found_how.find("is rank 2 of") != std::string::npos);
    CHECK(job->problems.empty());
  }
}

TEST_CASE("a launcher of another kind that has mapped a PMIx library is no server") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  const std::string torchrun = folder.path() + "/torchrun";
  std::filesystem::copy_file(std::string(MPIACQ_PMIX) + "/prterun", torchrun);
  live_process launcher(
      {"env", "TMPDIR=" + folder.path(), torchrun, folder.copy_of("usual"), "honest", "2", "5.0.7a1"});
  REQUIRE(launcher.next_line() == "ready");
  const auto place = find_pmix_place(launcher.pid());
  REQUIRE(place);
  CHECK_FALSE(place->has_value());
}

TEST_CASE("where a PMIx server gives no job, the environment does, and the problem says why") {
  struct sample {
    std::string library, habit, version, sentence;
  };
  const auto one =
      GENERATE(sample{"newer", "silent", "5.0.7a1", "has version 7.0.0"},
               sample{"usual", "refuses", "5.0.7a1", "PMIX_ERR_UNREACH"},
               sample{"usual", "crashes", "5.0.7a1", "SIGABRT"}, sample{"usual", "none", "5.0.7a1", "runs no job"});
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  const running_server server(folder, folder.copy_of(one.library), one.habit, 2, one.version);
  const auto job = job::find(server.pid());
  INFO(one.habit << (job ? "" : ": " + job.error().message));
  REQUIRE(job);
  CHECK(job->source == interface_kind::environment);
  CHECK(job->processes->size() == 2);
  REQUIRE_FALSE(job->problems.empty());
  INFO(job->problems[0].message);
  CHECK(job->problems[0].message.find(one.sentence) != std::string::npos);

  find_options only_pmix;
  only_pmix.interface = interface_kind::pmix;
  const auto none = job::find(server.pid(), only_pmix);
  REQUIRE_FALSE(none);
  CHECK(none.error().message.find(one.sentence) != std::string::npos);
}

TEST_CASE("a server of a release that can harm its job is asked only if PMIx is chosen") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  const running_server server(folder, folder.copy_of("candidate"), "honest", 2, "7.0.0rc1");
  const std::string sentence = "has version 7.0.0rc1: its job can hang at its end";
  const auto found = job::find(server.pid());
  REQUIRE(found);
  CHECK(found->source == interface_kind::environment);
  CHECK(found->processes->size() == 2);
  REQUIRE_FALSE(found->problems.empty());
  CHECK(found->problems[0].message.find(sentence) != std::string::npos);

  const auto list = list_jobs();
  REQUIRE(list);
  const auto row = std::find_if(list->jobs.begin(), list->jobs.end(),
                                [&](const listed_job& one) { return one.starter == server.pid(); });
  REQUIRE(row != list->jobs.end());
  CHECK(row->source == interface_kind::environment);
  REQUIRE_FALSE(row->problems.empty());
  CHECK(row->problems.back().message.find(sentence) != std::string::npos);

  {
    const auto attached = job::attach(server.pid());
    REQUIRE(attached);
    CHECK((*attached)->description().source == interface_kind::environment);
  }
  find_options chosen;
  chosen.interface = interface_kind::pmix;
  const auto by_pmix = job::find(server.pid(), chosen);
  REQUIRE(by_pmix);
  CHECK(by_pmix->source == interface_kind::pmix);
  job_options attach_chosen;
  attach_chosen.interface = interface_kind::pmix;
  CHECK(job::attach(server.pid(), attach_chosen));
}

TEST_CASE("a job whose server has no rendezvous file is found by its ranks, and by the starter through them") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  // The URI of a rank names the starter as the only process.
  const running_server server(folder, folder.copy_of("usual"), "honest", 2, "-");
  const auto ranks = ranks_of(server);
  REQUIRE(ranks.size() == 2);
  for (const process_id named : {ranks[0], server.pid()}) {
    find_options only_pmix;
    only_pmix.interface = interface_kind::pmix;
    const auto job = job::find(named, only_pmix);
    REQUIRE(job);
    CHECK(job->source == interface_kind::pmix);
    CHECK(job->processes->pid(entry_index{0}) == server.pid());
  }
}

TEST_CASE("a server with several jobs wants a rank of one of them, and spawned ranks are worlds of one job") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  {
    const running_server server(folder, folder.copy_of("usual"), "two_jobs", 2);
    find_options only_pmix;
    only_pmix.interface = interface_kind::pmix;
    const auto unclear = job::find(server.pid(), only_pmix);
    REQUIRE_FALSE(unclear);
    CHECK(unclear.error().code == error_code::invalid_argument);
    CHECK(unclear.error().message.find("job@1, job@4") != std::string::npos);
    const auto chosen = job::find(ranks_of(server).front(), only_pmix);
    REQUIRE(chosen);
    CHECK(chosen->processes->size() == 2);
  }
  const running_server server(folder, folder.copy_of("usual"), "spawns", 2);
  const auto job = job::find(server.pid());
  REQUIRE(job);
  REQUIRE(job->processes->worlds().size() == 2);
  CHECK(job->processes->worlds()[1].id == "job@3");
  REQUIRE(job->processes->worlds()[1].spawned_by);
  CHECK(job->processes->worlds()[1].spawned_by->world == "job@1");
  CHECK(job->processes->worlds()[1].spawned_by->rank == rank_number{1});
  CHECK(job->processes->names().of(entry_index{2}) == "1:0");
}

TEST_CASE("the jobs of PMIx servers are listed with all of their ranks") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  const running_server server(folder, folder.copy_of("usual"), "honest", 2);
  const running_server silent(folder, folder.copy_of("newer"), "honest", 2);
  const auto list = list_jobs();
  REQUIRE(list);
  const auto row_of = [&](process_id starter) {
    const auto found = std::find_if(list->jobs.begin(), list->jobs.end(),
                                    [&](const listed_job& one) { return one.starter == starter; });
    REQUIRE(found != list->jobs.end());
    return *found;
  };
  const listed_job with_table = row_of(server.pid());
  CHECK(with_table.source == interface_kind::pmix);
  CHECK(with_table.ranks == 2);
  CHECK(with_table.ranks_here == 2);
  CHECK(with_table.job_id == "job@1");
  CHECK(with_table.named == server.pid());
  CHECK(with_table.problems.empty());
  const listed_job by_environment = row_of(silent.pid());
  CHECK(by_environment.source == interface_kind::environment);
  CHECK(by_environment.ranks_here == 2);
  REQUIRE_FALSE(by_environment.problems.empty());
  CHECK(by_environment.problems.back().message.find("has version 7.0.0") != std::string::npos);
}
