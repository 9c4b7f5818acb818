// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What a look at message queues costs: a library in a process of its own against the same library in ours, both in
// turn; how often the rank's memory is read; many ranks side by side. Against the same library in a program that
// fetches words by PTRACE_PEEKDATA. The library and the ranks are fixtures (fixtures/queue_ranks), so that what is
// measured is ours.
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
#include "in_turn.hpp"
#include "measurement.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/process/process_types.hpp"
#include "mpiacq/process/tracer.hpp"
#include "mpiacq/queues/queue_host.hpp"
#include "peak_memory.hpp"
#include "rival/peek_queues.hpp"
#include "system_calls.hpp"

using namespace mpiacq;
using namespace mpiacq::bench;

namespace {

constexpr std::size_t rival_rounds = 3;

void must(bool done, const std::string& what) {
  must_be(done, what.c_str());
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
    const auto report = host.read({*target_, types, 0, "queue_rank"});
    must(report.has_value() && report->problems.empty() && report->communicators.size() == 1, "queue_host::read");
    const auto& receives = report->communicators[0].of(queue_class::receives).operations;
    must(receives.size() == static_cast<std::size_t>(operations), "listing all operations");
  }
  /// The same by words, with the process held around it.
  void peek(type_catalogue& catalogue, int operations, std::vector<double>& times) {
    process_types types(*symbols_, catalogue);
    peeking_queue_host host(MPIACQ_QUEUE_LIBRARY, pid_, *target_, types);
    bare_hold({pid_});
    (void)host.count_operations();  // names and types are looked up
    for (std::size_t round = 0; round < rival_rounds; ++round) {
      times.push_back(milliseconds_of([&] {
        must(host.count_operations() == static_cast<std::size_t>(operations), "listing all operations by words");
      }));
    }
    bare_release({pid_});
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

constexpr auto floor_is = "the same library in this program";
constexpr auto rival_is = "the same library in a program that fetches words by PTRACE_PEEKDATA, names and types known";

void many_side_by_side(int count, int operations) {
  const system_call_counter counter;
  std::vector<std::unique_ptr<rank>> ranks;
  for (int i = 0; i < count; ++i) ranks.push_back(std::make_unique<rank>(operations));
  type_catalogue catalogue;
  const unsigned workers = std::max(1U, std::thread::hardware_concurrency());
  const auto ranks_at_once = [&] {
    std::atomic<std::size_t> next = 0;
    std::vector<std::thread> pool;
    for (unsigned w = 0; w < workers; ++w) {
      pool.emplace_back([&] {
        const auto host = host_of(queue_isolation::separate);
        for (std::size_t i = next++; i < ranks.size(); i = next++) ranks[i]->look(*host, catalogue, operations);
      });
    }
    for (std::thread& t : pool) t.join();
  };
  const auto here = host_of(queue_isolation::in_process);
  const auto one_by_one = [&] {
    for (const auto& one : ranks) one->look(*here, catalogue, operations);
  };
  const std::uint64_t peak = peak_growth(ranks_at_once);
  const auto calls = counter.of(ranks_at_once), calls_one_by_one = counter.of(one_by_one);
  const auto [floor, ours] = in_turn({}, one_by_one, ranks_at_once);
  std::vector<double> rival(rival_rounds);
  for (const auto& one : ranks) {
    std::vector<double> of_one;
    one->peek(catalogue, operations, of_one);
    for (std::size_t round = 0; round < rival_rounds; ++round) rival[round] += of_one[round];
  }
  measurement("queues of many ranks", static_cast<std::uint64_t>(count), "ranks")
      .ours(ours)
      .floor(std::string(floor_is) + ", rank by rank, since it cannot be there twice", floor)
      .rival(std::string(rival_is) + ", rank by rank", rival)
      .memory(peak, 0)
      .calls(calls, calls_one_by_one)
      .figure("operations_each", operations)
      .figure("ms_a_rank", median_of(ours) / count)
      .print();
}

void measure(int operations) {
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
  const auto [in_process, isolated] = in_turn(
      {}, [&] { one.look(*here, catalogue, operations); }, [&] { one.look(*apart, catalogue, operations); });
  // Last: the library has one set of callbacks.
  std::vector<double> by_words;
  one.peek(catalogue, operations, by_words);
  measurement("queues, isolated", static_cast<std::uint64_t>(operations), "operations")
      .ours(isolated)
      .floor(floor_is, in_process)
      .rival(rival_is, by_words)
      .memory(peak, 0)
      .calls(all_calls, calls_here)
      .figure("reads", static_cast<double>(reads))
      .figure("pages", static_cast<double>(pages))
      .print();
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int ranks = 64, operations_each = 100;
  for (const std::size_t operations : sizes(argc, argv, {100, 1'000, 10'000})) measure(static_cast<int>(operations));
  many_side_by_side(ranks, operations_each);
}
