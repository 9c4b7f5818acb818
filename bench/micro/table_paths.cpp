// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What each entry and each string of a process table costs once its bytes are here.
#include <cstring>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "columns/address_ids.hpp"
#include "columns/string_pool.hpp"
#include "mpiacq/base/memory.hpp"
#include "mpiacq/job/process_table.hpp"
#include "own_memory.hpp"
#include "table/procdesc.hpp"
#include "table/table_columns.hpp"
#include "table/table_decoder.hpp"

using namespace mpiacq;
using namespace mpiacq::bench;

namespace {

std::vector<std::string> texts(std::size_t count, std::size_t distinct) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back("/home/user/project/build/bin/simulation." + std::to_string(1'000'000 + i % distinct));
  }
  return all;
}

/// Strings, of which so many are distinct.
void string_pool_add(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const std::vector<std::string> all = texts(count, static_cast<std::size_t>(state.range(1)));
  for (auto _ : state) {
    string_pool pool(count);
    for (std::uint32_t id = 0; id < count; ++id) pool.add(id, all[id]);
    pool.finish();
    benchmark::DoNotOptimize(pool.entries().data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(string_pool_add)
    ->ArgNames({"strings", "distinct"})
    ->Args({1000, 1000})
    ->Args({100000, 100000})
    ->Args({100000, 1000});

/// Descriptors as a 64-bit starter has them; each column goes through so many addresses.
void decode_entries(benchmark::State& state) {
  struct entry {
    std::uint64_t host, executable;
    std::int32_t pid, unused;
  };
  const auto addresses = static_cast<std::uint64_t>(state.range(0));
  std::vector<entry> entries(20'000);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i] = {0x10000 + i % addresses * 16, 0x4000000 + i % addresses * 64, static_cast<std::int32_t>(i + 1), 0};
  }
  const target_abi abi;
  const auto layout = resolve_descriptor(abi, inferred_descriptor_layout(abi));
  for (auto _ : state) {
    process_table_columns into;
    table_decoder decoder(*layout, into);
    decoder.decode(reinterpret_cast<const std::byte*>(entries.data()), entries.size());
    decoder.finish();
    benchmark::DoNotOptimize(decoder.addresses().data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(entries.size()));
}
BENCHMARK(decode_entries)->ArgName("addresses")->Arg(1)->Arg(300)->Arg(20000);

/// Finding where strings end, page by page, without keeping them.
void visit_strings(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const std::size_t bytes = (count * 64 / read_page_size + 2) * read_page_size;
  std::vector<char> memory(bytes, 0);
  auto begin = reinterpret_cast<std::uint64_t>(memory.data());
  begin = (begin + read_page_size - 1) / read_page_size * read_page_size;
  std::vector<target_address> addresses;
  for (std::size_t i = 0; i < count; ++i) {
    addresses.emplace_back(begin + i * 64);
    std::memset(reinterpret_cast<void*>(addresses.back().value()), 'x', 46);
  }
  own_memory own;
  std::size_t all = 0;
  for (auto _ : state) {
    const auto visited = visit_c_strings(own, addresses, {}, [&](const visited_string& s) { all += s.text.size(); });
    if (!visited) state.SkipWithError("visit_c_strings");
  }
  benchmark::DoNotOptimize(all);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(visit_strings)->ArgName("strings")->Arg(1000)->Arg(100000);

}  // namespace
