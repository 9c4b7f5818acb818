// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What is done for each rank of a job: it goes into sets, and an MPI2DD table's entries into columns.
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "mpiacq/mpi2dd/mpi2dd_tables.hpp"
#include "mpiacq/ranks/rank_set.hpp"
#include "own_memory.hpp"

using namespace mpiacq;
using namespace mpiacq::bench;

namespace {

rank_set every(std::uint32_t step, std::uint32_t first, std::uint32_t count) {
  rank_set set;
  for (std::uint32_t i = 0; i < count; ++i) set.add(first + i * step);
  return set;
}

/// Ranks in ascending order: neighbours make one range, every other one makes a range each.
void add_ranks(benchmark::State& state) {
  const auto step = static_cast<std::uint32_t>(state.range(0));
  constexpr std::uint32_t ranks = 10'000;
  for (auto _ : state) benchmark::DoNotOptimize(every(step, 0, ranks));
  state.SetItemsProcessed(state.iterations() * ranks);
}
BENCHMARK(add_ranks)->ArgName("step")->Arg(1)->Arg(2);

/// The union of two sets whose ranges alternate.
void unite_ranks(benchmark::State& state) {
  constexpr std::uint32_t ranks = 10'000;
  const rank_set even = every(4, 0, ranks), odd = every(4, 2, ranks);
  for (auto _ : state) {
    rank_set all = even;
    all.add(odd);
    benchmark::DoNotOptimize(all);
  }
  state.SetItemsProcessed(state.iterations() * 2 * ranks);
}
BENCHMARK(unite_ranks);

/// "0-3,7" there and back.
void ranks_as_text(benchmark::State& state) {
  const rank_set some = every(3, 0, 1000);
  for (auto _ : state) {
    const auto back = rank_set::parse(some.text());
    if (!back || *back != some) state.SkipWithError("parsing");
  }
  state.SetItemsProcessed(state.iterations() * 1000);
}
BENCHMARK(ranks_as_text);

/// A directory's table as a 64-bit process has it: strings that are shared, descriptors behind each other.
void decode_mpi2dd_entries(benchmark::State& state) {
  struct descriptor {
    const char *host, *executable;
    const void* spawn;
    const char* world;
    std::int32_t pid, rank;
  };
  // In pages of their own, since strings are read by pages.
  alignas(read_page_size) static char texts[read_page_size] = "node0\0/home/user/simulation\0world-0";
  std::vector<descriptor> table;
  for (std::int32_t i = 0; i < state.range(0); ++i) {
    table.push_back({texts, texts + 6, nullptr, texts + 28, 1000 + i, i});
  }
  own_memory own;
  const target_abi abi;
  for (auto _ : state) {
    const auto read =
        mpi2dd::read_process_entries(own, abi, address_of(table.data()), static_cast<std::int32_t>(table.size()));
    if (!read || read->size() != table.size() || read->facts().problem_count != 0) state.SkipWithError("reading");
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(decode_mpi2dd_entries)->ArgName("processes")->Arg(1000)->Arg(100000);

}  // namespace
