// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What reading a process table costs beside the bytes alone, live and out of a core file, for tables of growing size.
//   table_bench [ENTRIES...]
//
// The floor is process_vm_readv (or pread) of the same bytes, the table and the strings, into one buffer that was
// written to before, so that no page of it is faulted in while the clock runs. Ours starts with nothing: its columns
// and strings are fresh memory each time. Floor and ours take turns.
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_sizes.hpp"
#include "core_writer.hpp"
#include "floor/bare_reads.hpp"
#include "in_turn.hpp"
#include "measurement.hpp"
#include "mpiacq/job/process_table.hpp"
#include "mpiacq/process/core_file.hpp"
#include "mpiacq/process/tracer.hpp"
#include "peak_memory.hpp"
#include "rival/peek_words.hpp"
#include "rival/said_times.hpp"
#include "system_calls.hpp"

using namespace mpiacq;
using namespace mpiacq::bench;

namespace {

// The rivals take so long for an entry that only the first of a large table are given to them.
constexpr std::size_t entries_for_rivals = 20'000;
constexpr int rival_rounds = 3;

/// A starter's table as its C code has it. It is built before the fork, so that the child has it at the same addresses.
struct descriptor {
  char* host_name;
  char* executable_name;
  int pid;
};

struct shape {
  const char* work;
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

void read_table(memory_reader& memory, const live_table& live, std::size_t entries) {
  const target_abi abi;
  const target_address base{reinterpret_cast<std::uint64_t>(live.table().begin())};
  const auto table = read_process_table(memory, abi, inferred_descriptor_layout(abi), base, entries);
  must_be(table && table->size() == entries && table->problem_count() == 0, "reading the table");
}

std::vector<iovec> pieces_of(const live_table& live) {
  return {{live.table().begin(), live.table().used()}, {live.strings().begin(), live.strings().used()}};
}

/// Word by word, as PTRACE_PEEKDATA gives them; each string again for each entry.
double peek_all(const live_table& live, std::size_t entries) {
  bare_hold({live.process()});
  const double took = milliseconds_of([&] {
    const auto base = reinterpret_cast<std::uint64_t>(live.table().begin());
    for (std::size_t i = 0; i < entries; ++i) {
      const std::uint64_t at = base + i * sizeof(descriptor);
      const std::string host = peek_string(live.process(), peek_word(live.process(), at));
      const std::string executable = peek_string(live.process(), peek_word(live.process(), at + 8));
      must_be(!host.empty() && !executable.empty() && peek_word(live.process(), at + 16) != 0, "peeking");
    }
  });
  bare_release({live.process()});
  return took;
}

/// gdb's Python, without the start of gdb; `source` is -p PID or -c CORE. Empty where there is no gdb.
std::vector<double> gdb_all(const live_table& live, const std::string& source, std::size_t entries, int rounds) {
  const std::string command =
      fmt::format("TABLE={} ENTRIES={} ROUNDS={} gdb -q -nx -batch {} -x {} 2>/dev/null",
                  static_cast<const void*>(live.table().begin()), entries, rounds, source, MPIACQ_GDB_READ_TABLE);
  return said_times(command);
}

constexpr round_limits limits{7, 41, 3000};

void measure_live(const shape& s, std::size_t entries) {
  const live_table live(s, entries);
  process_memory memory(process_id{live.process()});
  const std::uint64_t data = live.table().used() + live.strings().used();
  const std::uint64_t peak = peak_growth([&] { read_table(memory, live, entries); });
  warm_memory(4 * data);
  std::vector<char> buffer(data, 'x');
  const auto bare = [&] { bare_reads(live.process(), pieces_of(live), buffer); };
  const auto library = [&] { read_table(memory, live, entries); };
  const system_call_counter counter;
  const auto calls = counter.of(library), floor_calls = counter.of(bare);
  const auto into_fresh = [&] {
    std::vector<char> untouched;
    untouched.reserve(data);  // memory of which no page has been written to
    bare_reads(live.process(), pieces_of(live), {untouched.data(), data});
  };
  const auto [floor, ours, fresh] = in_turn(limits, bare, library, into_fresh);
  const std::size_t part = std::min(entries, entries_for_rivals);
  std::vector<double> rival;
  if (s.own_executables) {
    for (int i = 0; i < rival_rounds; ++i) rival.push_back(peek_all(live, part));
  } else {
    rival = gdb_all(live, fmt::format("-p {}", live.process()), part, rival_rounds);
  }
  measurement row(s.work, entries, "entries");
  row.ours(ours).floor("process_vm_readv of the same bytes into touched memory", floor);
  row.memory(peak, data).calls(calls, floor_calls).figure("floor_into_fresh_memory_ms", median_of(fresh));
  if (!rival.empty()) {
    row.rival(s.own_executables ? "PTRACE_PEEKDATA, a word at a time" : "gdb's Python, without gdb's start", rival,
              static_cast<double>(part) / static_cast<double>(entries));
  }
  row.print();
}

std::vector<std::byte> bytes_of(const arena& memory) {
  const auto* begin = reinterpret_cast<const std::byte*>(memory.begin());
  const std::size_t pages = (memory.used() + 4095) / 4096 * 4096;
  return {begin, begin + pages};
}

void measure_core(const shape& s, std::size_t entries) {
  const live_table live(s, entries);
  // Always the same: where this is killed, nearly a gigabyte stays, but not another one each time.
  const std::string path = MPIACQ_BENCH_DIR "/table_core";
  {
    test::core_writer core(target_abi{});
    core.process(live.process(), "starter").thread(live.process(), 6);
    core.map(reinterpret_cast<std::uint64_t>(live.table().begin()), bytes_of(live.table()));
    core.map(reinterpret_cast<std::uint64_t>(live.strings().begin()), bytes_of(live.strings()));
    core.write_to(path);
  }
  auto core = core_file::open(path);
  must_be(core.has_value(), "opening the core");
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const std::uint64_t data = live.table().used() + live.strings().used();
  std::vector<char> buffer(data, 'x');
  const auto behind_headers = static_cast<off_t>(std::filesystem::file_size(path) - data);
  const auto read_file = [&] {
    must_be(::pread(file, buffer.data(), buffer.size(), behind_headers) == static_cast<ssize_t>(buffer.size()),
            "pread");
  };
  const auto library = [&] { read_table(**core, live, entries); };
  const std::uint64_t peak = peak_growth(library);
  warm_memory(4 * data);
  const system_call_counter counter;
  const auto calls = counter.of(library), floor_calls = counter.of(read_file);
  const auto [floor, ours] = in_turn(limits, read_file, library);
  const std::size_t part = std::min(entries, entries_for_rivals);
  const auto rival = gdb_all(live, "-c " + path, part, rival_rounds);
  ::close(file);
  std::filesystem::remove(path);
  measurement row(std::string(s.work) + ", core", entries, "entries");
  row.ours(ours).floor("pread of as many bytes of the core into touched memory", floor);
  row.memory(peak, data).calls(calls, floor_calls);
  if (!rival.empty()) {
    row.rival("gdb's Python on the core, without gdb's start", rival,
              static_cast<double>(part) / static_cast<double>(entries));
  }
  row.print();
}

/// In a process of its own, so that none finds memory that another has given back.
template <class Measure>
bool apart(Measure measure) {
  const pid_t child = ::fork();
  if (child == 0) {
    measure();
    ::_exit(0);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr shape shapes[] = {
      {"table, shared strings", false, false, false},
      {"table, shared strings dealt out", false, false, true},
      {"table, own strings", true, false, false},
      {"table, two own strings", true, true, false},
  };
  constexpr std::size_t most_of_two = 1'000'000;
  bool fine = true;
  for (const std::size_t entries : sizes(argc, argv, {1'000, 10'000, 100'000, 1'000'000, 10'000'000})) {
    for (const shape& s : shapes) {
      if (s.own_hosts && entries > most_of_two) continue;
      fine = apart([&] { measure_live(s, entries); }) && fine;
      const bool in_core = !s.by_node && !s.own_hosts;
      if (in_core) fine = apart([&] { measure_core(s, entries); }) && fine;
    }
  }
  return fine ? 0 : 1;
}
