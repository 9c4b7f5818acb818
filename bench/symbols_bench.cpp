// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What it costs to find all of the interface's symbols and the descriptor's layout in a starter that runs, from
// nothing: a stock one without debug information, and generated ones with much of it.
//   symbols_bench
//
// The floor is to read again, in the fewest calls, what was read of the process's memory. The rival is gdb, attached to
// the same process and asked for the same.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "floor/bare_reads.hpp"
#include "in_turn.hpp"
#include "measurement.hpp"
#include "mpiacq/job/process_table.hpp"
#include "mpiacq/mpir/mpir_symbols.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/process/tracer.hpp"
#include "peak_memory.hpp"
#include "system_calls.hpp"

using namespace mpiacq;
using namespace mpiacq::bench;

namespace {

/// A program that runs, with its standard input and output at our end.
class running_program {
 public:
  explicit running_program(std::vector<std::string> words) {
    int in[2], out[2];
    must_be(::pipe2(in, O_CLOEXEC) == 0 && ::pipe2(out, O_CLOEXEC) == 0, "pipe2");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(in[0], STDIN_FILENO);
      ::dup2(out[1], STDOUT_FILENO);
      ::execvp(argv[0], argv.data());
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    input_ = in[1];
    char byte = 0;
    must_be(::read(out[0], &byte, 1) == 1, words[0].c_str());  // it says something when it is ready
    output_ = out[0];
  }
  ~running_program() {
    ::close(input_);
    ::close(output_);
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
  }
  running_program(const running_program&) = delete;
  running_program& operator=(const running_program&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  int input_ = -1, output_ = -1;
};

/// Remembers which memory was read.
class recording_reader final : public memory_reader {
 public:
  explicit recording_reader(memory_reader& behind) : behind_(behind) {}
  result<void> read_ranges(std::span<memory_range> ranges) override {
    auto read = behind_.read_ranges(ranges);
    for (const memory_range& range : ranges) {
      if (range.got > 0) seen.push_back({reinterpret_cast<void*>(range.address.value()), range.got});
    }
    return read;
  }
  std::vector<iovec> seen;

 private:
  memory_reader& behind_;
};

/// Where the layout was learnt.
layout_source find_all(pid_t pid, memory_reader& memory) {
  debug_file_search search;
  search.debuginfod = false;  // a launch never waits for a server
  auto symbols = process_symbols::open(process_id{pid}, memory, search);
  must_be(symbols.has_value(), "process_symbols::open");
  const auto found = mpir::find_symbols(**symbols);
  must_be(found && found->complete(), "finding the symbols");
  const auto& breakpoint = (*found)[mpir::known::breakpoint];
  auto layout = (*symbols)->layout_pointed_to_by(*(*found)[mpir::known::proctable], &*breakpoint);
  must_be(layout.has_value(), "finding the layout");
  return *layout ? (*layout)->source : layout_source::inferred;
}

void measure(const std::string& work, const running_program& starter, layout_source expected) {
  process_memory live(process_id{starter.pid()});
  recording_reader recorded(live);
  const std::uint64_t peak =
      peak_growth([&] { must_be(find_all(starter.pid(), recorded) == expected, "the layout's source"); });
  std::size_t bytes = 0;
  for (const iovec& range : recorded.seen) bytes += range.iov_len;
  std::vector<char> buffer(bytes, 'x');
  const auto bare = [&] { bare_reads(starter.pid(), recorded.seen, buffer); };
  const auto library = [&] { (void)find_all(starter.pid(), live); };
  const system_call_counter counter;
  const auto calls = counter.of(library), floor_calls = counter.of(bare);
  const auto opens = system_call_counter::of_opens().of(library);
  const auto [floor, ours] = in_turn({11, 101, 1500}, bare, library);
  std::vector<double> gdb;
  const std::string command = fmt::format(
      "gdb -q -nx -batch -p {} -ex 'info address MPIR_Breakpoint' -ex 'ptype MPIR_proctable' >/dev/null 2>&1",
      starter.pid());
  constexpr int rival_rounds = 3;
  for (int round = 0; round < rival_rounds; ++round) {
    gdb.push_back(milliseconds_of([&] { (void)std::system(command.c_str()); }));
  }
  measurement(work, 1, "starter")
      .ours(ours)
      .floor("what was read of the process's memory, once more in the fewest calls; files cost nothing here", floor)
      .rival("gdb attached to it, from its start", gdb)
      .calls(calls, floor_calls)
      .opens(opens)
      .memory(peak, 0)
      .print();
}

/// A generated starter, kept for the next run; empty where it could not be made.
std::optional<std::string> large_program(int units, const std::string& index) {
  const std::string plain = fmt::format("{}/large_program_{}", MPIACQ_BENCH_DIR, units);
  const std::string path = index.empty() ? plain : plain + "_" + index;
  if (std::filesystem::exists(path)) return path;
  const std::string what = index.empty() ? std::to_string(units) : fmt::format("{} {}", plain, index);
  const std::string command = fmt::format("python3 {} {} {}", MPIACQ_LARGE_PROGRAM, path, what);
  if (std::system(command.c_str()) == 0) return path;
  fmt::print(stderr, "symbols_bench: {} could not be made\n", path);
  return std::nullopt;
}

}  // namespace

int main() {
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  ::setenv("OMPI_MPIR_DO_NOT_WARN", "1", 1);
  ::setenv("DEBUGINFOD_URLS", "", 1);
  bool fine = true;
  if (std::system("command -v mpirun.openmpi >/dev/null") == 0) {
    const running_program mpirun({"mpirun.openmpi", "-n", "1", "sh", "-c", "echo ready; exec sleep 1000"});
    measure("symbols, stripped starter", mpirun, layout_source::inferred);
  } else {
    fmt::print(stderr, "symbols_bench: Open MPI is not installed\n");
    fine = false;
  }
  struct generated {
    const char* work;
    int units;
    const char* index;
  };
  for (const generated& g :
       {generated{"symbols, 10 MB of DWARF", 40, ""}, generated{"symbols, 500 MB of DWARF", 2000, ""},
        generated{"symbols, 500 MB of DWARF, .gdb_index", 2000, "gdb"},
        generated{"symbols, 500 MB of DWARF, .debug_names", 2000, "names"}}) {
    const auto program = large_program(g.units, g.index);
    fine = fine && program;
    if (program) measure(g.work, running_program({*program}), layout_source::dwarf);
  }
  return fine ? 0 : 1;
}
