// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "start/scoped_fd_limit.hpp"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <system_error>

#include <sys/resource.h>

namespace mpiacq::agents {

namespace {

/// For what else the process opens meanwhile.
constexpr std::size_t for_others = 256;

/// The limit is the process's, and several of us may have raised it.
struct process_limit {
  std::mutex lock;
  std::size_t raised_by = 0;
  rlim_t given = 0;
  rlim_t raised = 0;
};

process_limit& limit() {
  static process_limit only;
  return only;
}

/// Where the program has set another one meanwhile, that stays.
void change_soft_limit(rlim_t from, rlim_t to) {
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0 || now.rlim_cur != from) return;
  now.rlim_cur = std::min(to, now.rlim_max);
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &now));
}

std::size_t count_open() {
  std::error_code unknown;
  std::size_t count = 0;
  for (std::filesystem::directory_iterator i("/proc/self/fd", unknown), end; !unknown && i != end; i.increment(unknown))
    ++count;
  return count;
}

}  // namespace

void scoped_fd_limit::make(std::size_t more) {
  process_limit& all = limit();
  const std::lock_guard guard(all.lock);
  rlimit now{};
  const rlim_t wanted = count_open() + more + for_others;
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0 || now.rlim_cur >= std::min(wanted, now.rlim_max)) return;
  if (all.raised_by == 0) all.given = now.rlim_cur;
  if (!has_raised_) ++all.raised_by;
  has_raised_ = true;
  all.raised = std::min(wanted, now.rlim_max);
  change_soft_limit(now.rlim_cur, all.raised);
}

scoped_fd_limit::~scoped_fd_limit() {
  process_limit& all = limit();
  const std::lock_guard guard(all.lock);
  if (has_raised_ && --all.raised_by == 0) change_soft_limit(all.raised, all.given);
}

original_descriptor_limit::original_descriptor_limit() {
  process_limit& all = limit();
  all.lock.lock();
  if (all.raised_by != 0) change_soft_limit(all.raised, all.given);
}

original_descriptor_limit::~original_descriptor_limit() {
  process_limit& all = limit();
  if (all.raised_by != 0) change_soft_limit(all.given, all.raised);
  all.lock.unlock();
}

}  // namespace mpiacq::agents
