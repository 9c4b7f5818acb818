// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Agents of many nodes on this machine: each with its own connection, port and threads, many of them in a process.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "made_up_ranks.hpp"
#include "measurement.hpp"
#include "node/agent_process.hpp"
#include "peak_memory.hpp"
#include "tree/front_end.hpp"

namespace mpiacq::bench {

/// A job of so many nodes.
struct made_up_job {
  std::uint32_t agents = 0;
  std::uint32_t ranks_each = 0;
  std::uint32_t own_places = 0;
  std::uint32_t ranks() const { return agents * ranks_each; }
  made_up_ranks of(std::uint32_t node) const { return {node * ranks_each, ranks_each, ranks(), own_places}; }
};

/// So many come at a time, as they do by ssh; those of a process come one after the other.
constexpr std::uint32_t most_processes = 32;
constexpr std::uint32_t least_in_a_process = 64;
constexpr std::string_view agents_here = "--agents";
/// Of a rank that nobody runs: no number of any process, so that no agent takes its ranks for ended.
constexpr process_id no_process{-1};

/// What the benchmark's program does when it has been started as `--agents FIRST STRIDE AGENTS RANKS_EACH OWN_PLACES`:
/// the agents of nodes FIRST, FIRST + STRIDE and so on, so that neighbours come from different processes and hardly
/// ever right after each other.
inline int be_agents(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 2, argv + argc);
  const auto number = [&](std::size_t i) { return static_cast<std::uint32_t>(std::stoul(arguments.at(i))); };
  const std::uint32_t first = number(0), stride = number(1);
  const made_up_job job{number(2), number(3), number(4)};
  arguments.erase(arguments.begin(), arguments.begin() + 5);
  auto order = parse_agent_order(arguments);
  if (!order) return 1;
  std::deque<std::thread> threads;
  std::counting_semaphore<> come(0);
  for (std::uint32_t node = first; node < job.agents; node += stride) {
    order->node = std::to_string(node);
    threads.emplace_back([&come, mine = *order, job, node] {
      const auto answers = [&](const std::vector<rank_process>&) -> agents::answerer {
        come.release();
        auto part = std::make_shared<const group_stacks>(stacks_of(job.of(node)));
        const auto answer = [part](const agents::question&, const answer_terms&) { return agents::answer_body(*part); };
        return agents::answerer{answer};
      };
      if (const auto ended = agents::agent_process::run(mine, answers, -1); !ended)
        std::fprintf(stderr, "agent of node %u: %s\n", node, ended.error().message.c_str());
      come.release();
    });
    come.acquire();
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}

/// A front end and its agents, all of which have come.
class running_agents {
 public:
  running_agents(const made_up_job& job, std::uint32_t fan_out, const std::string& secret_folder) : job_(job) {
    agents::front_end_options options;
    options.fan_out = fan_out;
    options.loopback_only = true;
    options.munge_socket = secret_folder + "/no-socket";  // the same proof everywhere: the secret file
    options.secret_folder = secret_folder;
    auto made = agents::front_end::open(options, [job](const agents::node_names& names, std::uint32_t) {
      std::vector<rank_process> ranks;
      const made_up_ranks mine = job.of(static_cast<std::uint32_t>(std::stoul(names.given)));
      for (std::uint32_t rank = mine.first; rank < mine.first + mine.count && job.agents > 1; ++rank)
        ranks.push_back({entry_index{rank}, no_process, "/home/somebody/work/application/bin/solver"});
      return std::optional(std::move(ranks));
    });
    if (!made) give_up(made.error().message);
    front_ = std::move(*made);
    const auto begin = steady::now();
    const double processor = processor_ms();
    start();
    const auto end = clock::now() + std::chrono::seconds(120);
    while (front_->agents().size() < job.agents && clock::now() < end) front_->turn(end);
    if (front_->agents().size() < job.agents) give_up("not all agents have come");
    come_ms_ = milliseconds_since(begin);
    come_processor_ms_ = processor_ms() - processor;
  }
  /// Whoever is told the end ends.
  ~running_agents() {
    front_.reset();
    for (const pid_t pid : processes_) ::waitpid(pid, nullptr, 0);
  }
  running_agents(const running_agents&) = delete;
  running_agents& operator=(const running_agents&) = delete;

