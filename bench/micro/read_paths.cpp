// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What every look into a process goes through: reading its memory, and finding names in it. The process is this one.
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>
#include <unistd.h>

#include "mpiacq/base/memory.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/process/tracer.hpp"
#include "own_memory.hpp"

using namespace mpiacq;
using namespace mpiacq::bench;

namespace {

/// So many ranges of so many bytes, each on a page of its own, in one question.
void read_ranges(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0)), bytes = static_cast<std::size_t>(state.range(1));
  const std::vector<char> there(count * read_page_size, 'x');
  std::vector<std::byte> here(count * bytes);
  std::vector<memory_range> ranges;
  for (std::size_t i = 0; i < count; ++i) {
    ranges.push_back({address_of(there.data()) + i * read_page_size, std::span{here}.subspan(i * bytes, bytes)});
  }
  process_memory memory(process_id{::getpid()});
  for (auto _ : state) {
    if (!memory.read_ranges(ranges) || ranges.back().got != bytes) state.SkipWithError("reading");
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(here.size()));
}
BENCHMARK(read_ranges)->ArgNames({"ranges", "bytes"})->Args({1, 8})->Args({1, 4096})->Args({256, 8})->Args({256, 4096});

/// Words on pages that were read before: following a list.
void words_of_known_pages(benchmark::State& state) {
  const std::vector<std::uint64_t> words(1 << 16, 7);
  own_memory own;
  page_cache memory(own);
  const target_abi abi;
  std::size_t next = 0;
  for (auto _ : state) {
    next = (next + 4099) % words.size();
    const auto word = read_unsigned(memory, abi, address_of(words.data() + next), sizeof words[0]);
    if (!word || *word != 7) state.SkipWithError("reading");
  }
}
BENCHMARK(words_of_known_pages);

/// Names that some module has, or none has: each module is asked by its hash table, in memory.
void look_up_names(benchmark::State& state) {
  process_memory memory(process_id{::getpid()});
  debug_file_search search;
  search.debuginfod = false;
  const auto symbols = process_symbols::open(process_id{::getpid()}, memory, search);
  if (!symbols) return state.SkipWithError("process_symbols::open");
  const bool are_there = state.range(0) != 0;
  const std::string_view there[] = {"malloc", "strlen", "memcpy", "getpid"};
  const std::string_view nowhere[] = {"MPIR_proctable", "MPIR_Breakpoint", "MPIR_debug_state", "MPIR_being_debugged"};
  for (auto _ : state) {
    const auto found = (*symbols)->find_symbols(are_there ? there : nowhere);
    if (!found || found->front().has_value() != are_there) state.SkipWithError("find_symbols");
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(std::size(there)));
}
BENCHMARK(look_up_names)->ArgName("there")->Arg(1)->Arg(0);

/// From nothing to a process's modules.
void open_symbols(benchmark::State& state) {
  process_memory memory(process_id{::getpid()});
  debug_file_search search;
  search.debuginfod = false;
  for (auto _ : state) {
    if (!process_symbols::open(process_id{::getpid()}, memory, search)) state.SkipWithError("process_symbols::open");
  }
}
BENCHMARK(open_symbols);

}  // namespace
