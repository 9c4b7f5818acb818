// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Ranks that nobody runs: stacks as those of a solver that exchanges halos, so many as a large job has.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "wire/agent_messages.hpp"

namespace mpiacq::bench {

/// Ranks `first` to `first + count - 1` of a job of `all`. `own_places` of all, evenly spread, stand in a place that
/// nobody else stands in.
struct made_up_ranks {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t all = 0;
  std::uint32_t own_places = 0;
};

/// Calls of one library, outermost first.
class made_up_calls {
 public:
  made_up_calls(const std::string& module, std::initializer_list<const char*> functions) {
    std::uint32_t line = 100;
    for (const char* function : functions) add(module, function, line += 17);
  }
  void add(const std::string& module, const std::string& function, std::uint32_t line) {
    const std::string file = "/home/somebody/work/application/source/" + function.substr(0, function.find('(')) + ".c";
    places_.push_back(std::make_shared<const code_place>(code_place{function, file, line, module, {}}));
  }
  /// Behind these.
  [[nodiscard]] made_up_calls then(const made_up_calls& more) const {
    made_up_calls all = *this;
    all.places_.insert(all.places_.end(), more.places_.begin(), more.places_.end());
    return all;
  }
  [[nodiscard]] thread_stack stack() const {
    thread_stack made;
    for (auto place = places_.rbegin(); place != places_.rend(); ++place) made.frames.push_back({{}, *place});
    return made;
  }

 private:
  std::vector<std::shared_ptr<const code_place>> places_;
};

/// Three quarters wait for halos, a quarter for a sum; one of a thousand still computes, and rank 0 writes.
[[nodiscard]] inline group_stacks stacks_of(const made_up_ranks& ranks) {
  const std::string program = "/home/somebody/work/application/bin/solver";
  const std::string mpi = "/opt/site/mpi/lib/libmpi.so.40";
  const made_up_calls begun(
      program, {"_start", "main", "application::run()", "time_loop::advance(double)", "step::implicit(state&)",
                "newton::solve(system const&)", "gmres::iterate(system const&)", "multigrid::cycle(level&)",
                "multigrid::cycle(level&)", "multigrid::smooth(level&)"});
  const made_up_calls waiting(mpi, {"PMPI_Waitall", "ompi_request_default_wait_all", "ompi_request_wait_completion",
                                    "opal_progress", "mca_btl_progress", "ucp_worker_progress", "epoll_wait"});
  const made_up_calls summing(mpi, {"PMPI_Allreduce", "ompi_coll_allreduce", "ompi_coll_recursive_doubling",
                                    "ompi_request_default_wait", "opal_progress", "mca_btl_progress", "epoll_wait"});
  const made_up_calls exchange = begun.then({program, {"halo::exchange(field&)", "halo::finish(requests&)"}});
  const made_up_calls norm = begun.then({program, {"field::norm() const"}});
  const made_up_calls kernel = begun.then({program, {"kernel::relax(field&, int)"}});
  const thread_stack in_wait = exchange.then(waiting).stack(), in_sum = norm.then(summing).stack();
  const thread_stack computes = kernel.stack(), writes = begun.then({program, {"output::write(field const&)"}}).stack();
  constexpr std::uint32_t late_ones = 997;
  const std::uint32_t apart = ranks.own_places == 0 ? 0 : std::max(ranks.all / ranks.own_places, 1U);
  group_stacks part;
  for (std::uint32_t rank = ranks.first; rank < ranks.first + ranks.count; ++rank) {
    if (apart != 0 && rank % apart == 0) {
      made_up_calls own = kernel;
      own.add(program, "kernel::relax_cell(cell&)", 1000 + rank);
      part.tree.add(entry_index{rank}, own.stack());
    } else if (rank == 0) {
      part.tree.add(entry_index{rank}, writes);
    } else if (rank % late_ones == 0) {
      part.tree.add(entry_index{rank}, computes);
    } else {
      const bool sums = rank >= ranks.all / 2 && rank < ranks.all / 4 * 3;
      part.tree.add(entry_index{rank}, sums ? in_sum : in_wait);
    }
    part.taken.add(rank);
  }
  return part;
}

}  // namespace mpiacq::bench
