// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "proc/process_state.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mpiacq {

namespace {

/// An environment is at most a quarter of the stack limit; this is far above what any shell passes on.
constexpr std::size_t max_environment = 16U << 20;
constexpr std::size_t max_children = 1U << 20;

/// Of /proc/PID/stat, counted from the state, which stands behind the name (proc(5)).
constexpr int fields_before_childrens_faults = 8;

/// Empty also where it cannot be opened or read: errno says why then, and is 0 otherwise.
std::string file_text(const std::string& path, std::size_t limit) {
  errno = 0;
  const base::unique_fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  std::string text;
  std::array<char, 4096> piece{};
  while (file.is_open() && text.size() < limit) {
    const ssize_t got = ::read(file.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return text;
}

/// What /proc/PID/stat says behind the name: "S PARENT ..."; empty where it has gone.
std::string stat_of(process_id pid) {
  const std::string stat = file_text(fmt::format("/proc/{}/stat", pid.value()), 4096);
  // "PID (name) S ...": the name may hold anything, a closing parenthesis too, so the last one counts.
  const std::size_t after_name = stat.rfind(") ");
  return after_name == std::string::npos ? std::string{} : stat.substr(after_name + 2);
}

/// Where its arguments begin and its environment ends, and the arguments; empty where that may not be known. An exec
/// puts them elsewhere (address space layout randomisation), or, where the kernel does not randomise, other ones there.
std::optional<std::pair<std::vector<std::string>, std::string>> words_at(process_id pid) {
  // proc(5): arg_start to env_end are the fields 48 to 51; the state, where `stat_of` begins, is the third.
  constexpr std::size_t first = 48 - 3;
  constexpr std::size_t count = 4;
  std::istringstream stat(stat_of(pid));
  const std::vector<std::string> fields{std::istream_iterator<std::string>(stat), {}};
  if (fields.size() < first + count) return std::nullopt;
  std::vector<std::string> places(fields.begin() + first, fields.begin() + first + count);
  if (places.front() == "0") return std::nullopt;
  return std::pair{std::move(places), file_text(fmt::format("/proc/{}/cmdline", pid.value()), max_environment)};
}

}  // namespace

run_state state_of(process_id pid) {
  const std::string stat = stat_of(pid);
  if (stat.empty()) return errno == 0 || errno == ENOENT || errno == ESRCH ? run_state::gone : run_state::unknown;
  switch (stat.front()) {
    case 'T':
      return run_state::stopped;
    case 't':
      return run_state::traced;
    case 'Z':
    case 'X':
      return run_state::gone;
    default:
      return run_state::running;
  }
}

std::optional<process_id> parent_of(process_id pid) {
  const std::string stat = stat_of(pid);
  if (stat.size() < 3) return std::nullopt;
  return process_id{std::atoll(stat.c_str() + 2)};
}

std::vector<process_id> children_of(process_id pid) {
  std::vector<process_id> all;
  const std::string threads = fmt::format("/proc/{}/task", pid.value());
  std::error_code failure;
  for (std::filesystem::directory_iterator thread(threads, failure), end; !failure && thread != end;
       thread.increment(failure)) {
    std::istringstream children(file_text(thread->path() / "children", max_children));
    for (std::int64_t child = 0; children >> child;) all.emplace_back(child);
  }
  return all;
}

std::uint64_t faults_of_ended_children(process_id pid) {
  std::istringstream fields(stat_of(pid));
  std::string skipped;
  for (int i = 0; i < fields_before_childrens_faults; ++i) fields >> skipped;
  std::uint64_t faults = 0;
  fields >> faults;
  return faults;
}

bool is_copy_of(process_id child, process_id parent) {
  const auto ours = words_at(child);
  return ours && ours == words_at(parent) && executable_of(child) == executable_of(parent);
}

std::string executable_of(process_id pid) {
  std::array<char, 4096> path{};
  const ssize_t length = ::readlink(fmt::format("/proc/{}/exe", pid.value()).c_str(), path.data(), path.size());
  if (length <= 0) return {};
  std::string text(path.data(), static_cast<std::size_t>(length));
  constexpr std::string_view deleted = " (deleted)";
  if (text.size() > deleted.size() && std::string_view(text).substr(text.size() - deleted.size()) == deleted) {
    text.resize(text.size() - deleted.size());
  }
  return text;
}

bool is_same_program(std::string_view a, std::string_view b) {
  return std::filesystem::path(a).filename() == std::filesystem::path(b).filename();
}

bool runs_program(process_id pid, std::string_view executable) {
  const std::string now = executable_of(pid);
  if (now.empty() || executable.empty()) return false;
  std::error_code ignored;
  const auto meant = std::filesystem::canonical(executable, ignored);
  return is_same_program(now, executable) || (!meant.empty() && meant == now);
}

std::optional<std::string> environment_of(process_id pid, std::string_view variable) {
  const std::string all = file_text(fmt::format("/proc/{}/environ", pid.value()), max_environment);
  std::string_view rest = all;
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
    if (entry.size() > variable.size() && entry.substr(0, variable.size()) == variable &&
        entry[variable.size()] == '=') {
      return std::string(entry.substr(variable.size() + 1));
    }
  }
  return std::nullopt;
}

base::unique_fd open_process(process_id pid) {
  if (pid.value() <= 0 || pid.value() > INT_MAX) return {};
  // By number: the C library's wrapper is newer than some systems we run on.
  return base::unique_fd{static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid.value()), 0))};
}

bool is_alive(const base::unique_fd& process) {
  if (!process.is_open()) return true;
  // A pidfd becomes readable when its process ends.
  pollfd end{process.get(), POLLIN, 0};
  return ::poll(&end, 1, 0) <= 0;
}

void signal_process(const base::unique_fd& process, int signal) {
  if (process.is_open()) ::syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0);
}

}  // namespace mpiacq
