// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "descriptors/unique_fd.hpp"
#include "mpiacq/job/job.hpp"

namespace mpiacq {

namespace {

error_code code_of(int number) {
  switch (number) {
    case ESRCH:
      return error_code::process_gone;
    case ENOENT:
    case ENOTDIR:
      return error_code::not_found;
    case EACCES:
    case EPERM:
    case ELOOP:
      return error_code::permission;
    default:
      return error_code::system;
  }
}

/// The FIFO and its starter, which every error names.
struct subject {
  const std::string& path;
  process_id starter;

  [[nodiscard]] error because(error_code code, std::string_view what) const {
    return error{code, fmt::format("the attach FIFO {} of starter {} {}", path, starter.value(), what)}.on(path);
  }
  [[nodiscard]] error failed(std::string_view what, int number) const {
    return because(code_of(number), what).with_errno(number);
  }
};

/// Finds a file as the starter sees it, without opening it. `proc`: the starter's folder in /proc. Links on the way are
/// followed below the starter's root.
base::unique_fd look_up(const base::unique_fd& proc, const std::string& path) {
  const bool is_absolute = path.front() == '/';
  const base::unique_fd start(::openat(proc.get(), is_absolute ? "root" : "cwd", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!start.is_open()) return {};
  const char* below = path.c_str() + std::min(path.find_first_not_of('/'), path.size());
  constexpr int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
  open_how how{};
  how.flags = flags;
  how.resolve = RESOLVE_NO_MAGICLINKS | (is_absolute ? RESOLVE_IN_ROOT : 0U);
  const auto found = static_cast<int>(::syscall(SYS_openat2, start.get(), below, &how, sizeof how));
  // A kernel before 5.6, or a sandbox without newer calls, has no openat2. An absolute link is then followed below the
  // tool's own root. `check` refuses whatever is no FIFO of the starter's user.
  if (found < 0 && (errno == ENOSYS || errno == EPERM)) return base::unique_fd(::openat(start.get(), below, flags));
  return base::unique_fd(found);
}

/// The effective user of the starter. The owner of /proc/PID is no answer: it is root for a process that is not
/// dumpable.
std::optional<uid_t> effective_user(const base::unique_fd& proc) {
  const base::unique_fd status(::openat(proc.get(), "status", O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> text{};
  const ssize_t size = status.is_open() ? ::read(status.get(), text.data(), text.size() - 1) : -1;
  if (size <= 0) return std::nullopt;
  constexpr std::string_view key = "\nUid:\t";
  const std::size_t at = std::string_view(text.data(), static_cast<std::size_t>(size)).find(key);
  if (at == std::string_view::npos) return std::nullopt;
  char* real_end = nullptr;
  (void)std::strtoul(text.data() + at + key.size(), &real_end, 10);
  return static_cast<uid_t>(std::strtoul(real_end, nullptr, 10));
}

/// write(2) without the SIGPIPE that the host program gets if the reader has just closed the FIFO.
ssize_t write_quietly(int fifo, std::byte byte) {
  sigset_t pipe_signal, before, pending;
  ::sigemptyset(&pipe_signal);
  ::sigaddset(&pipe_signal, SIGPIPE);
  ::sigemptyset(&pending);
  ::sigpending(&pending);
  const bool was_pending = ::sigismember(&pending, SIGPIPE) == 1;
  ::pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  ssize_t written = 0;
  do {
    written = ::write(fifo, &byte, 1);
  } while (written < 0 && errno == EINTR);
  const int number = errno;
  if (written < 0 && number == EPIPE && !was_pending) {
    constexpr timespec at_once{};
    while (::sigtimedwait(&pipe_signal, nullptr, &at_once) < 0 && errno == EINTR) continue;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = number;
  return written;
}

result<void> check(const base::unique_fd& found, const base::unique_fd& proc, const subject& fifo) {
  struct stat what {};
  if (::fstat(found.get(), &what) != 0) return fail(fifo.failed("cannot be looked at", errno));
  if (S_ISLNK(what.st_mode))
    return fail(fifo.because(error_code::permission, "is a symbolic link, which is not followed"));
  if (!S_ISFIFO(what.st_mode))
    return fail(fifo.because(error_code::bad_format, "is no FIFO: nothing is written to it"));
  const auto owner = effective_user(proc);
  if (!owner) return fail(fifo.because(error_code::process_gone, "cannot be used: the starter has ended"));
  if (what.st_uid == *owner) return {};
  return fail(fifo.because(error_code::permission,
                           fmt::format("belongs to user {}, and the starter runs as user {}: nothing is written to it",
                                       what.st_uid, *owner)));
}

}  // namespace

result<void> kick_attach_fifo(const std::string& path, process_id starter) {
  const subject fifo{path, starter};
  if (path.empty()) return fail(fifo.because(error_code::not_found, "has no name: the starter polls instead"));
  const base::unique_fd proc(
      ::open(fmt::format("/proc/{}", starter.value()).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!proc.is_open() && (errno == EMFILE || errno == ENFILE)) {
    return fail(fifo.because(error_code::system, "cannot be used: no descriptor is left").with_errno(errno));
  }
  if (!proc.is_open()) {
    return fail(fifo.because(error_code::process_gone, "cannot be used: the starter has ended").with_errno(errno));
  }
  const base::unique_fd found = look_up(proc, path);
  if (!found.is_open()) return fail(fifo.failed("cannot be found as the starter sees it", errno));
  if (auto good = check(found, proc, fifo); !good) return good;

  // Through the descriptor of the file that was checked: its name may lead to another file by now.
  const base::unique_fd open(
      ::open(fmt::format("/proc/self/fd/{}", found.get()).c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  if (!open.is_open()) {
    if (errno != ENXIO) return fail(fifo.failed("cannot be opened for writing", errno));
    return fail(fifo.because(error_code::busy, "has no reader: the starter does not listen for tools, or is ending")
                    .with_errno(ENXIO));
  }
  constexpr std::byte look_at_being_debugged{1};
  if (write_quietly(open.get(), look_at_being_debugged) == 1) return {};
  if (errno == EAGAIN) {
    return fail(fifo.because(error_code::busy, "is full: the starter does not read it").with_errno(EAGAIN));
  }
  if (errno == EPIPE) {
    return fail(fifo.because(error_code::busy, "has lost its reader during the write").with_errno(EPIPE));
  }
  return fail(fifo.failed("cannot be written to", errno));
}

}  // namespace mpiacq
