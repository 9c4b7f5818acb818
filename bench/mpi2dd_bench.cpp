// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What a walk over an MPI2DD job costs, for 10^4, 10^5 and 10^6 processes in directories of a thousand.
//   mpi2dd_bench [PROCESSES...]
//
// One process stands for all directories: what is read of each is its own, and to open one costs nothing. Memory is the
// growth of the resident set while the graph is made, and what of it stays with the graph. The floor is to read the
// same tables, strings and blocks in the fewest calls; the rival reads them a word at a time.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_sizes.hpp"
#include "floor/bare_reads.hpp"
#include "in_turn.hpp"
#include "measurement.hpp"
#include "mpiacq/mpi2dd/mpi2dd_graph.hpp"
#include "mpiacq/process/tracer.hpp"
#include "peak_memory.hpp"
#include "rival/peek_words.hpp"
#include "system_calls.hpp"

using namespace mpiacq;
using namespace mpiacq::bench;

namespace {

// It takes so long that only the first directories of a large job are given to it.
constexpr std::size_t directories_for_rival = 20;
constexpr int rival_rounds = 3;

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

/// Symbols cost nothing here: an info block is where it is known to be.
class known_symbols final : public symbol_source {
 public:
  explicit known_symbols(const info_block& info) : info_(info) {}
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
  opened(const info_block& info, process_id process) : memory_(process), symbols_(info) {}
  target as_target() override { return {memory_, nullptr, abi_, symbols_}; }

 private:
  process_memory memory_;
  known_symbols symbols_;
  target_abi abi_;
};

/// In pages of their own, since strings are read by pages.
class strings {
 public:
  const char* copy(const std::string& text) {
    char* at = bytes_.get() + used_;
    used_ += (text.size() + 16) / 16 * 16;
    if (used_ > size) std::abort();
    std::memcpy(at, text.c_str(), text.size() + 1);
    return at;
  }
  [[nodiscard]] iovec all() const { return {bytes_.get(), used_}; }

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
    // All of it stays where it is from here on: the child has it at the same addresses.
    child = ::fork();
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      while (true) ::pause();
    }
  }
  ~job() {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  job(const job&) = delete;
  job& operator=(const job&) = delete;

  [[nodiscard]] std::vector<iovec> pieces() {
    std::vector<iovec> all{text.all()};
    for (auto& table : tables) all.push_back({table.data(), table.size() * sizeof table[0]});
    all.push_back({entries.data(), entries.size() * sizeof entries[0]});
    all.push_back({blocks.data(), blocks.size() * sizeof blocks[0]});
    return all;
  }

  pid_t child = -1;
  strings text;
  std::vector<std::vector<descriptor>> tables;
  std::vector<entry> entries;
  std::vector<info_block> blocks;
  std::map<std::string, info_block*, std::less<>> by_host;
};

/// The first directories of it, as the older libraries read: each entry by words, each string to its end.
double peek_directories(const job& made, std::size_t directories) {
  bare_hold({made.child});
  const auto word = [&](const void* at) { return peek_word(made.child, reinterpret_cast<std::uint64_t>(at)); };
  const double took = milliseconds_of([&] {
    const info_block& meta = made.blocks.back();
    const auto* entries = reinterpret_cast<const entry*>(word(&meta.addresses[6]));
    for (std::size_t d = 0; d < directories; ++d) {
      const std::string name = peek_string(made.child, word(&entries[d].host_name));
      const info_block& directory = *made.by_host.find(name)->second;
      const auto* table = reinterpret_cast<const descriptor*>(word(&directory.addresses[5]));
      const auto count = static_cast<std::uint32_t>(word(&directory.proctable_size));
      for (std::uint32_t i = 0; i < count; ++i) {
        std::size_t bytes = 0;
        for (const void* text :
             {static_cast<const void*>(&table[i].host_name), static_cast<const void*>(&table[i].executable_name),
              static_cast<const void*>(&table[i].comm_world_id)}) {
          bytes += peek_string(made.child, word(text)).size();
        }
        must_be(bytes > 0 && word(&table[i].spawn_desc) == 0 && word(&table[i].pid) != 0, "peeking");
      }
    }
  });
  bare_release({made.child});
  return took;
}

void measure(std::size_t processes, unsigned threads) {
  job made(static_cast<int>(processes));
  std::atomic<std::size_t> opens = 0;
  const auto open = [&](std::string_view host, process_id,
                        std::string_view) -> result<std::unique_ptr<mpi2dd::opened_process>> {
    ++opens;
    return std::make_unique<opened>(*made.by_host.find(host)->second, process_id{made.child});
  };
  mpi2dd::walk_options options;
  options.threads = threads;
  const auto walk = [&] {
    opens = 0;
    const auto g = mpi2dd::walk({"meta", process_id{1}, ""}, open, options);
    must_be(g && g->process_count() == processes + made.blocks.size(), "the walk");
    must_be(opens == made.blocks.size(), "each directory opened once, and no rank");
  };
  const system_call_counter counter;
  const std::uint64_t peak = peak_growth(walk);
  const std::vector<iovec> pieces = made.pieces();
  const std::size_t bytes = std::accumulate(pieces.begin(), pieces.end(), std::size_t{0},
                                            [](std::size_t sum, const iovec& piece) { return sum + piece.iov_len; });
  std::vector<char> buffer(bytes, 'x');
  const auto bare = [&] { bare_reads(made.child, pieces, buffer); };
  const auto calls = counter.of(walk), floor_calls = counter.of(bare);
  warm_memory(2 * peak);
  const auto [floor, ours] = in_turn({11, 61, 2000}, bare, walk);
  std::vector<double> beside_reads, rival;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    beside_reads.push_back((ours[i] - floor[i]) * 1000 / static_cast<double>(processes));
  }
  const std::size_t directories = made.tables.size(), part = std::min(directories, directories_for_rival);
  for (int i = 0; i < rival_rounds; ++i) rival.push_back(peek_directories(made, part));
  measurement(threads == 1 ? "MPI2DD graph" : "MPI2DD graph, 8 threads", processes, "processes")
      .ours(ours)
      .floor("process_vm_readv of the same tables, strings and info blocks into touched memory", floor)
      .rival("PTRACE_PEEKDATA, a word at a time", rival, static_cast<double>(part) / static_cast<double>(directories))
      .memory(peak, bytes)
      .calls(calls, floor_calls)
      .figure("us_each_beside_reads", median_of(beside_reads))
      .figure("opened", static_cast<double>(made.blocks.size()))
      .print();
}

}  // namespace

int main(int argc, char** argv) {
  for (const std::size_t processes : sizes(argc, argv, {10'000, 100'000, 1'000'000})) {
    for (const unsigned threads : {1U, 8U}) {
      const pid_t child = ::fork();  // each in a process of its own
      if (child == 0) {
        measure(processes, threads);
        ::_exit(0);
      }
      int status = 0;
      must_be(::waitpid(child, &status, 0) == child && status == 0, "the walk");
    }
  }
}
