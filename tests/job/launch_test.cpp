// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The library as a debugger links it: a job's events in order, with both kinds of breakpoints, and two jobs at a time.
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "breakpoint_registers.hpp"
#include "catch.hpp"
#include "mpiacq/job/job.hpp"
#include "open_descriptors.hpp"
#include "patience.hpp"
#include "run_command.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

struct seen {
  std::size_t spawns = 0;
  std::size_t processes = 0;
  std::vector<std::string> notices;
  std::optional<exit_status> end;
};

/// Takes one event of the job, and lets it go on; false at its end.
bool follow(job& subject, seen& so_far) {
  auto event = subject.next(clock::now() + patience);
  REQUIRE(event.has_value());
  REQUIRE(event->has_value());
  if (std::holds_alternative<job_spawned>(**event)) {
    ++so_far.spawns;
    so_far.processes = subject.processes()->size();
    REQUIRE(subject.resume().has_value());
  } else if (const auto* notice = std::get_if<job_notice>(&**event)) {
    so_far.notices.push_back(notice->what.message);
  } else if (const auto* end = std::get_if<starter_ended>(&**event)) {
    so_far.end = end->status;
    return false;
  }
  return true;
}

std::unique_ptr<job> launch(const std::string& starter, const scratch_folder& folder, job_options options = {}) {
  ::setenv("MPIACQ_ORACLE", folder.path(starter).c_str(), 1);
  auto launched = job::launch({MPIACQ_STARTERS "/" + starter, "--exit", "3"}, std::move(options));
  ::unsetenv("MPIACQ_ORACLE");
  REQUIRE(launched.has_value());
  return std::move(*launched);
}

std::vector<std::string> kinds() {
  std::vector<std::string> all = {"starter_pie", "starter_threads", "starter_children_call", "starter_execs_itself"};
#ifdef MPIACQ_HAVE_32_BIT_STARTERS
  all.insert(all.end(), {"starter_32", "starter_32_static", "starter_32_threads", "starter_32_loads_later"});
#endif
#ifdef MPIACQ_HAVE_MUSL_STARTERS
  all.insert(all.end(), {"starter_musl", "starter_musl_static_pie"});
#endif
  return all;
}

/// starter_pie with pipes of its own for standard input and output, which waits for a byte before each step.
class stepping_starter {
 public:
  stepping_starter() {
    REQUIRE(::pipe2(input_, O_CLOEXEC) == 0);
    REQUIRE(::pipe2(output_, O_CLOEXEC) == 0);
  }
  ~stepping_starter() {
    no_more_steps();
    ::close(output_[0]);
  }
  stepping_starter(const stepping_starter&) = delete;
  stepping_starter& operator=(const stepping_starter&) = delete;

  std::unique_ptr<job> launch(const scratch_folder& folder, job_options options) {
    const int own_input = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    const int own_output = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    ::dup2(input_[0], STDIN_FILENO);
    ::dup2(output_[1], STDOUT_FILENO);
    ::setenv("MPIACQ_ORACLE", folder.path("starter_pie").c_str(), 1);
    auto launched = job::launch({MPIACQ_STARTERS "/starter_pie", "--step", "--exit", "3"}, std::move(options));
    ::unsetenv("MPIACQ_ORACLE");
    ::dup2(own_input, STDIN_FILENO);
    ::dup2(own_output, STDOUT_FILENO);
    for (const int fd : {own_input, own_output, input_[0], output_[1]}) ::close(fd);
    REQUIRE(launched.has_value());
    return std::move(*launched);
  }
  void await_ready() const {
    char c = 0;
    while (::read(output_[0], &c, 1) == 1 && c != '\n') {
    }
  }
  void no_more_steps() {
    if (input_[1] >= 0) ::close(std::exchange(input_[1], -1));
  }

 private:
  int input_[2] = {-1, -1};
  int output_[2] = {-1, -1};
};

/// The process that traces for this program, which is the child of the guard that this program has started.
pid_t tracer_client() {
  const auto children = [](pid_t parent) {
    const std::string self = std::to_string(parent);
    std::ifstream list("/proc/" + self + "/task/" + self + "/children");
    return std::vector<pid_t>(std::istream_iterator<pid_t>(list), {});
  };
  for (const pid_t guard : children(::getpid())) {
    for (const pid_t tracing : children(guard)) {
      if (file_contents("/proc/" + std::to_string(tracing) + "/comm") == "tracer\n") return tracing;
    }
  }
  FAIL("no tracing process");
  return 0;
}

}  // namespace

