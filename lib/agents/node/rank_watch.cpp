// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "node/rank_watch.hpp"

#include <cerrno>
#include <chrono>
#include <utility>

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mpiacq::agents {

namespace {

constexpr std::chrono::milliseconds between_checks{500};

bool has_ended(int process) {
  pollfd end{process, POLLIN, 0};
  return ::poll(&end, 1, 0) > 0;
}

}  // namespace

rank_watch::rank_watch(const std::vector<rank_process>& ranks) : watches_(!ranks.empty()) {
  for (const rank_process& rank : ranks) {
    base::unique_fd process{static_cast<int>(::syscall(SYS_pidfd_open, rank.pid.value(), 0))};
    if (!process && errno == ESRCH) continue;
    if (!process) {
      // The process may have run out of descriptors, which other parts need.
      running_.clear();
      watches_ = false;
      return;
    }
    running_.push_back(std::move(process));
  }
}

bool rank_watch::all_have_ended() {
  if (!watches_ || clock::now() < next_check_) return false;
  next_check_ = clock::now() + between_checks;
  // While the last one runs, the others need not be checked.
  while (!running_.empty() && has_ended(running_.back().get())) running_.pop_back();
  return running_.empty();
}

}  // namespace mpiacq::agents
