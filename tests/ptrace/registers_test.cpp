// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The registers of stopped threads are those that the program put there.
#include <cstring>
#include <map>
#include <sstream>

#include <sys/syscall.h>
#include <sys/user.h>

#include "crowd.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

std::uint64_t word_at(process_id process, target_address address) {
  std::uint64_t word = 0;
  process_memory memory{process};
  ok(read_exact(memory, address, std::as_writable_bytes(std::span{&word, 1})));
  return word;
}

/// The base that each thread has told, by its number.
std::map<thread_id, std::uint64_t> bases_of(bystander& program, int count) {
  std::map<thread_id, std::uint64_t> bases;
  for (int i = 0; i < count; ++i) {
    std::istringstream line(program.pipes().line());
    std::int64_t task = 0;
    std::uint64_t base = 0;
    REQUIRE((line >> task >> base));
    bases[thread_id{task}] = base;
  }
  return bases;
}

}  // namespace

TEST_CASE("the registers of all threads are those that the program put there, by their DWARF numbers") {
#ifdef __x86_64__
  constexpr int count = 20;
  const auto t = new_tracer();
  bystander program("known_registers", {std::to_string(count)});
  const auto bases = bases_of(program, count);
  for (const auto& [task, base] : bases) REQUIRE(comes_to(static_cast<pid_t>(task.value()), 'S'));
  ok(t->attach(program.id()));
  const auto all = t->registers(std::vector{program.id()}, which_threads::all, register_sets::with_floating_point);
  REQUIRE(all.size() == 1);
  ok(all.front());
  CHECK(all.front()->size() == count);
  const target_address stacks = address_of("known_registers", "stacks");
  for (const thread_registers& thread : *all.front()) {
    REQUIRE(bases.contains(thread.thread));
    const std::uint64_t base = bases.at(thread.thread);
    const auto& r = thread.by_dwarf_number;
    CHECK(thread.count == 17);
    CHECK(r[3] == base + 1);
    CHECK(r[6] == base + 2);
    CHECK(std::vector(r.begin() + 8, r.begin() + 11) == std::vector{base + 3, base + 4, base + 5});
    CHECK(std::vector(r.begin() + 12, r.begin() + 16) == std::vector{base + 6, base + 7, base + 8, base + 9});
    const std::uint64_t which = (base & 0xffff) / 0x100;
    CHECK(thread.sp.value() == word_at(program.id(), target_address{stacks.value() + which * 8}));
    CHECK(r[7] == thread.sp.value());
    CHECK(r[1] == 1);  // rdx: how many bytes are to be read
    CHECK(thread.pc == address_of("known_registers", "waits_here"));
    CHECK(r[16] == thread.pc.value());
    user_regs_struct set{};
    REQUIRE(thread.prstatus_registers.size() == sizeof set);
    std::memcpy(&set, thread.prstatus_registers.data(), sizeof set);
    CHECK(set.rbx == base + 1);
    CHECK(set.r15 == base + 9);
    CHECK(set.rip == thread.pc.value());
    CHECK(set.orig_rax == SYS_read);
    CHECK(set.cs == 0x33);
    CHECK((set.eflags & 0x2) != 0);  // always set
    CHECK(set.fs_base != 0);         // the thread's own data
    user_fpregs_struct floating{};
    REQUIRE(thread.floating_point.size() == sizeof floating);
    std::memcpy(&floating, thread.floating_point.data(), sizeof floating);
    std::uint64_t xmm9 = 0;
    std::memcpy(&xmm9, &floating.xmm_space[9 * 4], sizeof xmm9);
    CHECK(xmm9 == base);
  }
  const auto first = t->registers(std::vector{program.id()}, which_threads::first);
  REQUIRE(first.front()->size() == 1);
  CHECK(first.front()->front().floating_point.empty());  // this call did not ask for them
  CHECK(first.front()->front().thread.value() == program.pid());
  ok(t->detach(program.id()));
  program.pipes().no_more_orders();
  CHECK(program.end().value == 25);
#else
  MPIACQ_SKIP("the program knows its registers on x86-64 only");
#endif
}

TEST_CASE("the registers of many processes come in one answer, each with its own outcome") {
  const auto t = new_tracer();
  crowd all(200, 8);
  all_ok(t->attach_all(all.targets()));
  auto ids = all.ids();
  ok(t->resume(ids[3]));
  ids.push_back(process_id{4194304});
  const auto answers = t->registers(ids);
  REQUIRE(answers.size() == ids.size());
  for (std::size_t i = 0; i < 200; ++i) {
    if (i == 3) continue;
    ok(answers[i]);
    CHECK(answers[i]->size() == 8);
    for (const thread_registers& thread : *answers[i]) CHECK(thread.pc.value() != 0);
  }
  CHECK(answers[3].error().code == error_code::invalid_argument);
  CHECK(answers[200].error().code == error_code::process_gone);
  all_ok(t->detach_all(all.ids()));
  CHECK(all.end_well() == 200);
}
