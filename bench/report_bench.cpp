// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the report of a large job costs beside the bytes of it: the command's own code on tables of growing size.
//   report_bench [ENTRIES...]
//
// The floor writes the same bytes, which it has in memory already, in pieces of 64 KiB into the same kind of file.
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_sizes.hpp"
#include "in_turn.hpp"
#include "measurement.hpp"
#include "mpiacq/job/process_table.hpp"
#include "peak_memory.hpp"
#include "report/report_stream.hpp"
#include "table_report.hpp"

using namespace mpiacq;
using namespace mpiacq::bench;

namespace {

constexpr std::size_t ranks_on_host = 64;

process_table made_table(std::size_t entries, bool own_strings) {
  std::vector<std::string> hosts, programs;
  const std::size_t host_count = own_strings ? entries : entries / ranks_on_host + 1;
  for (std::size_t i = 0; i < host_count; ++i) hosts.push_back(fmt::format("node{:08}", i));
  for (std::size_t i = 0; i < (own_strings ? entries : 1); ++i) {
    programs.push_back(fmt::format("/scratch/project/bin/solver.{:08}", i));
  }
  std::vector<table_row> rows;
  for (std::size_t i = 0; i < entries; ++i) {
    rows.push_back({hosts[own_strings ? i : i / ranks_on_host], programs[own_strings ? i : 0],
                    process_id{static_cast<std::int64_t>(1000 + i % 4'000'000)}, 0,
                    rank_number{static_cast<std::int32_t>(i)}});
  }
  return make_process_table(rows, {}, inferred_descriptor_layout(target_abi{}));
}

/// A file in memory, emptied before each report.
class memory_file {
 public:
  memory_file() : descriptor_(::memfd_create("report", MFD_CLOEXEC)) {
    if (descriptor_ < 0) std::abort();
  }
  ~memory_file() { ::close(descriptor_); }
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;
  [[nodiscard]] int emptied() const {
    if (::lseek(descriptor_, 0, SEEK_SET) != 0) std::abort();
    return descriptor_;
  }
  [[nodiscard]] std::string contents() const {
    std::string all(static_cast<std::size_t>(::lseek(descriptor_, 0, SEEK_CUR)), '\0');
    if (::pread(descriptor_, all.data(), all.size(), 0) != static_cast<ssize_t>(all.size())) std::abort();
    return all;
  }

 private:
  int descriptor_;
};

void write_report(const process_table& table, bool json, int descriptor) {
  if (test::write_table_report(table, json, descriptor) != 0) std::abort();
}

void measure(std::size_t entries, bool own_strings, bool json) {
  const process_table table = made_table(entries, own_strings);
  const memory_file ours_to, floor_to;
  const std::uint64_t peak = peak_growth([&] { write_report(table, json, ours_to.emptied()); });
  const std::string bytes = ours_to.contents();
  const auto library = [&] { write_report(table, json, ours_to.emptied()); };
  const auto bare = [&] {
    constexpr std::size_t piece = 65536;
    const int descriptor = floor_to.emptied();
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      if (tool::write_all(descriptor, std::string_view(bytes).substr(at, piece)) != 0) std::abort();
    }
  };
  const auto [floor, ours] = in_turn({7, 41, 3000}, bare, library);
  measurement(fmt::format("report, {}, {}", json ? "JSON" : "text", own_strings ? "own strings" : "shared strings"),
              entries, "entries")
      .ours(ours)
      .floor("write of the same bytes in pieces of 64 KiB", floor)
      .memory(peak, bytes.size())
      .print();
}

}  // namespace

int main(int argc, char** argv) {
  bool fine = true;
  for (const std::size_t entries : sizes(argc, argv, {10'000, 100'000, 1'000'000})) {
    for (const bool own_strings : {false, true}) {
      for (const bool json : {true, false}) {
        // In a process of its own, so that none finds memory that another has given back.
        const pid_t child = ::fork();
        if (child == 0) {
          measure(entries, own_strings, json);
          ::_exit(0);
        }
        int status = 0;
        fine = ::waitpid(child, &status, 0) == child && status == 0 && fine;
      }
    }
  }
  return fine ? 0 : 1;
}
