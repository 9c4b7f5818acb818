// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A job that is launched and has MPI2DD: each of its events, the flags in each of its processes, and what becomes of
// them. What the fixture wrote down is what must have happened.
#include <algorithm>
#include <csignal>

#include "catch.hpp"
#include "mpi2dd_job.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using mpi2dd::debug_state;

namespace {

/// What was raised, and by whom, in the order in which it was raised there.
using raised = std::pair<std::string, pid_t>;

std::vector<raised> of(const std::vector<raised>& all, pid_t who) {
  std::vector<raised> its;
  for (const raised& one : all) {
    if (one.second == who) its.push_back(one);
  }
  return its;
}

/// Starters and their options, in the variants that a debugger must not tell apart.
std::vector<std::vector<std::string>> jobs() {
  return {
      {"mpi2dd_starter", "--ranks", "2", "--world", "w0", "spawn=2{1/spawn=1}"},
      {"mpi2dd_starter", "--ranks", "2", "--world", "w0", "--metadirectory", "--directories", "2", "spawn_apart=1"},
      {"mpi2dd_starter", "--ranks", "2", "--world", "w0", "--above", "--rank-directory", "1/spawn=1", "1/leave"},
      {"mpi2dd_starter_library", "--ranks", "2", "--world", "w0", "--pre-main", "spawn=1"},
      {"mpi2dd_starter_bare", "--ranks", "2", "--world", "w0", "--metadirectory", "spawn=1"},
      {"mpi2dd_starter_plain_bare", "--ranks", "2", "--world", "w0", "--directories", "2", "spawn_apart=1"},
#ifdef MPIACQ_HAVE_32_BIT_MPI2DD
      {"mpi2dd_starter_32", "--ranks", "2", "--world", "w0", "--metadirectory", "--directories", "2", "spawn_apart=1"},
#endif
      {"mpi2dd_starter", "--ranks", "1", "--world", "w0", "--directories", "1", "spawn=1", "spawn=2", "spawn=1"}};
}

/// Each process raises its own in order; which of two processes was first is nobody's to say.
void check_same_events(const followed_job& job) {
  const auto written = job.written_events();
  const auto reported = job.reported_events();
  CHECK(reported.size() == written.size());
  for (const auto& [state, who] : written) CHECK(of(reported, who) == of(written, who));
}

}  // namespace

TEST_CASE("every event of a launched MPI2DD job is reported, and its graph is the one that the job wrote down") {
  const auto words = GENERATE(from_range(jobs()));
  INFO(words.front() << " " << words.back());
  followed_job job(words);
  job.run();
  CHECK(job.notices() == std::vector<std::string>{});
  CHECK(job.end() == exit_status{false, 0, false});
  check_same_events(job);
  // Every rank of every world, as it was at some event.
  for (const auto& [key, value] : job.oracle()) {
    if (key.starts_with("rank.")) CHECK(job.saw_rank(key, std::atoi(value.c_str())));
  }
  for (const auto& [key, value] : job.oracle()) {
    if (key.ends_with(".spawned_by")) CHECK(job.saw_spawn(key, value));
  }
}

TEST_CASE("CONNECT, ACCEPT and JOIN come from the ranks that call them") {
  const std::string port = "job_test." + std::to_string(::getpid());
  followed_job job({"mpi2dd_starter", "--ranks", "3", "--world", "w0", "1/connect=" + port, "2/accept=" + port,
                    "0/join=" + port + ".join", "1/join=" + port + ".join"});
  job.run();
  check_same_events(job);
  CHECK(job.count(debug_state::connect) == 1);
  CHECK(job.count(debug_state::accept) == 1);
  CHECK(job.count(debug_state::join) == 2);
  CHECK(job.end() == exit_status{false, 0, false});
}

TEST_CASE("an abort is reported by the rank, then by the starter, with its string") {
  followed_job job({"mpi2dd_starter", "--ranks", "2", "--world", "w0", "1/abort=no memory left"});
  job.run();
  check_same_events(job);
  CHECK(job.reasons() == std::vector<std::string>{"no memory left", "no memory left"});
  CHECK(job.reported_events().back().second == job.starter());
  CHECK(job.end() == exit_status{false, 134, false});
}

TEST_CASE("the ranks of a launched MPI2DD job wait at their gates until the job follows them") {
  const bool partial = GENERATE(false, true);
  std::vector<std::string> words = {"mpi2dd_starter", "--ranks", "2", "--world", "w0", "--exit", "3", "spawn=1"};
  if (partial) words.insert(words.begin() + 1, "--partial-attach-ok");
  followed_job job(words);
  job.run();
  CHECK(job.end() == exit_status{false, 3, false});
  CHECK(job.facts().partial_attach_ok == partial);
  CHECK(job.said("world.w0.gates") == (partial ? "0" : "1"));
  for (const auto& [key, value] : job.oracle()) {
    if (!key.starts_with("rank.")) continue;
    INFO(key);
    CHECK(job.said(value + ".gate_heeded") == (partial ? "0" : "1"));
    CHECK(job.said(value + ".left_init") == "1");
    // Followed to its end: asked for directory events, and debugged.
    CHECK(job.said(value + ".debugger_flags_at_end") == (partial ? "0x6" : "0x7"));
  }
  CHECK(job.said(std::to_string(job.starter()) + ".debugger_flags_at_end") == "0x6");
}

TEST_CASE("a followed directory that is killed gives a notice, and the job goes on") {
  followed_job job(
      {"mpi2dd_starter", "--ranks", "2", "--world", "w0", "--metadirectory", "--directories", "1", "--exit", "3"});
  job.at_start([&] { ::kill(std::atoi(job.said("directory.0.pid").c_str()), SIGKILL); });
  job.run();
  CHECK(job.end() == exit_status{false, 3, false});
  // It may have died before it was taken hold of: then there was nothing to tell.
  for (const std::string& notice : job.notices()) CHECK_THAT(notice, ContainsSubstring("ended by signal 9"));
}

TEST_CASE("the queue library is the one that the rank names for this pointer width, unless queues are ignored") {
  followed_job job({"mpi2dd_starter", "--ranks", "1", "--world", "w0", "--pass", "dll,/lib/q32.so,/lib/q64.so"});
  std::optional<std::string> library;
  job.at_start([&] { library = job.subject().queue_library(); });
  job.run();
  CHECK(library == (sizeof(void*) == 8 ? "/lib/q64.so" : "/lib/q32.so"));

  followed_job none({"mpi2dd_starter", "--ranks", "1", "--world", "w0", "--pass", "dll,/lib/q32.so,/lib/q64.so",
                     "--pass", "flags,0x10"});
  none.at_start([&] { library = none.subject().queue_library(); });
  none.run();
  CHECK(none.facts().ignore_queues);
  CHECK(library == std::nullopt);
}

TEST_CASE("with follow_ranks off, the gates of the ranks are opened and the ranks are left alone") {
  job_options options;
  options.follow_ranks = false;
  followed_job job({"mpi2dd_starter", "--ranks", "2", "--world", "w0", "--exit", "3", "spawn=1"}, std::move(options));
  job.run();
  CHECK(job.end() == exit_status{false, 3, false});
  CHECK(job.count(debug_state::start) == 1);
  CHECK(job.count(debug_state::spawn) == 0);
  const std::string rank = job.said("rank.w0.0.pid");
  CHECK(job.said(rank + ".gate_heeded") == "1");
  CHECK(job.said(rank + ".debugger_flags_at_end") == "0x1");
}
