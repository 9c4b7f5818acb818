// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Walks, compared with the program's own knowledge of its stack.
#include <elf.h>

#include "patience.hpp"
#include "stopped_process.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

constexpr const char* all_builds[] = {"optimised",  "frame_pointers", "stripped",
                                      "static_pie", "no_header",      "no_build_id"};

void check_known(const std::string& build, std::vector<std::string> way, stack_end end = stack_end::outermost) {
  way.insert(way.begin(), stack_program(build));
  stopped_process p{way};
  walker w{p.pid()};
  const raw_stack stack = w.walk(p.main_registers(), {.max_frames = 100000});
  CAPTURE(way, addresses(stack), name(stack.end), stack.why);
  CHECK(contains(stack, p.known_of_main()));
  CHECK(stack.end == end);
  CHECK(stack.why.empty() == (end == stack_end::outermost));
  CHECK(stack.thread == thread_id{p.number()});
}

}  // namespace

TEST_CASE("the stack is walked in every build of a program") {
  for (const char* build : all_builds) check_known(build, {"recursion", "200"});
}

TEST_CASE("a stack of thirty thousand calls is walked") {
  for (const char* build : {"optimised", "frame_pointers"}) check_known(build, {"recursion", "30000"});
}

TEST_CASE("a walk passes a signal handler and reaches the interrupted instruction, the first of its function") {
  for (const char* build : all_builds) check_known(build, {"fault"});
}

TEST_CASE("a walk passes a signal handler on an alternate stack") {
  for (const char* build : all_builds) check_known(build, {"alternate", "200"});
}

TEST_CASE("a walk begins at a null pointer that was called") {
  for (const char* build : all_builds) check_known(build, {"null"});
}

TEST_CASE("a walk begins at an unmapped address that was called") {
  for (const char* build : all_builds) check_known(build, {"wild"});
}

TEST_CASE("a walk passes calls that are the last instruction of their function") {
  for (const char* build : all_builds) check_known(build, {"noreturn"});
}

TEST_CASE("a walk passes templates, virtual calls, callbacks and exceptions") {
  for (const char* way : {"templates", "virtual", "catch", "throw"}) check_known("deep", {way});
}

TEST_CASE("frames are marked as called or interrupted") {
  stopped_process p{{stack_program("optimised"), "fault", "1"}};
  walker w{p.pid()};
  const raw_stack stack = w.walk(p.main_registers());
  CHECK_FALSE(stack.frames.front().is_return_address);
  CHECK_FALSE(stack.frames.front().signal_frame);
  std::size_t signals = 0;
  for (std::size_t i = 1; i < stack.frames.size(); ++i) {
    CHECK(stack.frames[i].is_return_address == !stack.frames[i - 1].signal_frame);
    if (stack.frames[i].signal_frame) ++signals;
  }
  CHECK(signals == 1);
}

TEST_CASE("code without a table ends the walk, with its address") {
  stopped_process p{{stack_program("optimised"), "made"}};
  walker w{p.pid()};
  const raw_stack stack = w.walk(p.main_registers());
  const known_stack& known = p.known_of_main();
  REQUIRE(known.size() > 1);
  CHECK(stack.frames.back().pc.value() == *known.front());
  CHECK(stack.end == stack_end::no_unwind_info);
  CHECK_THAT(stack.why, ContainsSubstring("which is in no module"));
}

TEST_CASE("the stack of a program that calls the vDSO is walked wherever it is stopped") {
  stopped_process p{{stack_program("optimised"), "clock"}};
  walker w{p.pid()};
  bool was_in_vdso = false;
  // On a busy machine, a program that is stopped again at once has not run in between.
  const auto until = std::chrono::steady_clock::now() + patience;
  for (int i = 0; i < 50 || (!was_in_vdso && std::chrono::steady_clock::now() < until); ++i) {
    if (i != 0) {
      p.go_on();
      p.stop();
    }
    const raw_stack stack = w.walk(p.main_registers());
    CAPTURE(addresses(stack), stack.why);
    CHECK(contains(stack, p.known_of_main()));
    CHECK(stack.end == stack_end::outermost);
    for (const unwind_module& m : w.modules) {
      if (m.file->path == "[vdso]" && p.main_registers().pc >= m.begin && p.main_registers().pc < m.end)
        was_in_vdso = true;
    }
  }
  CHECK(was_in_vdso);
}

