// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "wire/launch_surroundings.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mpiacq::tracing {

namespace {

constexpr int signals_in_a_set = 64;

std::uint64_t blocked_in_this_thread() {
  sigset_t mask;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  std::uint64_t bits = 0;
  for (int number = 1; number <= signals_in_a_set; ++number) {
    if (::sigismember(&mask, number) == 1) bits |= std::uint64_t{1} << (number - 1);
  }
  return bits;
}

/// A number from /proc/self/status. umask(2) can be read only by setting it, which another thread would notice, and
/// signal dispositions only one by one.
std::optional<std::uint64_t> status_number(const std::string& status, const std::string& name, int base) {
  const auto at = status.find("\n" + name + ":");
  if (at == std::string::npos) return std::nullopt;
  return std::strtoull(status.c_str() + at + name.size() + 2, nullptr, base);
}

std::vector<int> inherited_descriptors() {
  std::vector<int> all;
  const auto add = [&](int fd) {
    const int flags = ::fcntl(fd, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) all.push_back(fd);
  };
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc/self/fd"), ::closedir);
  if (!folder) {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) add(fd);
    return all;
  }
  while (const dirent* entry = ::readdir(folder.get())) {
    if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9') add(std::atoi(entry->d_name));
  }
  return all;
}

}  // namespace

result<collected_surroundings> collect_surroundings() {
  collected_surroundings found;
  found.directory = unique_fd{::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!found.directory) {
    return fail(error{error_code::system, "the working directory cannot be handed to the program"}.with_errno(errno));
  }
  if (const char* path = std::getenv("PATH")) found.surroundings.search_path = path;
  found.surroundings.blocked_signals = blocked_in_this_thread();
  found.surroundings.process_group = ::getpgrp();
  const std::string status = read_small_file("/proc/self/status").value_or("");
  found.surroundings.file_mode_mask = status_number(status, "Umask", 8);
  found.surroundings.ignored_signals = status_number(status, "SigIgn", 16).value_or(0);
  found.surroundings.descriptors = inherited_descriptors();
  return found;
}

void ignore_signals(std::uint64_t bits) {
  for (int number = 1; number <= signals_in_a_set; ++number) {
    const bool is_ignored = (bits >> (number - 1) & 1) != 0;
    // The kernel's struct begins with the handler: 0 for the default action, 1 to ignore. The C library's call refuses
    // the two signals that it reserves, and its posix_spawn leaves them ignored.
    const std::array<unsigned long, 4> action = {is_ignored ? 1UL : 0UL};
    ::syscall(SYS_rt_sigaction, number, action.data(), nullptr, signals_in_a_set / 8);
  }
}

sigset_t signal_set(std::uint64_t bits) {
  sigset_t set;
  ::sigemptyset(&set);
  for (int number = 1; number <= signals_in_a_set; ++number) {
    if ((bits >> (number - 1) & 1) != 0) ::sigaddset(&set, number);
  }
  return set;
}

bool put_on(const launch_surroundings& what, std::span<const unique_fd> received, std::span<int* const> keep) {
  // The child is in the process group of the tracer server, which the tool may have left since.
  if (::getpgrp() != what.process_group) static_cast<void>(::setpgid(0, what.process_group));
  if (what.file_mode_mask) ::umask(static_cast<mode_t>(*what.file_mode_mask));
  const auto highest = std::max_element(what.descriptors.begin(), what.descriptors.end());
  const int above = highest == what.descriptors.end() ? 0 : *highest + 1;
  for (int* fd : keep) {
    *fd = ::fcntl(*fd, F_DUPFD_CLOEXEC, above);
    if (*fd < 0) return false;
  }
  std::vector<int> moved;
  for (const unique_fd& fd : received) {
    moved.push_back(::fcntl(fd.get(), F_DUPFD_CLOEXEC, above));
    if (moved.back() < 0) return false;
  }
  for (std::size_t i = 0; i < moved.size() && i < what.descriptors.size(); ++i) {
    if (::dup2(moved[i], what.descriptors[i]) < 0) return false;
  }
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    const auto& given = what.descriptors;
    // A stream that the tool has closed is closed for the program, too.
    if (std::find(given.begin(), given.end(), fd) == given.end()) ::close(fd);
  }
  return true;
}

}  // namespace mpiacq::tracing
