// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What it costs to attach to a job by PMIx, and to find it, against a program that connects to the server, asks once
// for the process table, and disconnects (floor/pmix_tool.cpp). In turn in one run, ratios of pairs. It needs Open MPI
// 5: bench/in_tree runs it in Debian 13.
//   pmix_bench [RANKS...]
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_sizes.hpp"
#include "in_turn.hpp"
#include "measurement.hpp"
#include "mpiacq/mpiacq.hpp"
#include "server/pmix_server.hpp"
#include "system_calls.hpp"

using namespace mpiacq;
using namespace mpiacq::bench;

namespace {

constexpr std::chrono::seconds patience{30};

void must_be(bool done, const char* what) {
  if (done) return;
  std::fprintf(stderr, "pmix_bench: %s failed\n", what);
  std::exit(1);
}

/// A program without streams. 0 if it does not start.
pid_t start(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t streams;
  ::posix_spawn_file_actions_init(&streams);
  for (const int stream : {0, 1, 2}) ::posix_spawn_file_actions_addopen(&streams, stream, "/dev/null", O_RDWR, 0);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, argv[0], &streams, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&streams);
  return failed == 0 ? child : 0;
}

int status_of(pid_t child) {
  int status = -1;
  if (child <= 0) return status;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

/// mpirun with ranks that sleep.
class sleeping_job {
 public:
  explicit sleeping_job(std::size_t ranks)
      : starter_(start({"mpirun.openmpi", "--oversubscribe", "-n", std::to_string(ranks), "sleep", "1000"})) {}
  ~sleeping_job() {
    if (starter_ == 0) return;
    ::kill(starter_, SIGTERM);
    (void)status_of(starter_);
  }
  sleeping_job(const sleeping_job&) = delete;
  sleeping_job& operator=(const sleeping_job&) = delete;
  [[nodiscard]] bool is_started() const { return starter_ != 0; }
  [[nodiscard]] process_id pid() const { return process_id{starter_}; }

  /// When all ranks have been started; empty if the starter answers no tool.
  [[nodiscard]] std::optional<job_description> wait_for(std::size_t ranks) const {
    for (const deadline until = clock::now() + patience; clock::now() < until;) {
      auto found = job::find(pid(), {}, time_limit{until, -1});
      // A starter that has not written its rendezvous file yet is known by its ranks' variables.
      if (found && found->source == interface_kind::mpir) return std::nullopt;
      if (found && found->source == interface_kind::pmix && found->processes->size() == ranks) return std::move(*found);
    }
    return std::nullopt;
  }

 private:
  pid_t starter_;
};

/// The command line of the floor.
std::vector<std::string> smallest_tool(const sleeping_job& job, const job_description& seen) {
  auto process = process_facts::open(job.pid());
  must_be(process.has_value(), "opening the starter");
  const auto server = pmix::find_server(std::make_shared<const process_facts>(std::move(*process)));
  must_be(server && *server, "finding the server");
  const auto rank = process_facts::open(seen.processes->pid(entry_index{0}));
  must_be(rank && rank->environment(), "reading the environment of a rank");
  return {MPIACQ_PMIX_TOOL, (*server)->library, (*server)->uri,
          pmix::server_in_environment(*rank->environment()).nspace, std::to_string(seen.processes->size())};
}

void attach_once(process_id starter, std::size_t ranks) {
  const auto subject = job::attach(starter);
  must_be(subject.has_value(), "attaching");
  const auto event = (*subject)->next(clock::now() + patience);
  must_be(event && *event && std::holds_alternative<job_attached>(**event), "the first event");
  must_be((*subject)->processes()->size() == ranks, "the process table");
  must_be((*subject)->detach().has_value(), "detaching");
}

/// False: this machine cannot measure it, which was said.
bool measure(std::size_t ranks) {
  const sleeping_job job(ranks);
  if (!job.is_started()) {
    fmt::print("skipped: mpirun.openmpi is not installed\n");
    return false;
  }
  const auto seen = job.wait_for(ranks);
  if (!seen) {
    fmt::print("skipped: mpirun.openmpi answers no tool by PMIx: it is not Open MPI 5, or does not run here\n");
    return false;
  }
  const auto words = smallest_tool(job, *seen);
  const auto floor = [&] { must_be(status_of(start(words)) == 0, "the smallest tool"); };
  const auto attach = [&] { attach_once(job.pid(), ranks); };
  const auto find = [&] {
    const auto found = job::find(job.pid(), {}, time_limit{clock::now() + patience, -1});
    must_be(found && found->source == interface_kind::pmix && found->processes->size() == ranks, "finding the job");
  };
  const system_call_counter counter;
  round_limits limits;
  limits.fewest = 15;
  limits.milliseconds = 6000;
  const auto [bare, attached, found] = in_turn(limits, floor, attach, find);
  const std::string what = "a program that does PMIx_tool_init, one query of the process table, PMIx_tool_finalize";
  measurement("attach by PMIx", ranks, "ranks")
      .ours(attached)
      .floor(what, bare)
      .calls(counter.of(attach), counter.of(floor))
      .print();
  measurement("find by PMIx", ranks, "ranks")
      .ours(found)
      .floor(what, bare)
      .calls(counter.of(find), counter.of(floor))
      .print();
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "PRTE_ALLOW_RUN_AS_ROOT",
                           "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM"}) {
    ::setenv(name, "1", 1);
  }
  for (const std::size_t ranks : sizes(argc, argv, {4})) {
    if (!measure(ranks)) break;
  }
  return 0;
}
