// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "watch/attach_fifo_observation.hpp"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>

#include "watch/waiting_process.hpp"

namespace mpiacq::check {

namespace {

/// The starter may be in another mount namespace. A relative path starts at the starter's working directory.
std::string as_starter_sees(process_id starter, const std::string& path) {
  return path.starts_with('/') ? fmt::format("/proc/{}/root{}", starter.value(), path)
                               : fmt::format("/proc/{}/cwd/{}", starter.value(), path);
}

}  // namespace

fifo_seen look_at_fifo(process_id starter, std::string path) {
  fifo_seen seen;
  struct stat file {};
  struct stat owner {};
  const bool owner_known = ::stat(fmt::format("/proc/{}", starter.value()).c_str(), &owner) == 0;
  // Not through a link in the last place: it could be put where any file is.
  seen.exists = ::lstat(as_starter_sees(starter, path).c_str(), &file) == 0;
  seen.is_fifo = seen.exists && S_ISFIFO(file.st_mode);
  seen.owned_by_starters_owner = seen.exists && owner_known && file.st_uid == owner.st_uid;
  seen.writable_by_owner = seen.exists && (file.st_mode & S_IWUSR) != 0;
  seen.path = std::move(path);
  return seen;
}

std::optional<bool> is_waited_on(process_id starter, const std::string& path) {
  struct stat fifo {};
  if (::lstat(as_starter_sees(starter, path).c_str(), &fifo) != 0) return std::nullopt;
  std::error_code failed;
  bool any_open = false;
  for (const auto& entry : std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", starter.value()), failed)) {
    any_open = true;
    struct stat open {};
    if (::stat(entry.path().c_str(), &open) == 0 && open.st_dev == fifo.st_dev && open.st_ino == fifo.st_ino)
      return true;
  }
  // A process that is ending has no descriptors any more.
  if (failed || !any_open) return std::nullopt;
  // A thread that waits for the other side in open(2) has no descriptor yet; the kernel function that it waits in shows
  // this.
  for (const auto& task : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", starter.value()), failed)) {
    if (file_text(task.path().string() + "/wchan", 128) == "wait_for_partner") return true;
  }
  return false;
}

bool is_still_there(const std::string& path) {
  struct stat file {};
  return ::lstat(path.c_str(), &file) == 0 && S_ISFIFO(file.st_mode);
}

}  // namespace mpiacq::check
