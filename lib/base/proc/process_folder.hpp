// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "descriptors/unique_fd.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"

namespace mpiacq {

/// Where the kernel shows its processes. Tests pass a folder of their own instead.
inline constexpr const char* proc_folder = "/proc";

/// An open /proc/PID. It belongs to one process: after that process has been waited for, every read fails, even if
/// another process has got its number.
class process_folder {
 public:
  /// Errors: process_gone; limit (no file descriptor is left); permission; system.
  [[nodiscard]] static result<process_folder> open(process_id pid, const std::string& proc = proc_folder);

  [[nodiscard]] process_id pid() const { return pid_; }
  /// The first `most` bytes of a file. Errors: process_gone; not_found (the process has no such file); limit;
  /// permission; system.
  [[nodiscard]] result<std::string> read(const char* name, std::size_t most) const;
  /// A file that is read piece by piece. Errors: as for `read`.
  [[nodiscard]] result<base::unique_fd> open_file(const char* name) const;
  /// The target of a symbolic link. Errors: as for `read`.
  [[nodiscard]] result<std::string> link(const char* name) const;
  /// Whether the number still belongs to this process. A zombie still has its number.
  [[nodiscard]] bool has_its_number() const;

  /// `no_user` after the process has been waited for. The kernel gives the folder /proc/PID itself, other than the
  /// files in it, always to the effective user (task_dump_owner in fs/proc/base.c).
  [[nodiscard]] user_id effective_user() const;

 private:
  process_folder(process_id pid, base::unique_fd folder, std::string path)
      : pid_(pid), folder_(std::move(folder)), path_(std::move(path)) {}
  [[nodiscard]] error failure(const char* name, int why) const;

  process_id pid_;
  base::unique_fd folder_;
  std::string path_;
};

/// The first `most` bytes of one file of a process, for a caller that asks for nothing else. Errors: as for
/// `process_folder::read`.
[[nodiscard]] result<std::string> read_process_file(process_id pid, const char* name, std::size_t most);

/// The first `most` bytes of an open file. Error: system, with errno set.
[[nodiscard]] result<std::string> read_bounded(const base::unique_fd& file, std::size_t most);

}  // namespace mpiacq
