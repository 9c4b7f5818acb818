// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "start/scoped_fd_limit.hpp"

#include <filesystem>
#include <mutex>
#include <system_error>

#include "descriptors/fd_limit.hpp"

namespace mpiacq::agents {

namespace {

/// Descriptors for other parts of the process.
constexpr std::size_t for_others = 256;

/// All objects share the process's one limit.
struct process_limit {
  std::mutex lock;
  std::size_t raised_by = 0;
  base::fd_limit limit;
};

process_limit& limit() {
  static process_limit only;
  return only;
}

std::size_t count_open() {
  std::error_code unknown;
  std::size_t count = 0;
  for (std::filesystem::directory_iterator i("/proc/self/fd", unknown), end; !unknown && i != end; i.increment(unknown))
    ++count;
  return count;
}

}  // namespace

void scoped_fd_limit::reserve(std::size_t more) {
  process_limit& all = limit();
  const std::lock_guard guard(all.lock);
  const auto raised = base::raise_fd_limit(count_open() + more + for_others);
  if (!raised || raised->now == raised->before) return;
  if (all.raised_by == 0) all.limit.before = raised->before;
  all.limit.now = raised->now;
  if (!has_raised_) ++all.raised_by;
  has_raised_ = true;
}

scoped_fd_limit::~scoped_fd_limit() {
  process_limit& all = limit();
  const std::lock_guard guard(all.lock);
  if (has_raised_ && --all.raised_by == 0) base::change_fd_limit(all.limit.now, all.limit.before);
}

original_descriptor_limit::original_descriptor_limit() {
  process_limit& all = limit();
  all.lock.lock();
  if (all.raised_by != 0) base::change_fd_limit(all.limit.now, all.limit.before);
}

original_descriptor_limit::~original_descriptor_limit() {
  process_limit& all = limit();
  if (all.raised_by != 0) base::change_fd_limit(all.limit.before, all.limit.now);
  all.lock.unlock();
}

}  // namespace mpiacq::agents
