// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Programs that use the library while memory is short: large allocations of a call fail in turn.
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <new>
#include <utility>

#include "catch.hpp"
#include "mpiacq/job/job.hpp"
#include "mpiacq/job/job_graph.hpp"
#include "running_starter.hpp"

namespace {

/// How many large allocations of this thread are made before one fails; 0: none fails.
thread_local long until_failure = 0;

void* allocated(std::size_t bytes) {
  // Memory that is short fails large requests first. A small one fails inside of libstdc++, too, whose
  // directory_iterator::increment must not throw, and ends the program.
  constexpr std::size_t large = 512;
  if (bytes >= large && until_failure > 0 && --until_failure == 0) throw std::bad_alloc();
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) {
  return allocated(bytes);
}
void* operator new[](std::size_t bytes) {
  return allocated(bytes);
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

bool is_out_of_memory(const error& why) {
  return why.system_errno == ENOMEM && why.message.find("out of memory") != std::string::npos;
}

bool any_out_of_memory(const std::vector<error>& problems) {
  return std::any_of(problems.begin(), problems.end(), is_out_of_memory);
}

/// Which allocation after `begin_failing` fails.
long failing = 0;
void begin_failing() {
  until_failure = failing;
}
/// Nothing fails any more. Gives how many allocations were left until the failure; 0: there was one.
long end_failing() {
  return std::exchange(until_failure, 0);
}

/// What became of one call.
struct attempt {
  bool is_told = false;  ///< as memory that is short
  long left = 0;         ///< of `end_failing`
};

/// Makes a call with its first allocation failing, then with a later one, until the call makes fewer than that. Gives
/// how often the failure was told. The caller's own allocations, of options for instance, do not fail.
int times_told(const std::function<attempt()>& call) {
  int told = 0;
  for (failing = 1;; failing += 1 + failing / 8) {
    INFO("allocation " << failing);
    const attempt one = call();
    told += one.is_told ? 1 : 0;
    if (one.left > 0) return told;
  }
}

/// A job of two ranks that each wait in a receive for the other, whose queues can be read.
class queue_job : public running_starter {
 public:
  queue_job()
      : running_starter({"../queue_ranks/queue_job", "--hold", "--ranks", "2",
                         "library:" MPIACQ_QUEUE_LIBRARIES "/libqueue_perfect.so", "in:MPI_Recv", "@0",
                         "receive:world:1:7:64", "@1", "receive:world:0:8:32"}) {
    ready();
  }
  [[nodiscard]] bool ranks_run() const {
    const auto all = ranks();
    return std::all_of(all.begin(), all.end(),
                       [](pid_t rank) { return comes_true([rank] { return runs_freely(rank); }); });
  }
};

}  // namespace

TEST_CASE("no memory: launching a job fails, and no exception leaves the library") {
  CHECK(times_told([] {
          std::vector<std::string> command = {"/bin/true"};
          job_options options;
          begin_failing();
          const auto made = job::launch(std::move(command), std::move(options));
          const long left = end_failing();
          return attempt{!made && is_out_of_memory(made.error()), left};
        }) > 0);
}

TEST_CASE("no memory: a look at ranks fails, and the ranks run on") {
  const queue_job job;
  const auto view = job::find(job.id());
  REQUIRE(view.has_value());
  const rank_options all;
  CHECK(times_told([&] {
          begin_failing();
          const auto ranks = view->ranks(all);
          const long left = end_failing();
          return attempt{!ranks && is_out_of_memory(ranks.error()), left};
        }) > 0);
  CHECK(times_told([&] {
          auto ranks = view->ranks(all);
          REQUIRE(ranks.has_value());
          const stack_options how;
          begin_failing();
          const group_stacks seen = ranks->stacks(how);
          const long left = end_failing();
          // They run while `ranks` is there.
          CHECK(job.ranks_run());
          return attempt{any_out_of_memory(seen.problems), left};
        }) > 0);
  CHECK(times_told([&] {
          auto ranks = view->ranks(all);
          REQUIRE(ranks.has_value());
          rank_queue_options how;
          how.host.trust_library = true;
          begin_failing();
          const group_queues seen = ranks->queues(how);
          const long left = end_failing();
          CHECK(job.ranks_run());
          return attempt{any_out_of_memory(seen.problems), left};
        }) > 0);
}

TEST_CASE("no memory: a look at the processes of an MPI2DD job fails") {
  const queue_job job;
  const graph_options options;
  CHECK(times_told([&] {
          begin_failing();
          const auto graph = look_at_graph(job.id(), options);
          const long left = end_failing();
          return attempt{!graph && is_out_of_memory(graph.error()), left};
        }) > 0);
}
