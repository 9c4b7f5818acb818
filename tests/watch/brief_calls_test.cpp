// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A process that computes, and makes calls that are too short for a look to meet them.
#include <csignal>
#include <cstdint>
#include <new>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catch.hpp"
#include "mpiacq/ranks/rank_group.hpp"
#include "rank_movement.hpp"
#include "run_command.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using namespace std::chrono_literals;

namespace {

/// Read and written by the compiler's own functions: those of std::atomic are calls in a build without optimization.
struct shared_counts {
  std::uint64_t wanted = 0;
  std::uint64_t made = 0;
};

[[gnu::noinline]] void call_deeply(std::uint64_t value) {
  volatile std::uint64_t room[300];
  for (auto& word : room) word = value;
}

/// Computes, and makes as many calls as are wanted.
[[gnu::noinline]] void compute(shared_counts& counts) {
  for (;;) {
    const std::uint64_t wanted = __atomic_load_n(&counts.wanted, __ATOMIC_ACQUIRE);
    if (counts.made == wanted) continue;
    call_deeply(wanted);
    __atomic_store_n(&counts.made, wanted, __ATOMIC_RELEASE);
  }
}

class computing_process {
 public:
  computing_process() {
    void* const memory =
        ::mmap(nullptr, sizeof(shared_counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    counts_ = new (memory) shared_counts;
    child_ = ::fork();
    REQUIRE(child_ >= 0);
    if (child_ == 0) {
      ::alarm(600);
      compute(*counts_);
    }
    make_a_call();
  }
  ~computing_process() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    ::munmap(counts_, sizeof(shared_counts));
  }
  computing_process(const computing_process&) = delete;
  computing_process& operator=(const computing_process&) = delete;

  void make_a_call() {
    const std::uint64_t number = counts_->wanted + 1;
    __atomic_store_n(&counts_->wanted, number, __ATOMIC_RELEASE);
    REQUIRE(comes_true([&] { return __atomic_load_n(&counts_->made, __ATOMIC_ACQUIRE) == number; }));
  }
  [[nodiscard]] process_id pid() const { return process_id{child_}; }

 private:
  shared_counts* counts_ = nullptr;
  pid_t child_ = 0;
};

watching::rank_sight look_at(rank_group& ranks) {
  stack_options how;
  how.positions = true;
  const group_stacks seen = ranks.stacks(how);
  REQUIRE(seen.positions.size() == 1);
  watching::rank_sight sight;
  sight.is = watching::rank_sight::state::outside;
  sight.position = seen.positions.front();
  return sight;
}

}  // namespace

TEST_CASE("a process that computes moves when it makes a call between two looks, and not otherwise") {
  computing_process process;
  auto ranks = rank_group::of_processes({{process.pid()}});
  REQUIRE(ranks);
  watching::rank_movement movement;
  const auto now = mpiacq::clock::now();
  CHECK_FALSE(movement.add(look_at(*ranks), now));
  for (int i = 0; i < 10; ++i) {
    CHECK_FALSE(movement.add(look_at(*ranks), now));
    CHECK_FALSE(movement.add(look_at(*ranks), now));
    process.make_a_call();
    CHECK(movement.add(look_at(*ranks), now));
  }
  CHECK(movement.is() == watching::rank_movement::mode::computes);
}