  /// Milliseconds from the question to the merged answer.
  double ask() {
    std::optional<agents::collected_answer> all;
    double took = 0;
    // Thousands of agents that share two cores have moments in which one gets no time, and is named for that; it is
    // there again for the next question.
    for (int time = 0; time < most_times; ++time) {
      const std::uint64_t before = front_->bytes_received();
      const double processor = processor_ms();
      took = milliseconds_of([&] {
        front_->ask(agents::ask_stacks{}, std::chrono::seconds(100));
        all = front_->collect();
      });
      bytes_ = front_->bytes_received() - before;
      processor_ms_ = processor_ms() - processor;
      if (all->missing.empty()) break;
      ++asked_again_;
    }
    if (!all->missing.empty()) give_up("an agent is missing: " + all->missing.front().why.message);
    const auto& tree = std::get<group_stacks>(all->what.value()).tree;
    if (tree[call_tree::root].ranks.count() != job_.ranks()) give_up("ranks are missing");
    return took;
  }

  [[nodiscard]] double come_ms() const { return come_ms_; }
  /// What of that the front end itself finished_answer, all its threads together.
  [[nodiscard]] double come_processor_ms() const { return come_processor_ms_; }
  /// The same for the last question.
  [[nodiscard]] double question_processor_ms() const { return processor_ms_; }
  /// Questions that some agents were missing of.
  [[nodiscard]] int asked_again() const { return asked_again_; }
  /// That the front end was sent for the last question.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// Agents that answered to the front end itself.
  [[nodiscard]] std::size_t direct() const { return front_->direct(); }
  /// Of an agent, with its share of its process.
  [[nodiscard]] double resident_kb_each() const {
    std::uint64_t all = 0;
    for (const pid_t pid : processes_) all += peak_of(std::to_string(pid));
    return static_cast<double>(all) / 1000 / job_.agents;
  }
  /// How much one works in a second in which nothing is asked, in microseconds.
  [[nodiscard]] double idle_us_each() const {
    const double before = processor_ms_of_agents();
    const auto begin = steady::now();
    std::this_thread::sleep_for(std::chrono::seconds(1));
    return (processor_ms_of_agents() - before) * 1e6 / milliseconds_since(begin) / job_.agents;
  }

 private:
  [[nodiscard]] static double processor_ms() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto ms = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
    };
    return ms(used.ru_utime) + ms(used.ru_stime);
  }
  [[nodiscard]] double processor_ms_of_agents() const {
    clockid_t of_process{};
    double all = 0;
    for (const pid_t pid : processes_) {
      timespec used{};
      if (::clock_getcpuclockid(pid, &of_process) == 0 && ::clock_gettime(of_process, &used) == 0)
        all += static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) / 1e6;
    }
    return all;
  }
  [[noreturn]] static void give_up(const std::string& why) {
    std::fprintf(stderr, "%s\n", why.c_str());
    std::exit(1);
  }
  void start() {
    agent_order order = front_->order();
    order.at_most = std::chrono::seconds(300);
    const auto told = arguments_of(order);
    const std::uint32_t count = std::min((job_.agents + least_in_a_process - 1) / least_in_a_process, most_processes);
    for (std::uint32_t first = 0; first < count; ++first) {
      std::vector<std::string> line = {"agents_bench",
                                       std::string(agents_here),
                                       std::to_string(first),
                                       std::to_string(count),
                                       std::to_string(job_.agents),
                                       std::to_string(job_.ranks_each),
                                       std::to_string(job_.own_places)};
      line.insert(line.end(), told.begin(), told.end());
      std::vector<char*> words;
      for (std::string& word : line) words.push_back(word.data());
      words.push_back(nullptr);
      pid_t pid = 0;
      if (::posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr, words.data(), environ) != 0) give_up("no process");
      processes_.push_back(pid);
    }
  }

  made_up_job job_;
  std::unique_ptr<agents::front_end> front_;
  std::vector<pid_t> processes_;
  static constexpr int most_times = 5;
  double come_ms_ = 0;
  double come_processor_ms_ = 0;
  double processor_ms_ = 0;
  int asked_again_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace mpiacq::bench
