// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Walks, compared frame by frame with libunwind's own reader of other processes (libunwind-ptrace) at the same stop.
// That reader must be the tracer, so the test's own process traces the program.
#include "stopped_process.hpp"

#ifdef MPIACQ_HAVE_LIBUNWIND_PTRACE
#include <libunwind-ptrace.h>
#endif

using namespace mpiacq;
using namespace mpiacq::test;

#ifndef MPIACQ_HAVE_LIBUNWIND_PTRACE
TEST_CASE("libunwind-ptrace finds the same frames") {
  MPIACQ_SKIP("libunwind-ptrace is not installed");
}
#else

namespace {

/// The test's process traces one thread during the lifetime of this object.
class traced {
 public:
  explicit traced(thread_id thread) : thread_(static_cast<pid_t>(thread.value())) {
    REQUIRE(::ptrace(PTRACE_SEIZE, thread_, nullptr, nullptr) == 0);
    REQUIRE(::ptrace(PTRACE_INTERRUPT, thread_, nullptr, nullptr) == 0);
    int status = 0;
    REQUIRE(::waitpid(thread_, &status, __WALL) == thread_);
  }
  ~traced() { (void)::ptrace(PTRACE_DETACH, thread_, nullptr, nullptr); }
  traced(const traced&) = delete;
  traced& operator=(const traced&) = delete;

 private:
  pid_t thread_;
};

std::vector<std::uint64_t> from_libunwind(thread_id thread) {
  const traced held{thread};
  const unw_addr_space_t space = unw_create_addr_space(&_UPT_accessors, 0);
  REQUIRE(space != nullptr);
  void* process = _UPT_create(static_cast<pid_t>(thread.value()));
  REQUIRE(process != nullptr);
  unw_cursor_t cursor;
  REQUIRE(unw_init_remote(&cursor, space, process) == 0);
  std::vector<std::uint64_t> frames;
  int stepped = 0;
  do {
    unw_word_t pc = 0;
    REQUIRE(unw_get_reg(&cursor, UNW_REG_IP, &pc) == 0);
    frames.push_back(pc);
    stepped = unw_step(&cursor);
  } while (stepped > 0 && frames.size() < 1000);
  CHECK(stepped == 0);
  _UPT_destroy(process);
  unw_destroy_addr_space(space);
  return frames;
}

/// Every thread of a stopped program.
std::size_t compare(const std::string& build, std::vector<std::string> way) {
  way.insert(way.begin(), stack_program(build));
  stopped_process p{way};
  walker w{p.pid()};
  std::size_t compared = 0;
  for (const thread_registers& thread : p.registers) {
    const raw_stack ours = w.walk(thread);
    auto theirs = from_libunwind(thread.thread);
    // Some thread start functions have a return address of 0, which libunwind reports as one more frame.
    if (theirs.size() > 1 && theirs.back() == 0) theirs.pop_back();
    CAPTURE(way, thread.thread.value(), ours.why);
    CHECK(addresses(ours) == theirs);
    compared += theirs.size();
  }
  return compared;
}

}  // namespace

TEST_CASE("libunwind-ptrace finds the same frames") {
  std::size_t frames = 0;
  for (const char* build : {"optimised", "frame_pointers", "stripped", "static_pie", "no_build_id"}) {
    frames += compare(build, {"recursion", "50"});
    frames += compare(build, {"recursion", "900"});
    frames += compare(build, {"fault", "3"});
    frames += compare(build, {"alternate", "20"});
    frames += compare(build, {"noreturn"});
    frames += compare(build, {"threads", "5"});
  }
  for (const char* way : {"templates", "virtual", "catch", "throw"}) frames += compare("deep", {way});
  CHECK(frames > 5'000);
}
#endif
