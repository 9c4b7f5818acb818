// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What a walk over an MPI2DD job costs, for 10^4, 10^5 and 10^6 processes in directories of a thousand.
//   mpi2dd_bench [PROCESSES...]
//
// Every directory is this program's own memory, seen through a reader that copies: what is measured is reading and
// putting together, not the way to other processes. Memory is the growth of the resident set while the graph is made,
// and what of it stays with the graph. The floor is to copy the same tables, strings and blocks.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "bench_sizes.hpp"
#include "floor/bare_hold.hpp"
#include "measurement.hpp"
#include "mpiacq/mpi2dd_graph.hpp"
#include "peak_memory.hpp"
#include "system_calls.hpp"

using namespace mpiacq;
using namespace mpiacq::bench;

namespace {

// As C code has them on the machine of this program.
struct info_block {
  unsigned char magic[5] = {'M', 'P', 'I', '2', 0x7f};
  unsigned char version = 1, variant = 1, debug_state = 0;
  unsigned debugger_flags = 0, mpi_flags = 0;
  const void* addresses[8] = {};
  int proctable_size = 0, directory_size = 0, metadirectory_size = 0, meta_pid = 0;
  int padding[8] = {};
};
struct descriptor {
  const char* host_name;
  const char* executable_name;
  const void* spawn_desc;
  const char* comm_world_id;
  int pid;
  int rank;
};
struct entry {
  const char* host_name;
  const char* executable_name;
  int pid;
};

/// What of this program's memory may be read as a job's. Anything else is asked for as well: which stride directory
/// entries have is found out by trying, and with the wrong one pointers lead anywhere.
class readable_memory {
 public:
  void add(const void* begin, std::size_t size) { parts_[reinterpret_cast<std::uint64_t>(begin)] = size; }
  [[nodiscard]] std::size_t room_at(std::uint64_t address) const {
    const auto behind = parts_.upper_bound(address);
    if (behind == parts_.begin()) return 0;
    const auto& [begin, size] = *std::prev(behind);
    return address - begin < size ? size - (address - begin) : 0;
  }
  [[nodiscard]] std::size_t bytes() const {
    return std::accumulate(parts_.begin(), parts_.end(), std::size_t{0},
                           [](std::size_t sum, const auto& part) { return sum + part.second; });
  }
  void copy_all(char* into) const {
    for (const auto& [begin, size] : parts_) {
      std::memcpy(into, reinterpret_cast<const void*>(begin), size);
      into += size;
    }
  }

 private:
  std::map<std::uint64_t, std::size_t> parts_;
};

class own_memory final : public memory_reader {
 public:
  explicit own_memory(const readable_memory& readable) : readable_(readable) {}
  result<void> read_ranges(std::span<memory_range> ranges) override {
    for (memory_range& r : ranges) {
      r.got = std::min(r.into.size(), readable_.room_at(r.address.value()));
      if (r.got > 0) std::memcpy(r.into.data(), reinterpret_cast<const void*>(r.address.value()), r.got);
    }
    return {};
  }

 private:
  const readable_memory& readable_;
};

class own_symbols final : public symbol_source {
 public:
  explicit own_symbols(const info_block& info) : info_(info) {}
  result<std::vector<std::optional<symbol>>> look_up(std::span<const std::string_view> names,
                                                     const symbol_scope&) override {
    symbol found;
    found.name = names[0];
    found.home = home_;
    found.offset = module_offset{reinterpret_cast<std::uint64_t>(&info_)};
    found.size = sizeof(info_block);
    return std::vector<std::optional<symbol>>{found};
  }
  result<std::optional<structure_layout>> layout_pointed_to_by(const symbol&, const symbol*) override {
    return std::nullopt;
  }

 private:
  const info_block& info_;
  std::shared_ptr<const module> home_ = std::make_shared<module>();
};

class opened final : public mpi2dd::opened_process {
 public:
  opened(const info_block& info, const readable_memory& readable) : memory_(readable), symbols_(info) {}
  target as_target() override { return {memory_, nullptr, abi_, symbols_}; }

 private:
  own_memory memory_;
  own_symbols symbols_;
  target_abi abi_;
};

/// In pages of their own, since strings are read by pages.
class strings {
 public:
  explicit strings(readable_memory& readable) { readable.add(bytes_.get(), size); }
  const char* copy(const std::string& text) {
    char* at = bytes_.get() + used_;
    used_ += (text.size() + 16) / 16 * 16;
    if (used_ > size) std::abort();
    std::memcpy(at, text.c_str(), text.size() + 1);
    return at;
  }

