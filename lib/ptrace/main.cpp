// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The tracing process (see tracing_process.hpp), started with its two sockets open at fixed numbers:
//
//   tracer of PID
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "service.hpp"
#include "standard_streams.hpp"
#include "tracing_process.hpp"

using namespace mpiacq::tracing;

namespace {

/// Nothing of the tool's is kept but the two sockets and the standard error, where a sanitizer or the loader may have
/// something to say: its pipes must be able to reach their end, its file systems to be unmounted.
bool stand_alone() {
  sigset_t all;
  ::sigfillset(&all);
  if (::sigprocmask(SIG_SETMASK, &all, nullptr) != 0 || ::chdir("/") != 0) return false;
  if (::syscall(SYS_close_range, first_free_descriptor, ~0U, 0) != 0) {
    for (int fd = first_free_descriptor; fd < 65536; ++fd) ::close(fd);
  }
  return true;
}

/// Empty where the tool has died already; then its sockets are at their end too.
unique_fd tool_process(pid_t id) {
  unique_fd process{static_cast<int>(::syscall(SYS_pidfd_open, id, 0))};
  return ::getppid() == id ? std::move(process) : unique_fd{};
}

}  // namespace

int main(int argc, char** argv) {
  if (!mpiacq::helper::open_missing_streams()) return 1;
  const long tool = argc == 3 && std::strcmp(argv[1], "of") == 0 ? std::strtol(argv[2], nullptr, 10) : 0;
  if (tool <= 0 || ::fcntl(events_descriptor, F_GETFD) < 0 || ::fcntl(commands_descriptor, F_GETFD) < 0) {
    std::fputs("This program is started by the mpiacq library, which lets it trace processes for it.\n", stderr);
    return 2;
  }
  for (const int fd : {commands_descriptor, events_descriptor}) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  if (!stand_alone()) return 1;
  auto w = waiter::create();
  if (!w) return 1;
  service tracing(
      {unique_fd{commands_descriptor}, unique_fd{events_descriptor}, tool_process(static_cast<pid_t>(tool))},
      std::move(*w));
  tracing.run();
  return 0;
}
