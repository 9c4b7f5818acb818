// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/process/unwinder.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "arch/unwind_arch.hpp"
#include "arguments/frame_arguments.hpp"
#include "errors/try.hpp"
#include "walk/stack_walk.hpp"

namespace mpiacq {

namespace {

/// The number of stacks whose tops are read with one call.
constexpr std::size_t stacks_at_once = 256;

}  // namespace

struct unwinder::state {
  std::shared_ptr<unwind_tables> tables;  ///< kept for `view`
  memory_reader& memory;
  std::uint16_t elf_machine;
  unwinding::process_view view;

  state(const unwinding::architecture& machine, std::shared_ptr<unwind_tables> shared, unwinding::shared_tables& t,
        std::vector<unwind_module> modules, memory_reader& m, std::uint16_t elf)
      : tables(std::move(shared)), memory(m), elf_machine(elf), view(machine, t, std::move(modules), m) {}

  [[nodiscard]] result<void> walk_some(std::span<const thread_registers> threads, const walk_options& options,
                                       std::vector<raw_stack>& stacks);
};

unwinder::unwinder(std::unique_ptr<state> s) : state_(std::move(s)) {}
unwinder::~unwinder() = default;

result<std::unique_ptr<unwinder>> unwinder::create(const target_abi& abi, std::shared_ptr<unwind_tables> tables,
                                                   std::vector<unwind_module> modules, memory_reader& memory) {
  if (tables == nullptr)
    return fail(error_code::invalid_argument, "an unwinder cannot be created without unwind tables");
  const unwinding::architecture* machine = unwinding::arch::of(abi);
  if (machine == nullptr) {
    return fail(
        error_code::unsupported,
        fmt::format("the stacks of {}-bit code for ELF machine {} cannot be walked on this machine: the library "
                    "walks code of its own machine, and 32-bit x86 code on x86-64",
                    8 * abi.pointer_size, abi.elf_machine));
  }
  unwinding::shared_tables& shared = tables->state_->tables;
  return std::unique_ptr<unwinder>(new unwinder(
      std::make_unique<state>(*machine, std::move(tables), shared, std::move(modules), memory, abi.elf_machine)));
}

result<void> unwinder::state::walk_some(std::span<const thread_registers> threads, const walk_options& options,
                                        std::vector<raw_stack>& stacks) {
  constexpr std::size_t size = unwinding::stack_memory::first_piece;
  std::vector<std::byte> tops(threads.size() * size);
  std::vector<memory_range> ranges;
  ranges.reserve(threads.size());
  for (std::size_t i = 0; i < threads.size(); ++i) {
    ranges.push_back({threads[i].sp, std::span{tops}.subspan(i * size, size)});
  }
  if (auto read = memory.read_ranges(ranges); !read) return read;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    auto stack = TRY(unwinding::walk_stack(view, threads[i], ranges[i].into.first(ranges[i].got), options));
    stacks.push_back(std::move(stack));
  }
  return {};
}

result<std::vector<raw_stack>> unwinder::walk(std::span<const thread_registers> threads, const walk_options& options) {
  state_->view.memory().forget();
  std::vector<raw_stack> stacks;
  stacks.reserve(threads.size());
  while (!threads.empty()) {
    const std::size_t count = std::min(threads.size(), stacks_at_once);
    TRY(state_->walk_some(threads.first(count), options, stacks));
    threads = threads.subspan(count);
  }
  return stacks;
}

result<raw_stack> unwinder::walk(const thread_registers& thread, const walk_options& options) {
  auto stacks = TRY(walk(std::span{&thread, 1}, options));
  return std::move(stacks.front());
}

result<call_arguments> unwinder::arguments(const thread_registers& thread, std::size_t frame, std::size_t count,
                                           const find_call_description& describe, const find_parameter_places& places) {
  state_->view.memory().forget();
  std::vector<std::byte> top(unwinding::stack_memory::first_piece);
  memory_range range{thread.sp, top};
  TRY(state_->memory.read_ranges({&range, 1}));
  return unwinding::arguments_of(state_->view, state_->elf_machine, thread, range.into.first(range.got), {frame, count},
                                 {describe, places});
}

result<std::optional<thread_registers>> unwinder::kept_registers(const thread_registers& thread, std::size_t frame) {
  state_->view.memory().forget();
  std::vector<std::byte> top(unwinding::stack_memory::first_piece);
  memory_range range{thread.sp, top};
  TRY(state_->memory.read_ranges({&range, 1}));
  unwinding::frame_registers caller;
  TRY(unwinding::walk_stack(state_->view, thread, range.into.first(range.got), {.max_frames = frame + 1}, &caller));
  if (caller.known == 0) return std::nullopt;
  const std::uint64_t kept = caller.known & state_->view.machine().kept_registers;
  for (std::size_t i = 0; i < thread_registers::most; ++i) {
    if ((kept >> i & 1) == 0) caller.registers.by_dwarf_number[i] = 0;
  }
  return caller.registers;
}

}  // namespace mpiacq