 private:
  static constexpr std::size_t size = std::size_t{1} << 20;
  struct freed {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::unique_ptr<char, freed> bytes_{static_cast<char*>(std::aligned_alloc(read_page_size, size))};
  std::size_t used_ = 0;
};

struct job {
  explicit job(int processes) {
    const int directories = processes / 1000;
    const char* executable = text.copy("/home/user/project/build/bin/simulation");
    const char* world = text.copy("world-0");
    for (int d = 0; d < directories; ++d) {
      const char* host = text.copy("node" + std::to_string(d));
      std::vector<descriptor>& table = tables.emplace_back();
      for (int i = 0; i < 1000; ++i) table.push_back({host, executable, nullptr, world, 1000 + i, d * 1000 + i});
      entries.push_back({host, executable, 1});
    }
    blocks.resize(static_cast<std::size_t>(directories) + 1);
    for (std::size_t d = 0; d < tables.size(); ++d) {
      blocks[d].mpi_flags = 2;
      blocks[d].addresses[5] = tables[d].data();
      blocks[d].proctable_size = static_cast<int>(tables[d].size());
      by_host["node" + std::to_string(d)] = &blocks[d];
    }
    blocks.back().mpi_flags = 1;
    blocks.back().addresses[6] = entries.data();
    blocks.back().directory_size = directories;
    by_host["meta"] = &blocks.back();
    for (const auto& table : tables) readable.add(table.data(), table.size() * sizeof table[0]);
    readable.add(entries.data(), entries.size() * sizeof entries[0]);
    readable.add(blocks.data(), blocks.size() * sizeof blocks[0]);
  }
  readable_memory readable;
  strings text{readable};
  std::vector<std::vector<descriptor>> tables;
  std::vector<entry> entries;
  std::vector<info_block> blocks;
  std::map<std::string, info_block*, std::less<>> by_host;
};

void measure(std::size_t processes, unsigned threads, int rounds) {
  const job made(static_cast<int>(processes));
  std::atomic<std::size_t> opens = 0;
  const auto open = [&](std::string_view host, process_id,
                        std::string_view) -> result<std::unique_ptr<mpi2dd::opened_process>> {
    ++opens;
    return std::make_unique<opened>(*made.by_host.find(host)->second, made.readable);
  };
  mpi2dd::walk_options options;
  options.threads = threads;
  const auto walk = [&] {
    opens = 0;
    const auto g = mpi2dd::walk({"meta", process_id{1}, ""}, open, options);
    must_be(g && g->process_count() == processes + made.blocks.size(), "the walk");
    must_be(opens == made.blocks.size(), "each directory opened once, and no rank");
  };
  const std::uint64_t peak = peak_growth(walk);
  const system_call_counter counter;
  const auto calls = counter.of(walk);
  std::vector<char> buffer(made.readable.bytes(), 'x');
  std::vector<double> ours, floor, beside_reads;
  for (int i = 0; i < rounds; ++i) {
    floor.push_back(milliseconds_of([&] { made.readable.copy_all(buffer.data()); }));
    ours.push_back(milliseconds_of(walk));
    beside_reads.push_back((ours.back() - floor.back()) * 1000 / static_cast<double>(processes));
  }
  measurement(threads == 1 ? "MPI2DD graph" : "MPI2DD graph, 8 threads", processes, "processes")
      .ours(ours)
      .floor("a copy of the same tables, strings and info blocks", floor)
      .memory(peak, made.readable.bytes())
      .calls(calls, 0)
      .figure("us_each_beside_reads", median_of(beside_reads))
      .figure("opened", static_cast<double>(made.blocks.size()))
      .print();
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int rounds = 11;
  for (const std::size_t processes : sizes(argc, argv, {10'000, 100'000, 1'000'000})) {
    for (const unsigned threads : {1U, 8U}) {
      const pid_t child = ::fork();  // each in a process of its own
      if (child == 0) {
        measure(processes, threads, rounds);
        ::_exit(0);
      }
      int status = 0;
      must_be(::waitpid(child, &status, 0) == child && status == 0, "the walk");
    }
  }
}
