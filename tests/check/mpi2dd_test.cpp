// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The clauses of the MPI2DD draft: on made-up jobs, each fault fails its one clause; on jobs that run, none does that
// keeps the draft.
#include <functional>
#include <set>

#include "catch.hpp"
#include "fake_job.hpp"
#include "live_process.hpp"
#include "mpiacq/check/check.hpp"
#include "run_command.hpp"
#include "watched_run.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using check::observations;
using mpi2dd::debug_state;

namespace {

constexpr std::uint32_t metadir = 0x01, dir = 0x02, starter = 0x04;

/// A starter that is the metadirectory, and a directory with a world of two ranks, the second of which has spawned one.
struct made_up {
  fake_job job;
  fake_mpi_process* first = nullptr;
  fake_mpi_process* directory = nullptr;
  std::vector<fake_rank> ranks;
  std::vector<fake_entry> directories;
  std::uint32_t of_starter = starter | metadir, of_directory = dir;
  observations seen;

  made_up() {
    first = &job.add("n1", 10);
    directory = &job.add("n1", 20);
    directory->meta("n1", 10, "/mpirun");
    const auto n1 = directory->string("n1"), app = directory->string("/app"), w0 = directory->string("w0");
    ranks = {{n1, app, {}, w0, 100, 0},
             {n1, app, {}, w0, 101, 1},
             {n1, app, directory->spawn(w0, 1, 0), directory->string("w1"), 102, 0}};
    directories = {{first->string("n1"), first->string("/dird"), 20}};
    seen.looked = true;
    seen.starter = process_id{10};
    seen.defined.mpi2dd = std::vector<std::uint8_t>{'M', 'P', 'I', '2', 0x7f, 1, 1};
    seen.mpi2dd.info = check::seen_symbol{"MPI2DD_info", "/mpirun", 128, symbol_kind::data, {}};
    seen.mpi2dd.breakpoint = check::seen_symbol{"MPI2DD_breakpoint", "/mpirun", 7, symbol_kind::function, {}};
    seen.mpi2dd.initially.emplace();
    seen.mpi2dd.events.push_back({debug_state::start, {}, {}});
    for (const int pid : {100, 101, 102}) {
      check::mpi2dd_rank_seen rank{"w:" + std::to_string(pid), process_id{pid}, true, mpi2dd::process_info{}, {}};
      rank.info->meta_host = "n1";
      rank.info->block.meta_pid = 10;
      seen.mpi2dd.ranks.push_back(rank);
    }
    seen.ended = exit_status{false, 0, false};
  }

  /// The ids that fail, when the job has been walked as it is now.
  std::set<std::string> failed(bool packed = true) {
    first->info.mpi_flags = of_starter;
    directory->info.mpi_flags = of_directory;
    if (!ranks.empty()) directory->put_processes(ranks);
    first->put_directories(directories, packed);
    job.publish();
    auto g = mpi2dd::walk({"n1", process_id{10}, ""}, job.opener());
    REQUIRE(g.has_value());
    auto walked = std::make_shared<job_graph>();
    walked->graph = std::move(*g);
    walked->host = "n1";
    seen.mpi2dd.job = walked;
    std::set<std::string> ids;
    for (const check::judgement& j : check::judge(seen)) {
      if (j.result.what == check::verdict::fail) ids.insert(std::string(j.rule->id));
    }
    return ids;
  }
};

using change = std::function<void(made_up&)>;

}  // namespace

TEST_CASE("check: an MPI2DD job that keeps the draft passes every clause that it reaches") {
  made_up whole;
  CHECK(whole.failed().empty());
  std::size_t passed = 0;
  for (const check::judgement& j : check::judge(whole.seen)) {
    if (!j.rule->id.starts_with("MPI2DD")) continue;
    INFO(j.rule->id << ": " << j.result.saw);
    CHECK(j.result.what == (j.rule->id == "MPI2DD.abort" ? check::verdict::not_applicable : check::verdict::pass));
    passed += j.result.what == check::verdict::pass ? 1U : 0U;
  }
  CHECK(passed == 21);
}

