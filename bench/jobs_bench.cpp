// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What it costs to find the jobs of a node by the environment of its processes, a tenth of which are ranks, against a
// bare loop that reads /proc/PID/environ of each. In turn in one run, ratios of pairs.
//   jobs_bench [PROCESSES...]
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_sizes.hpp"
#include "environment_jobs.hpp"
#include "in_turn.hpp"
#include "measurement.hpp"
#include "mpiacq/job/job_list.hpp"
#include "system_calls.hpp"

using namespace mpiacq;
using namespace mpiacq::bench;

namespace {

constexpr std::size_t one_rank_of = 10;
constexpr std::size_t other_variables = 40;  // as a login shell has them, about 2 KiB

/// Sleeping programs with environments of a usual size, one of ten with the variables of a rank of one job.
class crowd {
 public:
  explicit crowd(std::size_t count) : ranks_(count / one_rank_of) {
    std::array<int, 2> told{};
    if (::pipe2(told.data(), O_CLOEXEC) != 0) std::abort();
    keeper_ = ::fork();
    if (keeper_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (std::size_t i = 0; i < count; ++i) start(i);
      ::close(told[0]);
      ::close(told[1]);
      while (true) ::pause();
    }
    ::close(told[1]);
    // Each program that is executed closes its end.
    char byte = 0;
    const ssize_t end = ::read(told[0], &byte, 1);
    (void)end;
    ::close(told[0]);
  }
  ~crowd() {
    ::kill(keeper_, SIGKILL);
    ::waitpid(keeper_, nullptr, 0);
  }
  crowd(const crowd&) = delete;
  crowd& operator=(const crowd&) = delete;
  [[nodiscard]] std::size_t ranks() const { return ranks_; }
  [[nodiscard]] pid_t keeper() const { return keeper_; }

 private:
  void start(std::size_t number) const {
    std::vector<std::string> variables;
    for (std::size_t i = 0; i < other_variables; ++i) {
      variables.push_back(fmt::format("VARIABLE_{}=/a/value/of/a/usual/length/{:016}", i, i));
    }
    if (number < ranks_) {
      for (std::string& one :
           std::vector<std::string>{fmt::format("RANK={}", number), fmt::format("WORLD_SIZE={}", ranks_),
                                    "MASTER_ADDR=n1", "MASTER_PORT=29500"}) {
        variables.push_back(std::move(one));
      }
    }
    std::vector<char*> environment;
    for (std::string& one : variables) environment.push_back(one.data());
    environment.push_back(nullptr);
    if (::vfork() != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::execle("/bin/sleep", "sleep", "100000", static_cast<char*>(nullptr), environment.data());
    ::_exit(1);
  }
  std::size_t ranks_;
  pid_t keeper_ = -1;
};

/// The floor: nothing is decoded.
std::size_t read_environments() {
  static std::vector<char> buffer(std::size_t{1} << 20);
  std::size_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const int file = ::open(("/proc/" + name + "/environ").c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) continue;
    const ssize_t got = ::read(file, buffer.data(), buffer.size());
    if (got > 0) bytes += static_cast<std::size_t>(got);
    ::close(file);
  }
  return bytes;
}

void must_be(bool done, const char* what) {
  if (done) return;
  std::fprintf(stderr, "%s failed\n", what);
  std::exit(1);
}

void measure(std::size_t count) {
  const crowd processes(count);
  const auto floor = [] { must_be(read_environments() > 0, "reading /proc"); };
  const auto environment = [&] {
    const environment_jobs jobs;
    const bool is_there = std::any_of(jobs.all().begin(), jobs.all().end(), [&](const environment_job& one) {
      return one.ranks_here() == processes.ranks();
    });
    must_be(is_there, "finding the job by its environment");
  };
  const auto all_jobs = [&] {
    const auto list = list_jobs();
    const bool is_there = list && std::any_of(list->jobs.begin(), list->jobs.end(), [&](const listed_job& one) {
                            return one.ranks_here == processes.ranks();
                          });
    must_be(is_there, "listing the jobs");
  };
  const system_call_counter counter;
  const auto [bare, by_environment, listed] = in_turn({}, floor, environment, all_jobs);
  const std::string what = "reading /proc/PID/environ of each";
  measurement("jobs by environment", count, "processes")
      .ours(by_environment)
      .floor(what, bare)
      .calls(counter.of(environment), counter.of(floor))
      .print();
  measurement("list of jobs", count, "processes")
      .ours(listed)
      .floor(what, bare)
      .calls(counter.of(all_jobs), counter.of(floor))
      .print();
}

}  // namespace

int main(int argc, char** argv) {
  for (const std::size_t count : sizes(argc, argv, {500, 5000})) measure(count);
  return 0;
}
