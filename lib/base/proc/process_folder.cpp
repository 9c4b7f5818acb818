// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "proc/process_folder.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mpiacq {

namespace {

error no_process(process_id pid) {
  return {error_code::process_gone, fmt::format("there is no process {}", pid.value())};
}

error proc_failure(process_id pid, std::string path, int why) {
  if (why == ENOENT || why == ESRCH) return no_process(pid);
  const bool is_full = why == EMFILE || why == ENFILE;
  const bool is_refused = why == EACCES || why == EPERM;
  const error_code code = is_full ? error_code::limit : is_refused ? error_code::permission : error_code::system;
  return error{code, fmt::format("reading process {} in {}{}", pid.value(), path,
                                 why == EMFILE ? " (this program has no file descriptor left)" : "")}
      .with_errno(why)
      .on(std::move(path));
}

bool is_process_number(process_id pid) {
  return pid.value() > 0 && pid.value() <= INT_MAX;
}

}  // namespace

result<std::string> read_bounded(const base::unique_fd& file, std::size_t most) {
  std::string text;
  std::array<char, 8192> piece{};
  while (text.size() < most) {
    const ssize_t got = ::read(file.get(), piece.data(), std::min(piece.size(), most - text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(error{error_code::system, "reading a file"}.with_errno(errno));
    if (got == 0) break;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return text;
}

result<process_folder> process_folder::open(process_id pid, const std::string& proc) {
  if (!is_process_number(pid)) return fail(no_process(pid));
  std::string path = fmt::format("{}/{}", proc, pid.value());
  base::unique_fd folder{::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!folder) return fail(proc_failure(pid, path, errno));
  return process_folder(pid, std::move(folder), std::move(path));
}

bool process_folder::has_its_number() const {
  return ::faccessat(folder_.get(), "stat", F_OK, 0) == 0;
}

user_id process_folder::effective_user() const {
  struct stat about {};
  const bool is_known = ::fstat(folder_.get(), &about) == 0;
  return is_known && has_its_number() ? user_id{about.st_uid} : no_user;
}

error process_folder::failure(const char* name, int why) const {
  std::string path = fmt::format("{}/{}", path_, name);
  // A zombie and a thread of the kernel have no executable.
  if (why == ENOENT && has_its_number()) {
    return error{error_code::not_found, fmt::format("process {} has no {}", pid_.value(), name)}.with_errno(why).on(
        std::move(path));
  }
  return proc_failure(pid_, std::move(path), why);
}

result<base::unique_fd> process_folder::open_file(const char* name) const {
  base::unique_fd file{::openat(folder_.get(), name, O_RDONLY | O_CLOEXEC)};
  if (!file) return fail(failure(name, errno));
  return file;
}

result<std::string> process_folder::read(const char* name, std::size_t most) const {
  const auto file = open_file(name);
  if (!file) return fail(file.error());
  auto text = read_bounded(*file, most);
  if (!text) return fail(failure(name, text.error().system_errno));
  return text;
}

result<std::string> process_folder::link(const char* name) const {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = ::readlinkat(folder_.get(), name, path.data(), path.size());
  if (length < 0) return fail(failure(name, errno));
  return std::string(path.data(), static_cast<std::size_t>(length));
}

result<std::string> read_process_file(process_id pid, const char* name, std::size_t most) {
  if (!is_process_number(pid)) return fail(no_process(pid));
  std::string path = fmt::format("{}/{}/{}", proc_folder, pid.value(), name);
  const base::unique_fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file) return fail(proc_failure(pid, std::move(path), errno));
  auto text = read_bounded(file, most);
  if (!text) return fail(proc_failure(pid, std::move(path), text.error().system_errno));
  return text;
}

}  // namespace mpiacq
