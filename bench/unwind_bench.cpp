// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The stack of one process that is held already: by the library, and by libunwind's own reader of other processes
// (libunwind-ptrace), in turn. Once as for the first time, with nothing known of the process, and once more.
//   unwind_bench
#include <memory>
#include <vector>

#include <libunwind-ptrace.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "floor/bare_hold.hpp"
#include "in_turn.hpp"
#include "job_of_copies.hpp"
#include "measurement.hpp"
#include "mpiacq/process/tracer.hpp"
#include "mpiacq/process/unwinder.hpp"
#include "system_calls.hpp"

using namespace mpiacq;
using namespace mpiacq::bench;

namespace {

constexpr std::size_t frames_expected = 22;      // solve 21 times, and what waits
constexpr std::size_t bytes_of_a_stack = 65536;  // as the library copies at first
constexpr round_limits limits{7, 201, 3000};

user_regs_struct registers_of(pid_t process) {
  user_regs_struct all{};
  must_be(::ptrace(PTRACE_GETREGS, process, nullptr, &all) == 0, "PTRACE_GETREGS");
  return all;
}

thread_registers numbered(pid_t process) {
  const user_regs_struct r = registers_of(process);
  thread_registers all;
  const std::uint64_t values[] = {r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8,
                                  r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rip};
  for (const std::uint64_t value : values) all.by_dwarf_number[all.count++] = value;
  all.thread = thread_id{process};
  all.pc = target_address{r.rip};
  all.sp = target_address{r.rsp};
  return all;
}

/// The library's walk of one process.
class own_walk {
 public:
  explicit own_walk(pid_t process) : process_(process), memory_(process_id{process}) {
    auto map = unwind_modules_of(process_id{process}, memory_);
    must_be(map.has_value(), "unwind_modules_of");
    auto made = unwinder::create(map->abi, std::make_shared<unwind_tables>(), std::move(map->modules), memory_);
    must_be(made.has_value(), "unwinder::create");
    unwinder_ = std::move(*made);
  }
  void walk() {
    const auto stack = unwinder_->walk(numbered(process_));
    must_be(stack && stack->frames.size() >= frames_expected, "our walk");
  }

 private:
  pid_t process_;
  process_memory memory_;
  std::unique_ptr<unwinder> unwinder_;
};

/// libunwind's, as its manual has it: everything it has read is kept, for all threads.
class their_walk {
 public:
  explicit their_walk(pid_t process)
      : space_(unw_create_addr_space(&_UPT_accessors, 0)), process_(_UPT_create(process)) {
    must_be(space_ != nullptr && process_ != nullptr, "_UPT_create");
    unw_set_caching_policy(space_, UNW_CACHE_GLOBAL);
  }
  ~their_walk() {
    _UPT_destroy(process_);
    unw_destroy_addr_space(space_);
  }
  their_walk(const their_walk&) = delete;
  their_walk& operator=(const their_walk&) = delete;

  void walk() {
    unw_cursor_t cursor;
    must_be(unw_init_remote(&cursor, space_, process_) == 0, "unw_init_remote");
    std::size_t frames = 1;
    while (unw_step(&cursor) > 0) ++frames;
    must_be(frames >= frames_expected, "libunwind's walk");
  }

 private:
  unw_addr_space_t space_;
  void* process_;
};

void measure(pid_t process) {
  bare_hold({process});
  std::vector<char> buffer(bytes_of_a_stack, 'x');
  const auto bare = [&] {
    const user_regs_struct registers = registers_of(process);
    const iovec here{buffer.data(), buffer.size()};
    const iovec there{reinterpret_cast<void*>(registers.rsp & ~0xfffULL), buffer.size()};
    must_be(::process_vm_readv(process, &here, 1, &there, 1, 0) > 0, "process_vm_readv");
  };
  const auto first = [&] { own_walk(process).walk(); };
  const auto their_first = [&] { their_walk(process).walk(); };
  own_walk own(process);
  their_walk theirs(process);
  const auto again = [&] { own.walk(); };
  const auto their_again = [&] { theirs.walk(); };
  const system_call_counter counter;
  const auto floor_calls = counter.of(bare), calls = counter.of(first), their_calls = counter.of(their_first);
  again();
  their_again();
  const auto calls_again = counter.of(again), their_calls_again = counter.of(their_again);
  const auto [floor, ours, rival, ours_again, rival_again] =
      in_turn(limits, bare, first, their_first, again, their_again);
  constexpr auto floor_is = "registers and 64 KiB of the stack; nothing is made of them";
  measurement row("one stack", 1, "processes");
  row.ours(ours).floor(floor_is, floor).rival("libunwind-ptrace", rival).calls(calls, floor_calls);
  if (their_calls) row.figure("libunwind_calls", static_cast<double>(*their_calls));
  row.print();
  measurement row_again("one stack, once more", 1, "processes");
  row_again.ours(ours_again)
      .floor(floor_is, floor)
      .rival("libunwind-ptrace, which keeps what it has read", rival_again);
  row_again.calls(calls_again, floor_calls);
  if (their_calls_again) row_again.figure("libunwind_calls", static_cast<double>(*their_calls_again));
  row_again.print();
  bare_release({process});
}

}  // namespace

int main() {
  const job_of_copies job(MPIACQ_DEEP_RANK, 1);
  measure(static_cast<pid_t>(job.pids().front().value()));
}
