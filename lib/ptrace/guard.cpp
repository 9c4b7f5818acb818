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

result<std::unique_ptr<guard>> guard::start() {
  const auto failed = [] {
    return fail(error{error_code::system, "no guard can be started that would take breakpoints out if this tool died"}
                    .with_errno(errno));
  };
  void* pages = ::mmap(nullptr, sizeof(guard_table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return failed();
  auto* table = new (pages) guard_table{};
  const auto give_back = [&] { ::munmap(pages, sizeof(guard_table)); };
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    give_back();
    return failed();
  }
  const unique_fd theirs{ends[0]};
  unique_fd ours{ends[1]};
  // Readable when the whole tool has ended, also where a forked child of the host program keeps the pipe open. A kernel
  // without it (before 5.3) leaves the pipe alone to tell.
  const unique_fd tool{static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0))};
  // A bare fork with no signal at the end, so that the host program gets no SIGCHLD for a child that it does not know.
  const long id = ::syscall(SYS_clone, 0, nullptr, nullptr, nullptr, 0);
  if (id == 0) run_guard(theirs.get(), tool.get(), *table);
  if (id < 0) {
    give_back();
    return failed();
  }
  return std::unique_ptr<guard>(new guard(static_cast<pid_t>(id), std::move(ours), table));
}

guard::~guard() {
  const bool idle = std::none_of(table_->entries.begin(), table_->entries.end(),
                                 [](const guarded_breakpoint& b) { return b.process != 0; });
  if (id_ != 0 && idle) {
    ::kill(id_, SIGKILL);
    waiter::reap(id_);
  }
  ::munmap(table_, sizeof(guard_table));
}

void guard::take_over() {
  alive_.reset();
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