TEST_CASE("check: one fault of an MPI2DD job fails one clause") {
  const std::vector<std::pair<const char*, change>> changes = {
      {"MPI2DD.breakpoint", [](made_up& m) { m.seen.mpi2dd.breakpoint.reset(); }},
      {"MPI2DD.breakpoint", [](made_up& m) { m.seen.mpi2dd.breakpoint->kind = symbol_kind::data; }},
      {"MPI2DD.initial-flags",
       [](made_up& m) { m.seen.mpi2dd.initially->debugger_flags = mpi2dd::flag_set<mpi2dd::debugger_flag>{1}; }},
      {"MPI2DD.states",
       [](made_up& m) {
         m.seen.mpi2dd.events.push_back({static_cast<debug_state>(9), {}, {}});
       }},
      {"MPI2DD.start", [](made_up& m) { m.seen.mpi2dd.events.clear(); }},
      {"MPI2DD.starter", [](made_up& m) { m.of_starter = metadir; }},
      {"MPI2DD.directory", [](made_up& m) { m.of_directory = 0; }},
      // Listed as a directory, without entries of its own.
      {"MPI2DD.directory",
       [](made_up& m) {
         m.ranks.clear();
         m.of_directory = 0;
       }},
      {"MPI2DD.metadirectory", [](made_up& m) { m.of_starter = starter; }},
      {"MPI2DD.abort",
       [](made_up& m) {
         m.seen.mpi2dd.events.push_back({debug_state::abort, {}, {}});
       }},
      {"MPI2DD.abort",
       [](made_up& m) {
         m.seen.mpi2dd.events.push_back({debug_state::abort, {}, "unreadable"});
       }},
      {"MPI2DD.abort", [](made_up& m) { m.seen.mpi2dd.ranks[1].info->block.state = debug_state::abort; }},
      {"MPI2DD.rank-info", [](made_up& m) { m.seen.mpi2dd.ranks[1].info.reset(); }},
      {"MPI2DD.way-up", [](made_up& m) { m.seen.mpi2dd.ranks[1].info->block.meta_pid = 0; }},
      {"MPI2DD.way-up", [](made_up& m) { m.seen.mpi2dd.ranks[1].info->block.meta_pid = 77; }},
      {"MPI2DD.sizes",
       [](made_up& m) {
         m.directory->put_processes(m.ranks);
         m.ranks.clear();
         m.directory->info.proctable_size = 1 << 20;
       }},
      {"MPI2DD.hosts", [](made_up& m) { m.ranks[1].host_name = target_address{8}; }},
      {"MPI2DD.executables", [](made_up& m) { m.ranks[1].executable_name = target_address{8}; }},
      {"MPI2DD.worlds", [](made_up& m) { m.ranks[0].comm_world_id = {}; }},
      {"MPI2DD.pids", [](made_up& m) { m.ranks[0].pid = -1; }},
      {"MPI2DD.pids", [](made_up& m) { m.seen.mpi2dd.ranks[0].alive = false; }},
      {"MPI2DD.ranks", [](made_up& m) { m.ranks[0].rank = -1; }},
      {"MPI2DD.ranks", [](made_up& m) { m.ranks[0].rank = 1; }},
      {"MPI2DD.spawns",
       [](made_up& m) { m.ranks[2].spawn_desc = m.directory->spawn(m.directory->string("w0"), 9, 0); }},
      {"MPI2DD.sequences",
       [](made_up& m) { m.ranks[2].spawn_desc = m.directory->spawn(m.directory->string("w0"), 1, -2); }},
      {"MPI2DD.agreement",
       [](made_up& m) {
         m.ranks.push_back(m.ranks[0]);
         m.ranks.back().rank = 5;
       }},
      {"MPI2DD.not-itself",
       [](made_up& m) {
         m.directories.push_back({m.first->string("n1"), m.first->string("/mpirun"), 10});
       }},
      {"MPI2DD", [](made_up& m) { m.seen.defined.mpi2dd->at(5) = 2; }},
  };
  std::set<std::string> tried = {"MPI2DD.packed"};
  for (const auto& [id, fault] : changes) {
    made_up job;
    fault(job);
    INFO(id);
    CHECK(job.failed() == std::set<std::string>{id});
    tried.insert(id);
  }
  made_up padded;
  padded.directories.push_back({padded.first->string("n2"), padded.first->string("/dird"), 21});
  CHECK(padded.failed(false) == std::set<std::string>{"MPI2DD.packed"});
  // Every clause of the draft has been failed.
  for (const check::clause& c : check::clauses()) {
    INFO(c.id);
    if (c.id.starts_with("MPI2DD")) CHECK(tried.contains(std::string(c.id)));
  }
}

namespace {

struct verdicts {
  std::set<std::string> failed, passed;
  check::observations seen;
};

verdicts verdicts_of(const check::run& subject) {
  verdicts all;
  all.seen = subject.seen();
  for (const check::judgement& j : check::judge(all.seen)) {
    if (j.result.what == check::verdict::fail) UNSCOPED_INFO(j.rule->id << ": " << j.result.saw);
    if (j.result.what == check::verdict::fail) all.failed.insert(std::string(j.rule->id));
    if (j.result.what == check::verdict::pass) all.passed.insert(std::string(j.rule->id));
  }
  return all;
}

verdicts check_launched(std::vector<std::string> command, int status = 0) {
  command.front() = MPIACQ_MPI2DD "/" + command.front();
  auto launched = check::run::launch(command, {});
  REQUIRE(launched.has_value());
  watch(**launched);
  verdicts all = verdicts_of(**launched);
  CHECK(all.seen.ended.has_value());
  CHECK(all.seen.ended->as_shell() == status);
  return all;
}

}  // namespace

