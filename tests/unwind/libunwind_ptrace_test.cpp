// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Walks, compared frame by frame with libunwind's own reader of other processes (libunwind-ptrace) at the same stop.
// That reader must be the tracer, so the test's own process traces the program.
#include <algorithm>
#include <map>

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

/// The registers of one frame that are compared, by their DWARF numbers, which are libunwind's numbers too.
struct their_frame {
  std::uint64_t pc = 0;
  std::uint64_t sp = 0;
  std::map<std::size_t, std::uint64_t> kept;
};

#ifdef __x86_64__
constexpr std::size_t kept_numbers[] = {3, 6, 12, 13, 14, 15};
#else
constexpr std::size_t kept_numbers[] = {19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29};
#endif

std::vector<their_frame> from_libunwind(thread_id thread) {
  const traced held{thread};
  const unw_addr_space_t space = unw_create_addr_space(&_UPT_accessors, 0);
  REQUIRE(space != nullptr);
  void* process = _UPT_create(static_cast<pid_t>(thread.value()));
  REQUIRE(process != nullptr);
  unw_cursor_t cursor;
  REQUIRE(unw_init_remote(&cursor, space, process) == 0);
  std::vector<their_frame> frames;
  int stepped = 0;
  do {
    unw_word_t word = 0;
    their_frame& frame = frames.emplace_back();
    REQUIRE(unw_get_reg(&cursor, UNW_REG_IP, &word) == 0);
    frame.pc = word;
    REQUIRE(unw_get_reg(&cursor, UNW_REG_SP, &word) == 0);
    frame.sp = word;
    for (const std::size_t number : kept_numbers) {
      if (unw_get_reg(&cursor, static_cast<unw_regnum_t>(number), &word) == 0) frame.kept[number] = word;
    }
    stepped = unw_step(&cursor);
  } while (stepped > 0 && frames.size() < 1000);
  CHECK(stepped == 0);
  _UPT_destroy(process);
  unw_destroy_addr_space(space);
  return frames;
}

std::vector<std::uint64_t> program_counters(const std::vector<their_frame>& frames) {
  std::vector<std::uint64_t> all;
  for (const their_frame& frame : frames) all.push_back(frame.pc);
  return all;
}

/// The registers that called functions keep, in some frames of a stack: each costs a walk.
std::size_t compare_kept(walker& w, const thread_registers& thread, const std::vector<their_frame>& theirs) {
  std::size_t compared = 0;
  for (std::size_t i = 0; i + 1 < theirs.size(); i += 1 + theirs.size() / 8) {
    const auto ours = w.stacks->kept_registers(thread, i);
    REQUIRE(ours);
    if (!*ours) continue;
    CHECK((*ours)->sp.value() == theirs[i + 1].sp);
    for (const auto& [number, value] : theirs[i + 1].kept) {
      CAPTURE(i, number);
      CHECK((*ours)->by_dwarf_number[number] == value);
      ++compared;
    }
    CHECK((*ours)->by_dwarf_number[0] == 0);
  }
  return compared;
}

/// Every thread of a stopped program.
std::size_t compare(const std::string& build, std::vector<std::string> way, std::size_t& kept_compared) {
  way.insert(way.begin(), stack_program(build));
  stopped_process p{way};
  walker w{p.pid()};
  std::size_t compared = 0;
  for (const thread_registers& thread : p.registers) {
    const raw_stack ours = w.walk(thread);
    auto theirs = from_libunwind(thread.thread);
    // Some thread start functions have a return address of 0, which libunwind reports as one more frame.
    if (theirs.size() > 1 && theirs.back().pc == 0) theirs.pop_back();
    CAPTURE(way, thread.thread.value(), ours.why);
    CHECK(addresses(ours) == program_counters(theirs));
    for (std::size_t i = 0; i < std::min(ours.frames.size(), theirs.size()); ++i)
      CHECK(ours.frames[i].sp.value() == theirs[i].sp);
    kept_compared += compare_kept(w, thread, theirs);
    compared += theirs.size();
  }
  return compared;
}

}  // namespace

TEST_CASE("libunwind-ptrace finds the same frames, stack pointers and kept registers") {
  std::size_t frames = 0, kept = 0;
  for (const char* build : {"optimised", "frame_pointers", "stripped", "static_pie", "no_build_id"}) {
    frames += compare(build, {"recursion", "50"}, kept);
    frames += compare(build, {"recursion", "900"}, kept);
    frames += compare(build, {"fault", "3"}, kept);
    frames += compare(build, {"alternate", "20"}, kept);
    frames += compare(build, {"noreturn"}, kept);
    frames += compare(build, {"threads", "5"}, kept);
  }
  for (const char* way : {"templates", "virtual", "catch", "throw"}) frames += compare("deep", {way}, kept);
  CHECK(frames > 5'000);
  CHECK(kept > 500);
}
#endif
