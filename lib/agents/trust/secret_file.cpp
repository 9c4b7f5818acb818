// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "trust/secret_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "descriptors/unique_fd.hpp"
#include "errors/try.hpp"
#include "proc/process_state.hpp"

namespace mpiacq::agents {

namespace {

constexpr std::string_view prefix = ".mpiacq-agents-";
constexpr std::time_t needed_for_s = 86'400;
constexpr std::size_t file_size = 65;  // 64 digits and a line feed
constexpr mode_t writable_by_others = S_IWGRP | S_IWOTH;

error failed(error_code code, std::string what, const std::string& path, int errno_value) {
  return error{code, std::move(what)}.with_errno(errno_value).on(path);
}

/// Opens the folder. Refuses one to which others can write, because another user could replace the file.
result<base::unique_fd> open_folder(const std::string& folder) {
  base::unique_fd opened{::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  struct stat facts {};
  if (!opened || ::fstat(opened.get(), &facts) != 0)
    return fail(failed(error_code::not_found, "the folder for the agents' secret cannot be opened", folder, errno));
  const bool trusted = (facts.st_uid == ::geteuid() || facts.st_uid == 0) && (facts.st_mode & writable_by_others) == 0;
  if (!trusted) {
    return fail(error{
        error_code::permission,
        fmt::format("no secret is written to {}: other users can write there; with MUNGE no secret is needed", folder)}
                    .on(folder));
  }
  return opened;
}

/// The file's name is ".mpiacq-agents-", these members, and the first digits of the run's public key. A process number
/// means something only on its host and in its pid namespace: `place` names both.
struct run_name {
  std::string place;
  long process = 0;
  std::uint64_t start = 0;
  [[nodiscard]] std::string text() const { return fmt::format("{}{}-{}-{}-", prefix, place, process, start); }
};

/// The start time, which together with the pid identifies a process; empty if there is no such process.
std::optional<std::uint64_t> start_of(long process) {
  const auto stat = stat_of(process_id{process});
  return stat ? std::optional(stat->start_time) : std::nullopt;
}

std::string this_place() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) return "unknown";
  struct stat namespace_of_pids {};
  const bool known = ::stat("/proc/self/ns/pid", &namespace_of_pids) == 0;
  return fmt::format("{}-{}", host.data(), known ? namespace_of_pids.st_ino : 0);
}

/// Parses a file's name; empty if the file is not a secret of a run, or belongs to a run in another place.
std::optional<run_name> run_here(std::string_view name, const std::string& place) {
  run_name run{place};
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  if (!name.starts_with(place + "-")) return std::nullopt;
  name.remove_prefix(place.size() + 1);
  const auto pid = std::from_chars(name.data(), name.data() + name.size(), run.process);
  if (pid.ec != std::errc() || pid.ptr == name.data() + name.size() || *pid.ptr != '-') return std::nullopt;
  const auto start = std::from_chars(pid.ptr + 1, name.data() + name.size(), run.start);
  return start.ec == std::errc() ? std::optional(run) : std::nullopt;
}

/// Whether the file belongs to a run in this place that has ended, or to a run in another place that is too old to wait
/// for agents.
bool is_left_behind(int folder, const char* name, const std::string& place) {
  if (const auto run = run_here(name, place)) return start_of(run->process) != run->start;
  struct stat facts {};
  return std::string_view(name).starts_with(prefix) && ::fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISREG(facts.st_mode) && facts.st_uid == ::geteuid() && ::time(nullptr) - facts.st_mtime > needed_for_s;
}

/// A front end that is killed cannot remove its secret. The secret is useless then, but the file would stay.
void remove_left_behind(const std::string& folder, const std::string& place) {
  DIR* opened = ::opendir(folder.c_str());
  if (opened == nullptr) return;
  while (const dirent* entry = ::readdir(opened)) {
    if (is_left_behind(::dirfd(opened), entry->d_name, place)) ::unlinkat(::dirfd(opened), entry->d_name, 0);
  }
  ::closedir(opened);
}

result<void> write_all(int fd, const std::string& text, const std::string& path) {
  // One call suffices: a regular file that does not take 65 bytes at once has an error.
  const ssize_t written = ::write(fd, text.data(), text.size());
  if (written == static_cast<ssize_t>(text.size())) return {};
  return fail(failed(error_code::system, "writing the agents' secret", path, written < 0 ? errno : ENOSPC));
}

}  // namespace