TEST_CASE("a job whose tracing process is killed before the table is there runs on, and its end is reported") {
  job_options options;
  options.breakpoints = GENERATE(from_range(kinds_here()));
  const scratch_folder folder;
  stepping_starter starter;
  const auto subject = starter.launch(folder, std::move(options));
  // It runs, and waits for its first step.
  std::thread waits([&] { starter.await_ready(); });
  const auto nothing = subject->next(clock::now() + std::chrono::seconds(2));
  waits.join();
  REQUIRE(nothing.has_value());
  REQUIRE_FALSE(nothing->has_value());
  ::kill(tracer_client(), SIGKILL);
  const auto lost = subject->next(clock::now() + patience);
  REQUIRE(lost.has_value());
  REQUIRE(lost->has_value());
  REQUIRE(std::holds_alternative<job_lost>(**lost));
  CHECK_THAT(std::get<job_lost>(**lost).why.message, ContainsSubstring("signal 9"));
  starter.no_more_steps();
  seen all;
  while (follow(*subject, all)) {
  }
  CHECK(all.spawns == 0);
  REQUIRE(all.end.has_value());
  CHECK_FALSE(all.end->signaled);
  CHECK(all.end->value == 3);
  const auto said = read_oracle(folder.path("starter_pie"));
  CHECK(said.at("exit") == "3");
  for (int i = 0; i < 4; ++i) CHECK(said.at("rank." + std::to_string(i) + ".wait_status") == "0x0");
}

TEST_CASE("with software breakpoints, threads, forked children and execs behave as with hardware ones") {
  const std::string starter = GENERATE(from_range(kinds()));
  INFO(starter);
  const scratch_folder folder;
  job_options options;
  options.breakpoints = breakpoint_kind::software;
  const auto subject = launch(starter, folder, std::move(options));
  seen all;
  while (follow(*subject, all)) {
  }
  CHECK(all.spawns == 1);
  CHECK(all.processes == 4);
  CHECK(all.notices.empty());
  CHECK(all.end == exit_status{false, 3, false});
  const auto said = read_oracle(folder.path(starter));
  CHECK(said.at("exit") == "3");
  if (starter == "starter_children_call") {
    for (int child = 0; child < 6; ++child) {
      CHECK(said.at("child." + std::to_string(child) + ".wait_status") == "0x1100");
    }
  }
}

TEST_CASE("two jobs at a time, in one program, each with its own tracer") {
  const scratch_folder folder;
  const auto first = launch("starter_pie", folder);
  const auto second = launch("starter_static", folder);
  seen of_first, of_second;
  bool first_runs = true, second_runs = true;
  while (first_runs || second_runs) {
    if (first_runs) first_runs = follow(*first, of_first);
    if (second_runs) second_runs = follow(*second, of_second);
  }
  CHECK(of_first.spawns == 1);
  CHECK(of_second.spawns == 1);
  CHECK(of_first.end == of_second.end);
}

TEST_CASE("the end of a launched program without children is reported without a timer") {
  const auto launched = job::launch({"/bin/sh", "-c", "exit 3"}, {});
  REQUIRE(launched.has_value());
  const std::unique_ptr<job>& subject = *launched;
  std::optional<exit_status> end;
  while (!end) {
    pollfd events{subject->event_descriptor(), POLLIN, 0};
    REQUIRE(::poll(&events, 1, 30000) == 1);
    const auto event = subject->next(clock::now());
    REQUIRE(event.has_value());
    if (!*event) continue;
    if (const auto* told = std::get_if<starter_ended>(&**event)) end = told->status;
  }
  CHECK(end == exit_status{false, 3, false});
}

TEST_CASE("a job that is destroyed while its starter is held runs on, and no descriptor stays open") {
  const std::size_t before = open_descriptors();
  for (int round = 0; round < 10; ++round) {
    const scratch_folder folder;
    {
      const auto subject = launch("starter_pie", folder);
      bool spawned = false;
      while (!spawned) {
        auto event = subject->next(clock::now() + patience);
        REQUIRE(event.has_value());
        REQUIRE(event->has_value());
        spawned = std::holds_alternative<job_spawned>(**event);
      }
    }
    CHECK(comes_true([&] { return read_oracle(folder.path("starter_pie")).count("exit") != 0; }));
    CHECK(read_oracle(folder.path("starter_pie")).at("being_debugged_at_end") == "0");
  }
  CHECK(open_descriptors() == before);
}
