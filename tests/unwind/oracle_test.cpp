// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Walks, compared with gdb and eu-stack at the same stop.
#include <fstream>
#include <sstream>

#include <unistd.h>

#include "gdb.hpp"
#include "run_command.hpp"
#include "stopped_process.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

std::vector<std::uint64_t> from_gdb(pid_t pid) {
  // gdb shows inlined calls as frames with the pc of the frame that contains them.
  const std::string script =
      "python\nf = gdb.newest_frame()\nwhile f is not None:\n"
      "  if f.type() != gdb.INLINE_FRAME: print('frame', hex(f.pc()))\n  f = f.older()\n";
  const scratch_folder folder;
  std::ofstream(folder.path("script")) << script;
  const auto said = run_command(
      gdb_command({"-p", std::to_string(pid), "-ex", "set backtrace past-main on", "-x", folder.path("script")}));
  std::vector<std::uint64_t> all;
  std::istringstream lines{said.out};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("frame 0x")) all.push_back(std::stoull(line.substr(6), nullptr, 16));
  }
  return all;
}

std::vector<std::uint64_t> from_eu_stack(pid_t pid) {
  const auto said = run_command({"eu-stack", "-1", "-n", "0", "-p", std::to_string(pid)});
  std::vector<std::uint64_t> all;
  std::istringstream lines{said.out};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('#')) continue;
    const std::size_t at = line.find("0x");
    if (at != std::string::npos) all.push_back(std::stoull(line.substr(at), nullptr, 16));
  }
  return all;
}

using reader = std::vector<std::uint64_t> (*)(pid_t);

void compare(reader oracle, const std::string& build, std::vector<std::string> way) {
  way.insert(way.begin(), stack_program(build));
  stopped_process p{way};
  walker w{p.pid()};
  const raw_stack stack = w.walk(p.main_registers());
  const auto theirs = oracle(p.number());
  CAPTURE(way, stack.why);
  CHECK(addresses(stack) == theirs);
}

}  // namespace

TEST_CASE("gdb finds the same frames") {
  if (!is_installed("gdb")) MPIACQ_SKIP(gdb_not_installed);
  for (const char* build : {"optimised", "frame_pointers", "static_pie"}) {
    compare(from_gdb, build, {"recursion", "50"});
    compare(from_gdb, build, {"fault", "3"});
  }
  compare(from_gdb, "optimised", {"alternate"});
  compare(from_gdb, "optimised", {"null"});
  compare(from_gdb, "optimised", {"noreturn"});
  compare(from_gdb, "optimised", {"threads", "10"});
  for (const char* way : {"templates", "virtual", "catch", "throw"}) compare(from_gdb, "deep", {way});
}

TEST_CASE("eu-stack finds the same frames") {
  if (!is_installed("eu-stack")) MPIACQ_SKIP("eu-stack is not installed");
  for (const char* build : {"optimised", "frame_pointers", "stripped", "static_pie"}) {
    compare(from_eu_stack, build, {"recursion", "50"});
    compare(from_eu_stack, build, {"fault", "3"});
  }
  for (const char* way : {"templates", "virtual", "catch", "throw"}) compare(from_eu_stack, "deep", {way});
}

#ifdef MPIACQ_HAVE_32_BIT_STACKS
constexpr bool have_32_bits = true;
#else
constexpr bool have_32_bits = false;
#endif

TEST_CASE("32 bits: gdb finds the same frames") {
  if (!have_32_bits)
    MPIACQ_SKIP("the compiler makes no programs of 32 bits here (libc6-dev-i386), or the kernel runs none");
  if (!is_installed("gdb")) MPIACQ_SKIP(gdb_not_installed);
  for (const char* build : {"i386_optimised", "i386_frame_pointers", "i386_static"}) {
    compare(from_gdb, build, {"recursion", "50"});
    compare(from_gdb, build, {"fault", "3"});
  }
  compare(from_gdb, "i386_optimised", {"alternate"});
  compare(from_gdb, "i386_optimised", {"null"});
  compare(from_gdb, "i386_optimised", {"threads", "10"});
}

TEST_CASE("32 bits: eu-stack finds the same frames, up to its last one") {
  if (!have_32_bits)
    MPIACQ_SKIP("the compiler makes no programs of 32 bits here (libc6-dev-i386), or the kernel runs none");
  if (!is_installed("eu-stack")) MPIACQ_SKIP("eu-stack is not installed");
  constexpr std::size_t calls = 50;
  for (const char* build : {"i386_optimised", "i386_frame_pointers", "i386_stripped", "i386_static"}) {
    stopped_process p{{stack_program(build), "recursion", std::to_string(calls)}};
    walker w{p.pid()};
    auto ours = addresses(w.walk(p.main_registers()));
    const auto theirs = from_eu_stack(p.number());
    CAPTURE(build);
    // eu-stack stops at a main that aligns its stack.
    REQUIRE(theirs.size() > calls);
    REQUIRE(ours.size() >= theirs.size());
    ours.resize(theirs.size());
    CHECK(ours == theirs);
  }
}
