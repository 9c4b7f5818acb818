// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What reading a table of a million entries out of a live process costs beside the bytes alone.
//
//   table_bench [ENTRIES [PAIRS]]
//
// The floor is process_vm_readv of the same bytes (the table and the pages that its strings stand on), in pieces of
// 2 GiB at most, into one buffer that was written to before, so that no page of it is faulted in while the clock runs.
// Ours starts with nothing: its columns and strings are fresh memory each time. Floor and ours take turns.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mpiacq/process_table.hpp"
#include "mpiacq/tracer.hpp"

using namespace mpiacq;

namespace {

/// A starter's table as its C code has it. It is built before the fork, so that the child has it at the same addresses.
struct descriptor {
  char* host_name;
  char* executable_name;
  int pid;
};

struct shape {
  const char* title;
  bool own_executables;  // a string for each rank, as against one for all
  bool own_hosts;
  bool by_node;  // ranks dealt out over the hosts, as against 64 neighbours on each
};

/// Bytes that a starter would have allocated: one mapping, so that we know where the floor has to read.
class arena {
 public:
  explicit arena(std::size_t bytes) : size_(bytes) {
    void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) std::abort();
    begin_ = static_cast<char*>(mapped);
  }
  ~arena() { munmap(begin_, size_); }
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;

  char* allocate(std::size_t bytes) {
    char* result = begin_ + used_;
    used_ += (bytes + 15) / 16 * 16;  // as malloc aligns
    if (used_ > size_) std::abort();
    return result;
  }
  char* copy(const std::string& text) {
    return static_cast<char*>(std::memcpy(allocate(text.size() + 1), text.c_str(), text.size() + 1));
  }
  [[nodiscard]] char* begin() const { return begin_; }
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  char* begin_ = nullptr;
  std::size_t size_ = 0;
  std::size_t used_ = 0;
};

class live_table {
 public:
  live_table(const shape& s, std::size_t entries)
      : table_(entries * sizeof(descriptor) + 64), strings_(entries * 160 + 4096) {
    auto* descriptors = reinterpret_cast<descriptor*>(table_.allocate(entries * sizeof(descriptor)));
    const std::size_t hosts = std::max<std::size_t>(entries / 64, 1);
    std::vector<char*> host_names;
    for (std::size_t i = 0; i < hosts && !s.own_hosts; ++i) host_names.push_back(strings_.copy("node" + number(i)));
    char* executable = strings_.copy("/home/user/project/build/bin/simulation");
    for (std::size_t i = 0; i < entries; ++i) {
      descriptor& d = descriptors[i];
      d.host_name =
          s.own_hosts ? strings_.copy("node" + number(i / 64)) : host_names[s.by_node ? i % hosts : i / 64 % hosts];
      d.executable_name =
          s.own_executables ? strings_.copy("/home/user/project/build/bin/simulation." + number(i)) : executable;
      d.pid = static_cast<int>(1000 + i % 4000000);
    }
    child_ = fork();
    if (child_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      while (true) pause();
    }
  }
  ~live_table() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  live_table(const live_table&) = delete;
  live_table& operator=(const live_table&) = delete;

  [[nodiscard]] pid_t process() const { return child_; }
  [[nodiscard]] const arena& table() const { return table_; }
  [[nodiscard]] const arena& strings() const { return strings_; }

 private:
  static std::string number(std::size_t i) {
    std::string digits = std::to_string(i);
    return std::string(7 - std::min<std::size_t>(digits.size(), 7), '0') + digits;
  }
  arena table_;
  arena strings_;
  pid_t child_ = -1;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double floor_once(const live_table& live, std::vector<char>& buffer) {
  const auto start = std::chrono::steady_clock::now();
  const iovec there[] = {{live.table().begin(), live.table().used()}, {live.strings().begin(), live.strings().used()}};
  const iovec here{buffer.data(), buffer.size()};
  const ssize_t moved = process_vm_readv(live.process(), &here, 1, there, 2, 0);
  const double took = seconds_since(start);
  if (moved != static_cast<ssize_t>(buffer.size())) std::abort();
  return took;
}

struct cost {
  double seconds = 0;
  std::size_t calls = 0;
  std::size_t strings = 0;
};

/// Counts how often the library asks for memory.
class counting_reader final : public memory_reader {
 public:
  explicit counting_reader(memory_reader& behind) : behind_(behind) {}
  result<void> read_ranges(std::span<memory_range> ranges) override {
    ++calls;
    return behind_.read_ranges(ranges);
  }
  std::size_t calls = 0;

 private:
  memory_reader& behind_;
};

cost ours_once(const live_table& live, std::size_t entries) {
  process_memory process(process_id{live.process()});
  counting_reader memory(process);
  const target_abi abi;
  const structure_layout layout = inferred_descriptor_layout(abi);
  const auto start = std::chrono::steady_clock::now();
  const auto table = read_process_table(memory, abi, layout,
                                        target_address{reinterpret_cast<std::uint64_t>(live.table().begin())}, entries);
  const double took = seconds_since(start);
  if (!table || table->size() != entries || table->problem_count() != 0) std::abort();
  return {took, memory.calls, table->string_count()};
}

std::size_t memory_now() {
  std::size_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// How much resident memory grows at the most while one table is read. Only the first reading of a process tells:
/// later ones find memory that earlier ones gave back to malloc.
std::size_t peak_extra_memory(const live_table& live, std::size_t entries) {
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak begins here
  const std::size_t before = memory_now();
  (void)ours_once(live, entries);
  std::ifstream status("/proc/self/status");
  std::size_t peak = 0;
  for (std::string word; status >> word;) {
    if (word == "VmHWM:") status >> peak;
  }
  return peak * 1024 - before;
}

double at(std::vector<double> values, double fraction) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(fraction * static_cast<double>(values.size() - 1) + 0.5)];
}

void measure(const shape& s, std::size_t entries, std::size_t pairs) {
  const live_table live(s, entries);
  const std::size_t extra = peak_extra_memory(live, entries);
  std::vector<char> buffer(live.table().used() + live.strings().used(), 'x');
  std::vector<double> floors, ours, ratios;
  cost last;
  (void)floor_once(live, buffer);
  for (std::size_t i = 0; i < pairs; ++i) {
    floors.push_back(floor_once(live, buffer));
    last = ours_once(live, entries);
    ours.push_back(last.seconds);
    ratios.push_back(ours.back() / floors.back());
  }
  std::printf(
      "%-44s %6.1f MB  floor %7.2f ms  ours %7.2f ms  ratio %.2f (%.2f to %.2f)  %zu reads  %zu strings  peak +%.1f "
      "MB\n",
      s.title, static_cast<double>(buffer.size()) / 1e6, at(floors, 0.5) * 1e3, at(ours, 0.5) * 1e3, at(ratios, 0.5),
      at(ratios, 0.1), at(ratios, 0.9), last.calls, last.strings, static_cast<double>(extra) / 1e6);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t entries = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1000000;
  const std::size_t pairs = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 31;
  std::printf("%zu entries, medians of %zu pairs; ratio with its 10th and 90th percentile\n", entries, pairs);
  std::fflush(stdout);  // not once more by each child
  const shape shapes[] = {
      {"one executable, a host for 64 neighbours", false, false, false},
      {"one executable, ranks dealt out over hosts", false, false, true},
      {"an executable string for each rank", true, false, false},
      {"two strings for each rank, hosts repeated", true, true, false},
  };
  for (const shape& s : shapes) {  // each in a process of its own
    const pid_t child = fork();
    if (child == 0) {
      measure(s, entries, pairs);
      _exit(0);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) return 1;
  }
}
