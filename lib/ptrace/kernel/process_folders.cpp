// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "kernel/process_folders.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/descriptor_limit.hpp"
#include "proc/proc_text.hpp"

namespace mpiacq::tracing {

namespace {

/// A folder's own links; the kernel counts one more for each thread (proc_task_getattr).
constexpr nlink_t own_links = 2;

/// The number of this process's descriptors that is left for everything else.
constexpr std::size_t kept_free = 256;
constexpr std::size_t descriptors_of_one = 2;

using path = std::array<char, 48>;

path path_of(pid_t process, const char* what) {
  path text{};
  std::snprintf(text.data(), text.size(), "/proc/%d/%s", static_cast<int>(process), what);
  return text;
}

std::optional<std::uint64_t> start_time_from(const unique_fd& stat) {
  std::array<char, most_of_stat> text{};
  const ssize_t got = stat ? ::read(stat.get(), text.data(), text.size()) : -1;
  if (got <= 0) return std::nullopt;
  const auto known = parse_process_stat({text.data(), static_cast<std::size_t>(got)});
  return known ? std::optional{known->start_time} : std::nullopt;
}

std::vector<pid_t> numbers_in(int folder) {
  std::vector<pid_t> all;
  if (::lseek(folder, 0, SEEK_SET) != 0) return all;
  alignas(8) std::array<char, 4096> entries{};
  while (true) {
    const long got = ::syscall(SYS_getdents64, folder, entries.data(), entries.size());
    for (long at = 0; at + static_cast<long>(offsetof(dirent64, d_name)) < got;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      const char* name = static_cast<const char*>(entry->d_name);
      pid_t task = 0;
      std::from_chars(name, name + std::strlen(name), task);
      if (task > 0) all.push_back(task);
      at += entry->d_reclen;
    }
    if (got <= 0) return all;
  }
}

}  // namespace

std::optional<std::uint64_t> read_start_time(pid_t process) {
  return start_time_from(unique_fd{::open(path_of(process, "stat").data(), O_RDONLY | O_CLOEXEC)});
}

bool process_folders::know(pid_t process, std::optional<std::uint64_t> start_time) {
  const auto known = all_.find(process);
  if (known != all_.end()) {
    // drop_ended checks all processes at once, before they are seized.
    if (!start_time || known->second.start_time == start_time) return true;
    if (known->second.start_time && count_threads(process)) return false;
    all_.erase(known);
  }
  folder* fresh = open(process);
  if (fresh == nullptr) return false;
  if (!start_time) return true;
  // The path is relative to the open folder, so that the file belongs to this process.
  fresh->start_time = start_time_from(unique_fd{::openat(fresh->tasks.get(), "../stat", O_RDONLY | O_CLOEXEC)});
  return fresh->start_time == start_time;
}

process_folders::folder* process_folders::open(pid_t process) {
  if (most_ == 0) {
    const std::size_t limit = raise_descriptor_limit();
    most_ = (limit - std::min(limit - descriptors_of_one, kept_free)) / descriptors_of_one;
  }
  // Beyond this number the folders are opened again at each attach.
  if (all_.size() >= most_) all_.clear();
  unique_fd tasks{::open(path_of(process, "task").data(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  unique_fd end{static_cast<int>(::syscall(SYS_pidfd_open, process, 0))};
  if (!tasks || !end) return nullptr;
  pollfd over{end.get(), POLLIN, 0};
  if (::poll(&over, 1, 0) != 0) return nullptr;  // it is a zombie
  // A thread's number also leads to the folder of its process, where the leader is listed first. The folder has threads
  // now, so that the pid was this process's all the time, and so is the pidfd.
  const auto listed = numbers_in(tasks.get());
  if (listed.empty() || listed.front() != process) return nullptr;
  folder& fresh = all_[process];
  fresh.tasks = std::move(tasks);
  fresh.end = std::move(end);
  fresh.last_count = static_cast<int>(listed.size());
  return &fresh;
}

void process_folders::drop_ended() {
  std::vector<pollfd> ends;
  ends.reserve(all_.size());
  for (const auto& [process, known] : all_) ends.push_back({known.end.get(), POLLIN, 0});
  if (::poll(ends.data(), ends.size(), 0) <= 0) return;
  std::size_t at = 0;
  std::erase_if(all_, [&](const auto&) { return ends[at++].revents != 0; });
}

std::optional<int> process_folders::count_threads(pid_t process) {
  const auto known = all_.find(process);
  struct stat about {};
  if (known == all_.end() || ::fstat(known->second.tasks.get(), &about) != 0 || about.st_nlink <= own_links) {
    return std::nullopt;
  }
  return known->second.last_count = static_cast<int>(about.st_nlink - own_links);
}

std::optional<int> process_folders::last_count(pid_t process) const {
  const auto known = all_.find(process);
  return known == all_.end() ? std::nullopt : std::optional{known->second.last_count};
}

/// The folder /proc/PID, unlike the files in it, always belongs to the effective user (task_dump_owner).
user_id process_folders::effective_user(pid_t process) const {
  const auto known = all_.find(process);
  struct stat about {};
  const int failed = known == all_.end() ? ::stat(path_of(process, "").data(), &about)
                                         : ::fstatat(known->second.tasks.get(), "..", &about, 0);
  return failed == 0 ? user_id{about.st_uid} : no_user;
}

std::vector<pid_t> process_folders::list(pid_t process) const {
  const auto known = all_.find(process);
  if (known == all_.end()) return {};
  return numbers_in(known->second.tasks.get());
}

}  // namespace mpiacq::tracing
