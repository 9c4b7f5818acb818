// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A live rank with queues that the test defines (fixtures/queue_ranks), as the subject of a queue host.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "catch.hpp"
#include "live_process.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/process/process_types.hpp"
#include "mpiacq/process/tracer.hpp"
#include "mpiacq/queues/queue_host.hpp"

namespace mpiacq::test {

/// A live process's memory. The object counts the reads of each page.
class counted_memory final : public memory_reader {
 public:
  explicit counted_memory(process_id pid) : behind_(pid) {}

  result<void> read_ranges(std::span<memory_range> ranges) override {
    ++calls;
    auto read = behind_.read_ranges(ranges);
    for (const memory_range& range : ranges) {
      const std::uint64_t first = range.address.value() / read_page_size;
      const std::uint64_t end = (range.address.value() + range.got + read_page_size - 1) / read_page_size;
      for (std::uint64_t page = first; page < end; ++page) ++pages[page];
    }
    return read;
  }

  std::size_t calls = 0;
  std::map<std::uint64_t, int> pages;

 private:
  process_memory behind_;
};

class rank_process {
 public:
  explicit rank_process(std::vector<std::string> words, const std::string& program = "queue_rank")
      : process_(arguments(program, std::move(words))) {
    process_.lines_until_ready();
    auto opened = process_symbols::open(process_.pid(), symbols_memory_);
    REQUIRE(opened);
    symbols_ = std::move(*opened);
    types_ = std::make_unique<process_types>(*symbols_, catalogue_);
    target_ = std::make_unique<target>(target{memory, nullptr, symbols_->abi(), *symbols_});
  }

  [[nodiscard]] queue_subject subject() { return {*target_, *types_, 0, "queue_rank"}; }
  [[nodiscard]] process_id pid() const { return process_.pid(); }
  void end() { process_.end(); }

 private:
  static std::vector<std::string> arguments(const std::string& program, std::vector<std::string> words) {
    std::vector<std::string> all{std::string(MPIACQ_QUEUE_RANKS) + "/" + program, "0", "4"};
    all.insert(all.end(), words.begin(), words.end());
    return all;
  }

  live_process process_;
  process_memory symbols_memory_{process_.pid()};
  type_catalogue catalogue_;
  std::unique_ptr<process_symbols> symbols_;
  std::unique_ptr<process_types> types_;
  std::unique_ptr<target> target_;

 public:
  counted_memory memory{process_.pid()};  ///< only the host reads it
};

inline std::string library_path(const std::string& name) {
  return std::string(MPIACQ_QUEUE_LIBRARIES) + "/libqueue_" + name + ".so";
}

/// Options that trust the fixtures: the build folder may be in /tmp, or its group may be able to write it.
inline queue_host_options trusting() {
  queue_host_options options;
  options.trust_library = true;
  return options;
}

inline result<queue_report> read_with(const std::string& library, rank_process& rank,
                                      const queue_host_options& options = trusting()) {
  auto host = queue_host::create(library_path(library), options);
  if (!host) return fail(std::move(host).error());
  return (*host)->read(rank.subject());
}

/// All problems of a report, one per line.
inline std::string problems_of(const result<queue_report>& report) {
  if (!report) return report.error().message;
  std::string all;
  for (const error& problem : report->problems) all += problem.message + "\n";
  return all;
}
inline std::string notes_of(const queue_report& report) {
  std::string all;
  for (const std::string& note : report.notes) all += note + "\n";
  return all;
}

}  // namespace mpiacq::test
