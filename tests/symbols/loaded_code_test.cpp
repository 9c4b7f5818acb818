// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The modules of processes, learnt from one of the processes for the others.
#include "mpiacq/process/loaded_code.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "catch.hpp"
#include "code_names/code_ranges.hpp"
#include "description.hpp"
#include "live_process.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// Reads /proc/PID/maps and the headers in the memory of each process separately.
void check_like_the_long_way(const loaded_code& code, process_id pid, memory_reader& memory) {
  const auto maps = read_process_maps(pid);
  REQUIRE(maps.has_value());
  CHECK(code.ranges == elf::code_ranges_in(elf::decode_mappings(*maps)));
  const auto modules = unwind_modules_in(*maps, pid, memory);
  REQUIRE(modules.has_value());
  CHECK(code.modules.abi == modules->abi);
  REQUIRE(code.modules.modules.size() == modules->modules.size());
  const code_map names = code_map::in(*maps, pid, memory);
  for (std::size_t i = 0; i < modules->modules.size(); ++i) {
    const unwind_module &ours = code.modules.modules[i], &long_way = modules->modules[i];
    CAPTURE(long_way.file->path);
    CHECK(ours.file->path == long_way.file->path);
    CHECK(ours.file->identity == long_way.file->identity);
    CHECK(ours.file->build_id == long_way.file->build_id);
    CHECK(ours.bias == long_way.bias);
    CHECK(ours.begin == long_way.begin);
    CHECK(ours.end == long_way.end);
    CHECK(ours.tables_begin == long_way.tables_begin);
    CHECK(ours.tables_end == long_way.tables_end);
    CHECK(ours.eh_frame_hdr == long_way.eh_frame_hdr);
    CHECK(ours.eh_frame_hdr_size == long_way.eh_frame_hdr_size);
    CHECK(ours.eh_frame == long_way.eh_frame);
    CHECK(ours.eh_frame_size == long_way.eh_frame_size);
  }
  for (const code_range& range : code.ranges) {
    CHECK(code.names.module_path(range.begin) == names.module_path(range.begin));
    CHECK(code.names.module_path(range.end - 1) == names.module_path(range.end - 1));
  }
}

/// A process that has reported that it is ready, and waits.
struct waiting {
  explicit waiting(const std::string& program) : process({program}), memory(process.pid()) {
    (void)process.lines_until_ready();
  }
  live_process process;
  live_memory memory;
};

}  // namespace

TEST_CASE("PROCMAP_QUERY gives the same mappings as the text of all mappings") {
  waiting one{fixture("pie")};
  const int maps = ::open(("/proc/" + std::to_string(one.process.pid().value()) + "/maps").c_str(), O_RDONLY);
  REQUIRE(maps >= 0);
  const auto asked = elf::query_code_ranges(maps);
  ::close(maps);
  if (!asked) MPIACQ_SKIP("the kernel has no PROCMAP_QUERY (Linux 6.11)");
  const auto text = read_process_maps(one.process.pid());
  REQUIRE(text.has_value());
  CHECK(*asked == elf::code_ranges_in(elf::decode_mappings(*text)));
  CHECK(asked->size() >= 4);  // the program, the C library, the dynamic linker, the vdso
}

TEST_CASE("the modules of a process are learnt from another process with the same files, without a read of memory") {
  module_catalogue catalogue;
  waiting first{fixture("pie")}, second{fixture("pie")}, third{fixture("pie")};
  const auto of_first = catalogue.learn(first.process.pid(), first.memory);
  REQUIRE(of_first.has_value());
  CHECK(catalogue.counts().whole == 1);
  check_like_the_long_way(*of_first, first.process.pid(), first.memory);
  for (waiting* other : {&second, &third}) {
    const std::size_t before = other->memory.calls;
    const auto learnt = catalogue.learn(other->process.pid(), other->memory);
    REQUIRE(learnt.has_value());
    if (catalogue.counts().whole == 1) CHECK(other->memory.calls == before);
    check_like_the_long_way(*learnt, other->process.pid(), other->memory);
  }
  // All three queries were within the second for which facts are valid, unless the machine is very busy.
  CHECK(catalogue.counts().shared + catalogue.counts().whole == 3);
}

TEST_CASE("a process of another program is learnt as a whole, and its libraries are known afterwards") {
  module_catalogue catalogue;
  waiting first{fixture("pie")}, second{fixture("stripped")};
  REQUIRE(catalogue.learn(first.process.pid(), first.memory).has_value());
  const auto learnt = catalogue.learn(second.process.pid(), second.memory);
  REQUIRE(learnt.has_value());
  CHECK(catalogue.counts().whole == 2);
  check_like_the_long_way(*learnt, second.process.pid(), second.memory);
}

TEST_CASE("a process with code without a file is learnt as a whole") {
  module_catalogue catalogue;
  live_memory memory{process_id{::getpid()}};
  void* code = ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(code != MAP_FAILED);
  for (int i = 0; i < 2; ++i) {
    const auto learnt = catalogue.learn(process_id{::getpid()}, memory);
    REQUIRE(learnt.has_value());
    check_like_the_long_way(*learnt, process_id{::getpid()}, memory);
  }
  CHECK(catalogue.counts().whole == 2);
  CHECK(catalogue.counts().shared == 0);
  ::munmap(code, 4096);
}

TEST_CASE("programs of 32 and of 64 bits do not share the vDSO") {
#ifdef MPIACQ_HAVE_32_BIT_LIBC
  module_catalogue catalogue;
  waiting wide{fixture("pie")}, narrow{fixture("pie_32")}, wide_again{fixture("pie")}, narrow_again{fixture("pie_32")};
  for (waiting* one : {&wide, &narrow, &wide_again, &narrow_again}) {
    const auto learnt = catalogue.learn(one->process.pid(), one->memory);
    REQUIRE(learnt.has_value());
    check_like_the_long_way(*learnt, one->process.pid(), one->memory);
  }
#else
  MPIACQ_SKIP("the compiler makes no programs of 32 bits here (libc6-dev-i386), or the kernel runs none");
#endif
}

TEST_CASE("a process that has ended has no loaded code") {
  module_catalogue catalogue;
  live_memory memory{process_id{1 << 30}};
  const auto learnt = catalogue.learn(process_id{1 << 30}, memory);
  REQUIRE_FALSE(learnt.has_value());
  CHECK(learnt.error().code == error_code::process_gone);
}