TEST_CASE("the tops of two hundred threads are read with one call") {
  stopped_process p{{stack_program("optimised"), "threads", "200"}};
  REQUIRE(p.registers.size() == 201);
  walker w{p.pid()};
  const auto stacks = w.stacks->walk(p.registers);
  REQUIRE(stacks.has_value());
  REQUIRE(stacks->size() == 201);
  CHECK(stacks_as_printed(*stacks, p) == 200);
  const std::size_t calls = w.memory.calls;
  REQUIRE(w.stacks->walk(p.registers).has_value());
  CHECK(w.memory.calls == calls + 1);  // the tables have been read before
}

TEST_CASE("a walk ends at the requested number of frames") {
  stopped_process p{{stack_program("optimised"), "recursion", "50"}};
  walker w{p.pid()};
  const raw_stack whole = w.walk(p.main_registers());
  REQUIRE(whole.end == stack_end::outermost);
  const raw_stack exactly = w.walk(p.main_registers(), {.max_frames = whole.frames.size()});
  CHECK(exactly.frames == whole.frames);
  CHECK(exactly.end == stack_end::outermost);
  const raw_stack cut = w.walk(p.main_registers(), {.max_frames = whole.frames.size() - 1});
  CHECK(cut.frames.size() == whole.frames.size() - 1);
  CHECK(cut.end == stack_end::frame_limit);
  CHECK_THAT(cut.why, ContainsSubstring("more than"));
  CHECK(w.walk(p.main_registers(), {.max_frames = 0}).frames.size() == 1);
}

TEST_CASE("tables are read once for eight processes of one program") {
  const auto shared = std::make_shared<unwind_tables>();
  std::size_t first = 0;
  std::size_t later = 0;
  for (int i = 0; i < 8; ++i) {
    stopped_process p{{stack_program("stripped"), "recursion", "30"}};
    walker w{p.pid(), shared};
    const std::size_t before = w.memory.calls;
    const raw_stack stack = w.walk(p.main_registers());
    CHECK(contains(stack, p.known_of_main()));
    const std::size_t calls = w.memory.calls - before;
    (i == 0 ? first : later) += calls;
  }
  CHECK(first > 2);
  // One read for the top of each stack. A process may have stopped in another function of the C library than the first
  // one; then one more piece of the table is read.
  CHECK(later >= 7);
  CHECK(later <= 7 + 2);
}

TEST_CASE("the modules of a process cost one read, and modules of different processes are distinguished") {
  stopped_process p{{stack_program("optimised"), "recursion", "1"}};
  live_memory memory{p.pid()};
  const auto map = unwind_modules_of(p.pid(), memory);
  REQUIRE(map.has_value());
  CHECK(memory.calls == 1);
  CHECK(map->abi.pointer_size == 8);
  for (std::size_t i = 0; i < map->modules.size(); ++i) {
    const unwind_module& m = map->modules[i];
    CAPTURE(m.file->path);
    CHECK(m.begin < m.end);
    CHECK_FALSE(m.eh_frame_hdr.is_null());
    CHECK_FALSE(m.file->build_id.empty());
    if (i != 0) CHECK(map->modules[i - 1].end <= m.begin);
  }
  CHECK(unwind_modules_of(process_id{1 << 30}, memory).error().code == error_code::process_gone);
}

TEST_CASE("an unsupported ABI is refused with a reason") {
  live_memory memory{process_id{1}};
  const auto sparc =
      unwinder::create(abi_of_elf(ELFCLASS32, ELFDATA2MSB, EM_SPARC), std::make_shared<unwind_tables>(), {}, memory);
  REQUIRE_FALSE(sparc.has_value());
  CHECK(sparc.error().code == error_code::unsupported);
  CHECK_THAT(sparc.error().message, ContainsSubstring("32-bit"));
  CHECK(unwinder::create(abi_of_elf(ELFCLASS64, ELFDATA2LSB, EM_X86_64), nullptr, {}, memory).error().code ==
        error_code::invalid_argument);
}
