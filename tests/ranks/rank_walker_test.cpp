// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Stacks that are walked after their process has gone on: as they were, or not at all.
#include "rank_walker.hpp"

#include <filesystem>

#include "stopped_process.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

std::optional<std::vector<raw_stack>> walked(rank_walker& subject) {
  auto stacks = subject.walk({.max_frames = 100000});
  REQUIRE(stacks.has_value());
  return std::move(*stacks);
}

result<void> copied(rank_walker& subject, const std::vector<thread_registers>& threads) {
  std::vector<std::byte> room;
  return subject.copy(threads, room);
}

}  // namespace

TEST_CASE("a copied stack is walked as it was when the process has gone on and changed it") {
  stopped_process p{{stack_program("optimised"), "clock"}};
  rank_walker subject{p.pid(), std::make_shared<unwind_tables>(), std::make_shared<module_catalogue>()};
  const auto there = subject.walk_held(p.registers, {});
  REQUIRE(there.has_value());
  REQUIRE(copied(subject, p.registers));
  const target_address around = p.main_registers().sp - 256;
  live_memory memory{p.pid()};
  std::vector<std::byte> before(512), now(512);
  REQUIRE(read_exact(memory, around, before));
  p.go_on();
  do {
    REQUIRE(read_exact(memory, around, now));
  } while (now == before);
  const auto stacks = walked(subject);
  REQUIRE(stacks);
  CHECK(stacks->front().frames == there->front().frames);
  CHECK(contains(stacks->front(), p.known_of_main()));
}

TEST_CASE("a stack that is deeper than what is copied is walked while the process is held") {
  stopped_process p{{stack_program("optimised"), "recursion", "60000"}};
  rank_walker subject{p.pid(), std::make_shared<unwind_tables>(), std::make_shared<module_catalogue>()};
  subject.prepare();
  REQUIRE(copied(subject, p.registers));
  CHECK_FALSE(walked(subject));
  const auto held = subject.walk_held(p.registers, {.max_frames = 100000});
  REQUIRE(held.has_value());
  CHECK(contains(held->front(), p.known_of_main()));
}

TEST_CASE("a stack that leads to another one is not walked in its copy") {
  stopped_process p{{stack_program("optimised"), "alternate", "200"}};
  rank_walker subject{p.pid(), std::make_shared<unwind_tables>(), std::make_shared<module_catalogue>()};
  REQUIRE(copied(subject, p.registers));
  CHECK_FALSE(walked(subject));
  const auto held = subject.walk_held(p.registers, {.max_frames = 100000});
  REQUIRE(held.has_value());
  CHECK(contains(held->front(), p.known_of_main()));
}

TEST_CASE("what a process was is not believed of what it has become") {
  live_process p{{"/bin/sh", "-c", "echo ready; read word; exec cat"}};
  REQUIRE(p.lines_until_ready().empty());
  rank_walker subject{p.pid(), std::make_shared<unwind_tables>(), std::make_shared<module_catalogue>()};
  subject.prepare();
  REQUIRE(copied(subject, {thread_registers{}}));
  const std::string program = "/proc/" + std::to_string(p.pid().value()) + "/exe";
  const auto shell = std::filesystem::read_symlink(program);
  p.tell('\n');
  p.tell('x');  // what cat will read
  p.tell('\n');
  REQUIRE(p.next_line() == "x");
  REQUIRE(std::filesystem::read_symlink(program) != shell);
  CHECK_FALSE(walked(subject));
}
