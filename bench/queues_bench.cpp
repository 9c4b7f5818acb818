// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What a look at message queues costs: a library in a process of its own against the same library in ours, both in
// turn; how often the rank's memory is read; many ranks side by side. The library and the ranks are fixtures
// (fixtures/queue_ranks), so that what is measured is ours.
//   queues_bench [OPERATIONS...]
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_sizes.hpp"
#include "measurement.hpp"
#include "mpiacq/process_symbols.hpp"
#include "mpiacq/process_types.hpp"
#include "mpiacq/queue_host.hpp"
#include "mpiacq/tracer.hpp"
#include "peak_memory.hpp"
#include "system_calls.hpp"

using namespace mpiacq;
using namespace mpiacq::bench;

namespace {

void must(bool done, const std::string& what) {
  if (done) return;
  fmt::print(stderr, "queues_bench: {} failed\n", what);
  std::exit(1);
}

/// A rank's memory. Each call of it is one system call.
class counted_memory final : public memory_reader {
 public:
  explicit counted_memory(process_id pid) : behind_(pid) {}
  result<void> read_ranges(std::span<memory_range> ranges) override {
    ++calls;
    for (const memory_range& range : ranges) {
      bytes += range.into.size();
      pages.insert(range.address.value() / read_page_size);
    }
    return behind_.read_ranges(ranges);
  }
  std::size_t calls = 0;
  std::size_t bytes = 0;
  std::set<std::uint64_t> pages;

 private:
  process_memory behind_;
};

/// fixtures/queue_ranks: a process with so many receives, waiting for the end of its input.
class rank {
 public:
  explicit rank(int operations) {
    int input[2], output[2];
    must(::pipe(input) == 0 && ::pipe(output) == 0, "pipe");
    const std::string many = fmt::format("many:{}", operations);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::dup2(input[0], STDIN_FILENO);
      ::dup2(output[1], STDOUT_FILENO);
      for (const int fd : {input[0], input[1], output[0], output[1]}) ::close(fd);
      ::execl(MPIACQ_QUEUE_RANK, "queue_rank", "0", "2", many.c_str(), static_cast<char*>(nullptr));
      ::_exit(127);
    }
    ::close(input[0]);
    ::close(output[1]);
    end_ = input[1];
    char ready[6];
    must(::read(output[0], ready, sizeof ready) == static_cast<ssize_t>(sizeof ready), MPIACQ_QUEUE_RANK);
    ::close(output[0]);
    memory_ = std::make_unique<counted_memory>(process_id{pid_});
    auto symbols = process_symbols::open(process_id{pid_}, *memory_);
    must(symbols.has_value(), "process_symbols::open");
    symbols_ = std::move(*symbols);
    target_ = std::make_unique<target>(target{*memory_, nullptr, symbols_->abi(), *symbols_});
  }
  ~rank() {
    ::close(end_);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  rank(const rank&) = delete;
  rank& operator=(const rank&) = delete;

  [[nodiscard]] counted_memory& memory() { return *memory_; }
  /// So many operations, or the end of the program.
  void look(queue_host& host, type_catalogue& catalogue, int operations) {
    process_types types(*symbols_, catalogue);
    const auto report = host.read({*target_, types, 0, 2, "queue_rank"});
    must(report.has_value() && report->problems.empty() && report->communicators.size() == 1, "queue_host::read");
    const auto& receives = report->communicators[0].of(queue_class::receives).operations;
    must(receives.size() == static_cast<std::size_t>(operations), "listing all operations");
  }

 private:
  pid_t pid_ = 0;
  int end_ = -1;
  std::unique_ptr<counted_memory> memory_;
  std::unique_ptr<process_symbols> symbols_;
  std::unique_ptr<target> target_;
};

std::unique_ptr<queue_host> host_of(queue_isolation isolation) {
  queue_host_options options;
  options.isolation = isolation;
  options.trust_library = true;
  auto host = queue_host::create(MPIACQ_QUEUE_LIBRARY, options);
  must(host.has_value(), "queue_host::create");
  return std::move(*host);
}

void many_side_by_side(int count, int operations) {
  std::vector<std::unique_ptr<rank>> ranks;
  for (int i = 0; i < count; ++i) ranks.push_back(std::make_unique<rank>(operations));
  type_catalogue catalogue;
  const unsigned workers = std::max(1U, std::thread::hardware_concurrency());
  const double time = milliseconds_of([&] {
    std::atomic<std::size_t> next = 0;
    std::vector<std::thread> pool;
    for (unsigned w = 0; w < workers; ++w) {
      pool.emplace_back([&] {
        const auto host = host_of(queue_isolation::separate);
        for (std::size_t i = next++; i < ranks.size(); i = next++) ranks[i]->look(*host, catalogue, operations);
      });
    }
    for (std::thread& t : pool) t.join();
  });
  measurement("queues of many ranks", static_cast<std::uint64_t>(count), "ranks")
      .ours({time})
      .figure("operations_each", operations)
      .figure("ms_a_rank", time / count)
      .print();
}

void measure(int operations, int rounds) {
  rank one(operations);
  type_catalogue catalogue;
  const system_call_counter counter;  // before the library's own process, which it is to count as well
  const auto here = host_of(queue_isolation::in_process);
  const auto apart = host_of(queue_isolation::separate);
  one.look(*apart, catalogue, operations);  // the first reads files
  one.look(*here, catalogue, operations);
  one.memory().calls = one.memory().bytes = 0;
  one.memory().pages.clear();
  one.look(*apart, catalogue, operations);
  const std::size_t reads = one.memory().calls, pages = one.memory().pages.size();
  const auto all_calls = counter.of([&] { one.look(*apart, catalogue, operations); });
  const auto calls_here = counter.of([&] { one.look(*here, catalogue, operations); });
  const std::uint64_t peak = peak_growth([&] { one.look(*apart, catalogue, operations); });
  std::vector<double> in_process, isolated;
  for (int i = 0; i < rounds; ++i) {
    in_process.push_back(milliseconds_of([&] { one.look(*here, catalogue, operations); }));
    isolated.push_back(milliseconds_of([&] { one.look(*apart, catalogue, operations); }));
  }
  measurement("queues, isolated", static_cast<std::uint64_t>(operations), "operations")
      .ours(isolated)
      .floor("the same library in this program", in_process)
      .memory(peak, 0)
      .calls(all_calls, calls_here)
      .figure("reads", static_cast<double>(reads))
      .figure("pages", static_cast<double>(pages))
      .print();
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int rounds = 21, ranks = 64, operations_each = 100;
  for (const std::size_t operations : sizes(argc, argv, {100, 1'000, 10'000}))
    measure(static_cast<int>(operations), rounds);
  many_side_by_side(ranks, operations_each);
}
