// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Stacks of 32-bit programs, walked by a 64-bit tool, compared with the program's own knowledge of its stack.
#include "stopped_process.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

constexpr const char* builds_32[] = {"i386_optimised", "i386_frame_pointers", "i386_stripped", "i386_static",
                                     "i386_no_header"};

[[maybe_unused]] void check_known_32(const std::string& build, std::vector<std::string> way) {
  way.insert(way.begin(), stack_program(build));
  stopped_process p{way};
  walker w{p.pid()};
  const raw_stack stack = w.walk(p.main_registers(), {.max_frames = 100000});
  CAPTURE(way, addresses(stack), name(stack.end), stack.why);
  CHECK(contains(stack, p.known_of_main()));
  CHECK(stack.end == stack_end::outermost);
  CHECK(stack.thread == thread_id{p.number()});
}

}  // namespace

#ifdef MPIACQ_HAVE_32_BIT_STACKS
#define MPIACQ_32_BIT_STACKS() static_cast<void>(builds_32)
#else
#define MPIACQ_32_BIT_STACKS() \
  MPIACQ_SKIP("the compiler makes no programs of 32 bits here (libc6-dev-i386), or the kernel runs none")
#endif

TEST_CASE("32 bits: the stack is walked in every build of a program") {
  MPIACQ_32_BIT_STACKS();
  for (const char* build : builds_32) check_known_32(build, {"recursion", "200"});
}

TEST_CASE("32 bits: a stack of thirty thousand calls is walked") {
  MPIACQ_32_BIT_STACKS();
  for (const char* build : {"i386_optimised", "i386_frame_pointers"}) check_known_32(build, {"recursion", "30000"});
}

TEST_CASE("32 bits: a walk passes a signal handler and reaches the interrupted instruction") {
  MPIACQ_32_BIT_STACKS();
  for (const char* build : builds_32) check_known_32(build, {"fault"});
}

TEST_CASE("32 bits: a walk passes a signal handler on an alternate stack") {
  MPIACQ_32_BIT_STACKS();
  for (const char* build : builds_32) check_known_32(build, {"alternate", "200"});
}

TEST_CASE("32 bits: a walk begins at a null pointer that was called, and at an unmapped address") {
  MPIACQ_32_BIT_STACKS();
  for (const char* build : builds_32) {
    check_known_32(build, {"null"});
    check_known_32(build, {"wild"});
  }
}

TEST_CASE("32 bits: a walk passes calls that are the last instruction of their function") {
  MPIACQ_32_BIT_STACKS();
  for (const char* build : builds_32) check_known_32(build, {"noreturn"});
}

TEST_CASE("32 bits: the vDSO, in which a system call waits, is in the stack") {
  MPIACQ_32_BIT_STACKS();
  stopped_process p{{stack_program("i386_optimised"), "recursion", "1"}};
  walker w{p.pid()};
  const target_address pc = w.walk(p.main_registers()).frames.front().pc;
  const auto vdso =
      std::find_if(w.modules.begin(), w.modules.end(), [](const unwind_module& m) { return m.file->path == "[vdso]"; });
  REQUIRE(vdso != w.modules.end());
  CHECK((pc >= vdso->begin && pc < vdso->end));
}

TEST_CASE("32 bits: the frames that a signal has pushed are marked") {
  MPIACQ_32_BIT_STACKS();
  stopped_process p{{stack_program("i386_optimised"), "fault", "1"}};
  walker w{p.pid()};
  const raw_stack stack = w.walk(p.main_registers());
  std::size_t signals = 0;
  for (std::size_t i = 1; i < stack.frames.size(); ++i) {
    CHECK(stack.frames[i].is_return_address == !stack.frames[i - 1].signal_frame);
    if (stack.frames[i].signal_frame) ++signals;
  }
  CHECK(signals == 1);
}

TEST_CASE("32 bits: code without a table ends the walk, with its address") {
  MPIACQ_32_BIT_STACKS();
  stopped_process p{{stack_program("i386_optimised"), "made"}};
  walker w{p.pid()};
  const raw_stack stack = w.walk(p.main_registers());
  CHECK(stack.frames.back().pc.value() == *p.known_of_main().front());
  CHECK(stack.end == stack_end::no_unwind_info);
  CHECK_THAT(stack.why, ContainsSubstring("which is in no module"));
}

TEST_CASE("32 bits: the stacks of fifty threads are walked") {
  MPIACQ_32_BIT_STACKS();
  stopped_process p{{stack_program("i386_optimised"), "threads", "50"}};
  walker w{p.pid()};
  const auto stacks = w.stacks->walk(p.registers);
  REQUIRE(stacks.has_value());
  CHECK(stacks_as_printed(*stacks, p) == 50);
}