TEST_CASE("check: the reference of MPI2DD keeps the draft, and ends as it does without the checker") {
  const std::set<std::string> clean;
  const verdicts plain = check_launched({"mpi2dd_starter", "--ranks", "3", "--directories", "2", "--metadirectory"});
  CHECK(plain.failed == clean);
  for (const char* id : {"MPI2DD", "MPI2DD.breakpoint", "MPI2DD.initial-flags", "MPI2DD.states", "MPI2DD.start",
                         "MPI2DD.starter", "MPI2DD.directory", "MPI2DD.metadirectory", "MPI2DD.rank-info",
                         "MPI2DD.way-up", "MPI2DD.packed", "MPI2DD.pids", "MPI2DD.ranks"}) {
    INFO(id);
    CHECK(plain.passed.contains(id));
  }
  CHECK(plain.seen.mpi2dd.ranks.size() == 3);
  CHECK(check_launched({"mpi2dd_starter_library", "--ranks", "2"}).failed == clean);
  CHECK(check_launched({"mpi2dd_starter_bare", "--ranks", "2"}).failed == clean);
}

TEST_CASE("check: variants of the reference fail the clause that they break") {
  using ids = std::set<std::string>;
  CHECK(check_launched({"mpi2dd_starter_plain", "--ranks", "2", "--directories", "2"}).failed == ids{"MPI2DD.packed"});
  CHECK(check_launched({"mpi2dd_starter_bad_magic", "--ranks", "2"}).failed == ids{"MPI2DD"});
  CHECK(check_launched({"mpi2dd_starter_variant_2", "--ranks", "2"}).failed == ids{"MPI2DD"});
  CHECK(check_launched({"mpi2dd_starter_version_2", "--ranks", "2"}).failed == ids{"MPI2DD"});
}

TEST_CASE("check: the abort_string of a rank that aborts is judged, and not the starter's alone") {
  constexpr int aborted = 134;
  const verdicts told = check_launched({"mpi2dd_starter", "--ranks", "2", "1/abort=no memory left"}, aborted);
  CHECK(told.failed.empty());
  CHECK(told.passed.contains("MPI2DD.abort"));
  REQUIRE(told.seen.mpi2dd.ranks.size() == 2);
  REQUIRE(told.seen.mpi2dd.ranks[1].info.has_value());
  CHECK(told.seen.mpi2dd.ranks[1].info->abort_reason == "no memory left");
  const verdicts silent =
      check_launched({"mpi2dd_starter", "--ranks", "2", "1/abort_silently=no memory left"}, aborted);
  CHECK(silent.failed == std::set<std::string>{"MPI2DD.abort"});
}

TEST_CASE("check: ranks that are spawned after an attach are looked at") {
  live_process job({MPIACQ_MPI2DD "/mpi2dd_starter", "--ranks", "2", "--hold", "1/step", "1/spawn=2"});
  (void)job.lines_until_ready();
  check::run_options options;
  options.attached_for = std::chrono::seconds(60);
  auto attached = check::run::attach(job.pid(), options);
  REQUIRE(attached.has_value());
  CHECK((*attached)->seen().mpi2dd.ranks.size() == 2);
  job.tell('x');
  const auto limit = clock::now() + std::chrono::seconds(30);
  while ((*attached)->seen().mpi2dd.ranks.size() < 4 && clock::now() < limit) {
    REQUIRE((*attached)->next(clock::now() + std::chrono::milliseconds(50)).has_value());
  }
  const verdicts all = verdicts_of(**attached);
  REQUIRE(all.seen.mpi2dd.ranks.size() == 4);
  CHECK(all.seen.mpi2dd.ranks[3].info.has_value());
  CHECK(all.failed.empty());
  CHECK(all.passed.contains("MPI2DD.rank-info"));
  CHECK(all.passed.contains("MPI2DD.way-up"));
  attached->reset();
  CHECK(job.end() == 0);
}

TEST_CASE("check: a running MPI2DD job is looked at from its starter, spawns and all") {
  live_process job({MPIACQ_MPI2DD "/mpi2dd_starter", "--ranks", "2", "--directories", "1", "--hold", "1/spawn=2"});
  (void)job.lines_until_ready();
  check::run_options options;
  options.attached_for = std::chrono::milliseconds(200);
  auto attached = check::run::attach(job.pid(), options);
  REQUIRE(attached.has_value());
  watch(**attached);
  const verdicts all = verdicts_of(**attached);
  CHECK(all.failed.empty());
  CHECK(all.passed.contains("MPI2DD.spawns"));
  CHECK(all.passed.contains("MPI2DD.sequences"));
  CHECK(all.seen.mpi2dd.ranks.size() == 4);
  attached->reset();
  CHECK(job.end() == 0);
}
