// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "guard.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <new>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "waiter.hpp"

namespace mpiacq::tracing {

namespace {

void hold(pthread_mutex_t& alive) {
  pthread_mutexattr_t kind;
  ::pthread_mutexattr_init(&kind);
  ::pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
  ::pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
  ::pthread_mutex_init(&alive, &kind);
  ::pthread_mutexattr_destroy(&kind);
  ::pthread_mutex_lock(&alive);
}

}  // namespace

result<std::unique_ptr<guard>> guard::start() {
  const auto failed = [] {
    return fail(error{error_code::system, "no guard can be started that would take breakpoints out if this tool died"}
                    .with_errno(errno));
  };
  void* pages = ::mmap(nullptr, sizeof(guard_table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return failed();
  auto* table = new (pages) guard_table{};
  hold(table->alive);
  // A bare fork with no signal at the end, so that the host program gets no SIGCHLD for a child that it does not know.
  const long id = ::syscall(SYS_clone, 0, nullptr, nullptr, nullptr, 0);
  if (id == 0) run_guard(*table);
  std::unique_ptr<guard> made(new guard(id < 0 ? 0 : static_cast<pid_t>(id), table));
  if (id < 0) return failed();
  return made;
}

guard::~guard() {
  const bool idle = std::none_of(table_->entries.begin(), table_->entries.end(),
                                 [](const guarded_breakpoint& b) { return b.process != 0; });
  if (id_ != 0 && idle) {
    ::kill(id_, SIGKILL);
    waiter::reap(id_);
  }
  // Nobody else's: where the tracing thread has ended, the kernel has taken it.
  ::pthread_mutex_unlock(&table_->alive);
  ::munmap(table_, sizeof(guard_table));
}

void guard::await_take_over() {
  const timespec limit{2, 0};
  while (table_->taken_over == 0) {
    // Shared, not private: the other side is another process.
    const long woken = ::syscall(SYS_futex, &table_->taken_over, FUTEX_WAIT, 0, &limit, nullptr, 0);
    if (woken != 0 && errno == ETIMEDOUT) return;
  }
}

result<void> guard::add(pid_t process, target_address address, std::span<const std::byte> original) {
  auto& entries = table_->entries;
  const auto free =
      std::find_if(entries.begin(), entries.end(), [](const guarded_breakpoint& b) { return b.process == 0; });
  if (free == entries.end() || original.size() > free->original.size()) {
    return fail(error_code::limit, fmt::format("no more than {} breakpoints can be in at a time", entries.size()));
  }
  free->is_software = !original.empty();
  free->length = static_cast<std::uint8_t>(original.size());
  std::copy(original.begin(), original.end(), free->original.begin());
  free->address = address.value();
  free->process.store(process, std::memory_order_release);
  const auto index = static_cast<std::uint32_t>(free - entries.begin());
  if (index >= table_->used) table_->used.store(index + 1, std::memory_order_release);
  return {};
}

void guard::remove(pid_t process, target_address address) {
  for (guarded_breakpoint& b : table_->entries) {
    if (b.process == process && b.address == address.value()) b.process.store(0, std::memory_order_release);
  }
}

void guard::remove_all_of(pid_t process) {
  for (guarded_breakpoint& b : table_->entries) {
    if (b.process == process) b.process.store(0, std::memory_order_release);
  }
}

}  // namespace mpiacq::tracing
