// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What a library in the separate process may not do. Each attempt has a library of its own.
#include <csignal>
#include <filesystem>
#include <fstream>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rank_process.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// An attempt that ends its library with SIGSYS. The report names the call.
struct forbidden {
  std::string thing;
  std::string call;
};
const std::vector<forbidden> ended_for{
    {"open_to_write", "openat"},
    {"make_socket", "socket"},
    {"make_child", "clone"},
    {"run_program", "execve"},
    {"trace_host", "ptrace"},
    {"signal_host", "kill"},
    {"signal_everybody", "kill"},
    {"write_to_host", "process_vm_writev"},
    {"read_from_host", "process_vm_readv"},
    {"make_thread", "with blocked signals, as for a new thread"},
    {"new_code", "mmap"},
};

std::string outcome_of(const std::string& thing, rank_process& rank, const queue_host_options& options = trusting()) {
  const auto report = read_with("attempt_" + thing, rank, options);
  return report ? problems_of(report) + notes_of(*report) : report.error().message;
}

const char* const trace = "/tmp/queue_library_was_here";

}  // namespace

TEST_CASE("a forbidden system call ends the library, and the error names the call") {
  rank_process rank({"receive:world:1:7:64"});
  for (const forbidden& one : ended_for) {
    INFO(one.thing);
    CHECK_THAT(outcome_of(one.thing, rank),
               ContainsSubstring("(" + one.call + ") in mqs_next_operation") && ContainsSubstring("SIGSYS"));
  }
  CHECK_FALSE(std::filesystem::exists(trace));
}

TEST_CASE("a library's constructor is as confined as its functions") {
  rank_process rank({"receive:world:1:7:64"});
  for (const forbidden& one : ended_for) {
    if (!std::filesystem::exists(library_path("attempt_" + one.thing + "_on_load"))) continue;
    INFO(one.thing);
    CHECK_THAT(outcome_of(one.thing + "_on_load", rank),
               ContainsSubstring("(" + one.call + ") in dlopen") && ContainsSubstring("SIGSYS"));
  }
  CHECK_FALSE(std::filesystem::exists(trace));
}

TEST_CASE("calls that the C library makes in passing are refused without ending the process") {
  rank_process rank({"receive:world:1:7:64"});
  CHECK_THAT(outcome_of("open_to_read", rank), ContainsSubstring("attempt: Permission denied"));
  CHECK_THAT(outcome_of("limit_host", rank), ContainsSubstring("attempt: Operation not permitted"));
}

TEST_CASE("a library cannot remove files") {
  rank_process rank({"receive:world:1:7:64"});
  // The file has a name of its own, because the tests that look for the trace run at the same time.
  const char* const file = "/tmp/queue_library_to_remove";
  std::ofstream(file) << "here";
  CHECK_THAT(outcome_of("remove_file", rank), ContainsSubstring("SIGSYS"));
  CHECK(std::filesystem::exists(file));
  std::filesystem::remove(file);
}

TEST_CASE("a library that handles SIGSYS itself is refused all the same") {
  rank_process rank({"receive:world:1:7:64"});
  CHECK_THAT(outcome_of("catch_refusal", rank), !ContainsSubstring("DONE"));
}

TEST_CASE("a library that calls abort has crashed") {
  rank_process rank({"receive:world:1:7:64"});
  CHECK_THAT(outcome_of("give_up", rank), ContainsSubstring("crashed in mqs_next_operation (SIGABRT)"));
}

TEST_CASE("a library that stops its process or closes its descriptors is ended at its time limit at the latest") {
  rank_process rank({"receive:world:1:7:64"});
  auto options = trusting();
  options.limits.call_time = std::chrono::milliseconds{300};
  CHECK_THAT(outcome_of("stop_itself", rank, options), ContainsSubstring("was still in mqs_next_operation"));
  CHECK_THAT(outcome_of("close_everything", rank, options), ContainsSubstring("in mqs_next_operation"));
}

TEST_CASE("messages that a library itself writes to the tool's socket end its session") {
  rank_process rank({"receive:world:1:7:64"});
  CHECK_THAT(outcome_of("talk_nonsense", rank), ContainsSubstring("sent a message that is no request"));
  CHECK_THAT(outcome_of("talk_without_end", rank), ContainsSubstring("sent an invalid frame"));
}

TEST_CASE("the memory that a library allocates is limited") {
  rank_process rank({"receive:world:1:7:64"});
  auto options = trusting();
  options.limits.allocated_bytes = 64U << 20U;
  const auto report = read_with("hoards", rank, options);
  REQUIRE(report);
  CHECK(report->communicators.size() == 1);
}

TEST_CASE("a killed tool leaves no separate process behind") {
  rank_process rank({"receive:world:1:7:64"});
  // Orphans become children of this process, so that it can wait for their end.
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);
  int said[2];
  REQUIRE(::pipe2(said, O_CLOEXEC) == 0);
  const pid_t tool = ::fork();
  REQUIRE(tool >= 0);
  if (tool == 0) {
    // The library hangs. Its process keeps the pipe open only through this copy: the tool's own closes on exec.
    ::dup2(said[1], STDERR_FILENO);
    static_cast<void>(read_with("hang", rank));
    ::_exit(0);
  }
  ::close(said[1]);
  // The helper has started once the tool has a child that runs the helper program.
  pid_t helper = 0;
  const std::string children = "/proc/" + std::to_string(tool) + "/task/" + std::to_string(tool) + "/children";
  while (helper == 0) {
    std::ifstream(children) >> helper;
    if (helper == 0) ::sched_yield();
  }
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, helper, 0));
  REQUIRE(process >= 0);
  REQUIRE(::kill(tool, SIGKILL) == 0);
  REQUIRE(::waitpid(tool, nullptr, 0) == tool);
  pollfd ending{process, POLLIN, 0};
  CHECK(::poll(&ending, 1, 10'000) == 1);
  ::close(process);
  ::close(said[0]);
  while (::waitpid(helper, nullptr, 0) < 0 && errno == EINTR) {
  }
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) == 0);
}

TEST_CASE("root's separate process becomes the owner of the job before it loads anything") {
  if (::geteuid() != 0) MPIACQ_SKIP("only root can become another user");
  rank_process rank({"receive:world:1:7:64"});
  auto options = trusting();
  options.owner = 65534;
  const auto report = read_with("attempt_whoami", rank, options);
  REQUIRE(report);
  CHECK_THAT(notes_of(*report), ContainsSubstring("attempt: user 65534 65534 group 65534 65534 others 0"));
  const auto own = read_with("attempt_whoami", rank);
  REQUIRE(own);
  CHECK_THAT(notes_of(*own), ContainsSubstring("attempt: user 0 0"));
}
