// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// mpiacq queues where something comes in between: a signal, another tool, a person who waits.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <set>
#include <sstream>

#include <sys/ptrace.h>
#include <sys/wait.h>

#include "catch.hpp"
#include "on_terminal.hpp"
#include "queue_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

running_command started(const queue_job& job, const std::vector<std::string>& options = {}) {
  std::vector<std::string> words = {MPIACQ_COMMAND, "queues", "--trust-library"};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(std::to_string(job.pid()));
  return running_command(words);
}

/// The processes in which a tool runs libraries; none are there before all ranks are held.
std::set<pid_t> library_processes(pid_t tool) {
  std::set<pid_t> found;
  std::error_code gone;
  const std::filesystem::directory_iterator tasks("/proc/" + std::to_string(tool) + "/task", gone);
  for (auto task = begin(tasks); !gone && task != end(tasks); task.increment(gone)) {
    std::istringstream list(file_contents(task->path() / "children"));
    for (pid_t child = 0; list >> child;) {
      if (file_contents("/proc/" + std::to_string(child) + "/comm") == "mqd-host\n") found.insert(child);
    }
  }
  return found;
}

bool all_run(const queue_job& job) {
  for (const pid_t rank : job.ranks()) {
    if (!comes_true([&] { return runs_freely(rank); })) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("queues: a signal releases all ranks at once, and the report contains what was read") {
  struct way {
    int signal;
    std::vector<std::string> options;
  };
  for (const way& by : {way{SIGINT, {"--json"}}, way{SIGTERM, {}}}) {
    INFO(by.signal);
    queue_job job(3, {"receive:world:any:1:8", "@1", "library:" + queue_library("hang")});
    const auto ranks = job.ranks();
    running_command tool = started(job, by.options);
    std::set<pid_t> libraries;
    REQUIRE(comes_true([&] {
      libraries = library_processes(tool.pid());
      return libraries.size() == 1 && runs_freely(ranks[0]) && runs_freely(ranks[2]) && !runs_freely(ranks[1]);
    }));
    const auto begin = std::chrono::steady_clock::now();
    ::kill(tool.pid(), by.signal);
    const auto ended = tool.wait();
    // Nobody has waited until the library's time was up.
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(4));
    INFO(ended.out << ended.err);
    CHECK(ended.exit_code == 128 + by.signal);
    CHECK_THAT(ended.err, ContainsSubstring(by.signal == SIGINT ? "ended by SIGINT" : "ended by SIGTERM"));
    CHECK_THAT(ended.err, ContainsSubstring("the queues of 2 of 3 ranks had been read, and all ranks go on"));
    if (by.options.empty()) {
      CHECK_THAT(ended.out, ContainsSubstring("queues of 2 of 3 ranks, interrupted"));
      CHECK_THAT(ended.out, ContainsSubstring("rank 1: it was let go before it had been read"));
    } else {
      const json seen = json::parse(ended.out);
      CHECK(seen.at("interrupted") == true);
      CHECK(seen.at("ranks").at(0).at("outcome") == "complete");
      CHECK(seen.at("ranks").at(1).at("outcome") == "failed");
      CHECK(seen.at("ranks").at(2).at("outcome") == "complete");
    }
    CHECK(all_run(job));
    for (const pid_t library : libraries) CHECK(::kill(library, 0) != 0);
    CHECK(WEXITSTATUS(job.end()) == 0);
  }
}

TEST_CASE("queues: a signal ends the search for the ranks of a communicator") {
  queue_job job(2, {"comm:pair:1,0", "library:" + queue_library("hang")});
  running_command tool = started(job, {"--ranks", "comm:pair"});
  REQUIRE(comes_true([&] { return !library_processes(tool.pid()).empty(); }));
  ::kill(tool.pid(), SIGINT);
  const auto ended = tool.wait();
  CHECK(ended.exit_code == 128 + SIGINT);
  CHECK_THAT(ended.err, ContainsSubstring("interrupted"));
  CHECK(all_run(job));
}

TEST_CASE("queues: a rank that another tool holds for a moment is tried again") {
  // While the first rank's library hangs, the other rank is given back.
  queue_job job(2, {"receive:world:any:1:8", "@0", "library:" + queue_library("hang")});
  const pid_t traced = job.ranks().at(1);
  REQUIRE(::ptrace(PTRACE_SEIZE, traced, nullptr, nullptr) == 0);
  running_command tool = started(job, {"--json"});
  CHECK(comes_true([&] { return !library_processes(tool.pid()).empty(); }));
  ::ptrace(PTRACE_INTERRUPT, traced, nullptr, nullptr);
  REQUIRE(::waitpid(traced, nullptr, __WALL) == traced);
  ::ptrace(PTRACE_DETACH, traced, nullptr, nullptr);
  const auto ended = tool.wait();
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 1);
  const json seen = json::parse(ended.out);
  CHECK(seen.at("ranks").at(0).at("outcome") == "incomplete");
  CHECK(seen.at("ranks").at(1).at("outcome") == "complete");
  CHECK(seen.at("ranks").at(1).at("communicators").at(0).at("receives").size() == 1);
  CHECK(all_run(job));
}

TEST_CASE("queues: a terminal shows the progress if there are many ranks") {
  for (const int ranks : {2, 12}) {
    INFO(ranks);
    queue_job job(ranks, {"receive:world:any:1:8"});
    const std::string out = shown_on_terminal(
        {MPIACQ_COMMAND, "queues", "--trust-library", "--json", "-o", "/dev/null", std::to_string(job.pid())});
    INFO(out);
    CHECK((out.find("mpiacq: queues of 0 of 12 ranks") != std::string::npos) == (ranks == 12));
    // The line has gone at the end.
    CHECK((out.empty() || out.ends_with("\r\x1b[K")));
  }
}
