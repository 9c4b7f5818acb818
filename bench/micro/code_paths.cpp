// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What a stack costs: the mappings, a symbol by its hash, a step from frame to frame, a place in the tree.
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <elf.h>
#include <fmt/format.h>

#include "code_names/code_mappings.hpp"
#include "elf/dynamic_symbols.hpp"
#include "fake_memory.hpp"
#include "mpiacq/process/unwinder.hpp"
#include "mpiacq/ranks/call_tree.hpp"
#include "unwind_writer.hpp"

using namespace mpiacq;

namespace {

/// /proc/PID/maps of a process with so many libraries.
void decode_maps(benchmark::State& state) {
  std::string text;
  for (int i = 0; i < state.range(0); ++i) {
    const std::uint64_t at = 0x7f0000000000 + static_cast<std::uint64_t>(i) * 0x100000;
    for (const char* permissions : {"r--p", "r-xp", "r--p", "rw-p"}) {
      text += fmt::format("{:x}-{:x} {} 00000000 fe:00 {}    /usr/lib/x86_64-linux-gnu/libsome{}.so.40.1\n", at,
                          at + 0x1000, permissions, 1000 + i, i);
    }
  }
  for (auto _ : state) benchmark::DoNotOptimize(elf::decode_mappings(text));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(decode_maps)->ArgName("libraries")->Arg(10)->Arg(100);

void hash_of_a_name(benchmark::State& state) {
  const std::string name = "MPIR_proctable_size";
  for (auto _ : state) benchmark::DoNotOptimize(elf::gnu_hash(name));
}
BENCHMARK(hash_of_a_name);

std::vector<std::byte> words(const std::vector<std::uint64_t>& values) {
  std::vector<std::byte> bytes(8 * values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    encode_integer(values[i], byte_order::little, std::span{bytes}.subspan(8 * i, 8));
  }
  return bytes;
}

/// A stack of like frames; the tables are known after the first walk, as they are for all ranks but one.
void unwind_steps(benchmark::State& state) {
  using test::unwind_writer;
  constexpr std::uint64_t stack_at = 0x70000, code = unwind_writer::code_at;
  unwind_writer tables;
  tables.cie();
  tables.function(0x000, 0x100, {0x0e, 16});  // a frame of 16 bytes
  tables.function(0x100, 0x100, {0x07, 16});  // nobody called it: its return address is undefined
  auto [bytes, module] = tables.finish();
  const auto frames = static_cast<std::size_t>(state.range(0));
  std::vector<std::uint64_t> stack;
  for (std::size_t i = 1; i < frames; ++i) stack.insert(stack.end(), {0, code + 0x20});
  stack.back() = code + 0x120;
  test::fake_memory memory;
  memory.map(target_address{unwind_writer::tables_at}, std::move(bytes));
  memory.map(target_address{stack_at}, words(stack));
  const auto made = unwinder::create(abi_of_elf(ELFCLASS64, ELFDATA2LSB, EM_X86_64), std::make_shared<unwind_tables>(),
                                     {module}, memory);
  if (!made) return state.SkipWithError("these tables are of another architecture");
  thread_registers at;
  at.pc = target_address{code + 0x20};
  at.sp = target_address{stack_at};
  at.by_dwarf_number[7] = stack_at;
  at.by_dwarf_number[16] = code + 0x20;
  at.count = 17;
  for (auto _ : state) {
    const auto walked = (*made)->walk(at);
    if (!walked || walked->frames.size() != frames) state.SkipWithError("the walk");
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(unwind_steps)->ArgName("frames")->Arg(10)->Arg(100);

thread_stack stack_of(std::size_t frames, std::uint32_t kind) {
  thread_stack stack;
  for (std::size_t i = 0; i < frames; ++i) {
    auto place = std::make_shared<code_place>();
    place->function = i == 0 ? fmt::format("waits_{}", kind) : fmt::format("calls_{}", i);
    place->module_path = "/home/user/simulation";
    stack.frames.push_back({target_address{0x1000 + i}, std::move(place), false});
  }
  return stack;
}

/// Ranks in eight places, each with 22 frames that one catalogue has named.
void add_to_tree(benchmark::State& state) {
  std::vector<thread_stack> stacks;
  for (std::uint32_t kind = 0; kind < 8; ++kind) stacks.push_back(stack_of(22, kind));
  for (auto _ : state) {
    call_tree tree;
    for (std::uint32_t rank = 0; rank < state.range(0); ++rank)
      tree.add(entry_index{rank}, stacks[rank % stacks.size()]);
    benchmark::DoNotOptimize(tree[call_tree::root].stacks);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(add_to_tree)->ArgName("ranks")->Arg(1000)->Arg(10000);

/// Two nodes' trees of 1,000 ranks each.
void merge_trees(benchmark::State& state) {
  call_tree one, other;
  for (std::uint32_t rank = 0; rank < 1000; ++rank) {
    one.add(entry_index{rank}, stack_of(22, rank % 8));
    other.add(entry_index{1000 + rank}, stack_of(22, rank % 8));
  }
  for (auto _ : state) {
    call_tree both = one;
    both.merge(other);
    benchmark::DoNotOptimize(both[call_tree::root].stacks);
  }
}
BENCHMARK(merge_trees);

}  // namespace
