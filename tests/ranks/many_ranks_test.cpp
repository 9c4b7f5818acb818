// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// As many ranks as this process may have descriptors.
#include <algorithm>
#include <csignal>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catch.hpp"
#include "node_ranks.hpp"
#include "open_descriptors.hpp"

using namespace mpiacq;
using mpiacq::test::open_descriptors;

namespace {

constexpr rlim_t few_descriptors = 256;

/// For as long as this lives, this process may have so few descriptors.
class lowered_limit {
 public:
  lowered_limit() {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    const rlimit lowered{few_descriptors, before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &lowered) == 0);
  }
  ~lowered_limit() { (void)::setrlimit(RLIMIT_NOFILE, &before_); }
  lowered_limit(const lowered_limit&) = delete;
  lowered_limit& operator=(const lowered_limit&) = delete;

 private:
  rlimit before_{};
};

/// Copies of a program with a known stack. They share two pipes, so that they cost this process two descriptors.
class copies {
 public:
  copies(const std::string& program, std::size_t count) {
    int waits[2], says[2];
    REQUIRE(::pipe(waits) == 0);
    REQUIRE(::pipe(says) == 0);
    for (std::size_t i = 0; i < count; ++i) {
      const pid_t child = ::fork();
      REQUIRE(child >= 0);
      if (child == 0) {
        ::dup2(waits[0], STDIN_FILENO);
        ::dup2(says[1], STDOUT_FILENO);
        for (const int end : {waits[0], waits[1], says[0], says[1]}) ::close(end);
        ::execl(program.c_str(), program.c_str(), "recursion", "3", nullptr);
        ::_exit(127);
      }
      pids_.emplace_back(child);
    }
    ::close(waits[0]);
    ::close(says[1]);
    end_ = waits[1];
    said_ = says[0];
    wait_until_all_are_ready();
  }
  ~copies() {
    for (const process_id pid : pids_) ::kill(static_cast<pid_t>(pid.value()), SIGKILL);
    for (const process_id pid : pids_) ::waitpid(static_cast<pid_t>(pid.value()), nullptr, 0);
    ::close(end_);
    ::close(said_);
  }
  copies(const copies&) = delete;
  copies& operator=(const copies&) = delete;
  [[nodiscard]] const std::vector<process_id>& pids() const { return pids_; }

 private:
  /// Each writes all that it says with one call, and "ready" last.
  void wait_until_all_are_ready() {
    std::string text;
    std::size_t ready = 0;
    char bytes[4096];
    while (ready < pids_.size()) {
      const ssize_t got = ::read(said_, bytes, sizeof bytes);
      REQUIRE(got > 0);
      text.append(bytes, static_cast<std::size_t>(got));
      ready = 0;
      for (std::size_t at = 0; (at = text.find("ready\n", at)) != std::string::npos; ++at) ++ready;
    }
  }

  std::vector<process_id> pids_;
  int end_ = -1;
  int said_ = -1;
};

}  // namespace

TEST_CASE("stacks of more ranks than this process may have descriptors, with names") {
  const copies job(std::string(MPIACQ_STACKS) + "/optimised", few_descriptors + 10);
  const lowered_limit limit;
  auto node = node_ranks::of_processes(job.pids());
  REQUIRE(node.has_value());
  for (int look = 0; look < 2; ++look) {
    const node_stacks taken = (*node)->stacks();
    REQUIRE(taken.ranks.size() == job.pids().size());
    CHECK(taken.problems.empty());
    std::size_t whole = 0;
    for (const rank_stacks& rank : taken.ranks) {
      CAPTURE(rank.entry.value(), look);
      REQUIRE(rank.taken.has_value());
      const auto& frames = rank.threads.at(0).frames;
      const auto calls = std::count_if(frames.begin(), frames.end(),
                                       [](const stack_frame& f) { return f.place->function == "recurse"; });
      if (calls == 4 && rank.threads.at(0).end == stack_end::outermost) ++whole;
    }
    CHECK(whole == job.pids().size());
    CHECK(open_descriptors() < few_descriptors);
  }
}