result<std::string> home_directory() {
  std::vector<char> room(16384);
  passwd entry{};
  passwd* found = nullptr;
  const int outcome = ::getpwuid_r(::geteuid(), &entry, room.data(), room.size(), &found);
  if (found != nullptr && found->pw_dir != nullptr && found->pw_dir[0] == '/') return std::string(found->pw_dir);
  return fail(error{error_code::not_found, fmt::format("user {} has no home directory", ::geteuid())}.with_errno(
      outcome == 0 ? ENOENT : outcome));
}

result<secret_file> secret_file::create(const std::string& folder) {
  secret_file made;
  auto keys = TRY(make_keys());
  made.keys_ = keys;
  std::string where = folder;
  if (folder.empty()) {
    auto home = TRY(home_directory());
    where = std::move(home);
  }
  const auto opened = TRY(open_folder(where));
  const run_name run{this_place(), ::getpid(), start_of(::getpid()).value_or(0)};
  remove_left_behind(where, run.place);
  // The public key makes the name unique.
  const std::string name = run.text() + hex(keys.open).substr(0, 16);
  const std::string path = fmt::format("{}/{}", where, name);
  const base::unique_fd file{
      ::openat(opened.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
  if (!file) return fail(failed(error_code::system, "the agents' secret cannot be written", path, errno));
  made.path_ = path;
  made.path_for_agents_ = folder.empty() ? "~/" + name : path;
  // The umask may have taken permissions away.
  if (::fchmod(file.get(), 0600) != 0)
    return fail(failed(error_code::system, "the agents' secret cannot be protected from other users", path, errno));
  if (auto written = write_all(file.get(), hex(keys.secret) + "\n", path); !written)
    return fail(std::move(written).error());
  return made;
}

secret_file::secret_file(secret_file&& other) noexcept
    : path_(std::exchange(other.path_, {})), path_for_agents_(std::move(other.path_for_agents_)), keys_(other.keys_) {}

secret_file::~secret_file() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

result<key_pair> read_secret(const std::string& path_for_agents) {
  std::string path = path_for_agents;
  if (path.starts_with("~/")) {
    auto home = TRY(home_directory());
    path = home + path.substr(1);
  }
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  const base::unique_fd file{::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  struct stat facts {};
  if (!file || ::fstat(file.get(), &facts) != 0) {
    return fail(failed(errno == ENOENT ? error_code::not_found : error_code::permission,
                       "the secret of this run cannot be read (is the home directory the same on all nodes?)", path,
                       errno));
  }
  if (!S_ISREG(facts.st_mode) || facts.st_uid != ::geteuid() || (facts.st_mode & 0777U & ~0600U) != 0) {
    return fail(error{
        error_code::permission,
        fmt::format("{} is not a file that only user {} can read: it is not accepted as a secret", path, ::geteuid())}
                    .on(path));
  }
  std::array<char, file_size + 1> text{};
  const ssize_t size = ::read(file.get(), text.data(), text.size());
  const auto secret = size == file_size ? from_hex({text.data(), file_size - 1}) : std::nullopt;
  if (!secret)
    return fail(error{error_code::bad_format, fmt::format("{} does not contain a secret of mpiacq", path)}.on(path));
  auto open = TRY(open_half(*secret));
  return key_pair{open, *secret};
}

}  // namespace mpiacq::agents
