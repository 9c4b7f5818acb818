// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "rank_identity.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "mpiacq/process/process_user.hpp"
#include "proc/process_state.hpp"

namespace mpiacq {

namespace {

constexpr std::size_t most_bytes = 1U << 20;  // of an environment or a command line; the variables stand at its begin
constexpr std::array<std::string_view, 4> rank_variables = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                                            "SLURM_PROCID"};
/// Descriptors that are left to the rest of this program.
constexpr rlim_t kept_free = 256;

std::optional<std::string> read_below(const base::unique_fd& folder, const char* name) {
  const base::unique_fd file{::openat(folder.get(), name, O_RDONLY | O_CLOEXEC)};
  if (!file.is_open()) return std::nullopt;
  std::string text;
  std::array<char, 8192> piece{};
  while (text.size() < most_bytes) {
    const ssize_t got = ::read(file.get(), piece.data(), piece.size());
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return text;
}

std::string link_below(const base::unique_fd& folder, const char* name) {
  std::array<char, 4096> path{};
  const ssize_t length = ::readlinkat(folder.get(), name, path.data(), path.size());
  std::string text(path.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  constexpr std::string_view deleted = " (deleted)";
  if (text.ends_with(deleted)) text.resize(text.size() - deleted.size());
  return text;
}

base::unique_fd open_folder(process_id pid) {
  return base::unique_fd{::open(fmt::format("/proc/{}", pid.value()).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
}

/// The state and the start time; empty where it is none.
std::optional<std::pair<char, std::uint64_t>> state_and_start(std::string_view stat) {
  // "PID (name) S ...": the name may hold parentheses itself. The state is field 3, the start time field 22 (proc(5)).
  const auto name_end = stat.rfind(") ");
  if (name_end == std::string_view::npos || name_end + 2 >= stat.size()) return std::nullopt;
  stat.remove_prefix(name_end + 2);
  const char state = stat.front();
  for (int field = 3; field < 22; ++field) {
    const auto blank = stat.find(' ');
    if (blank == std::string_view::npos) return std::nullopt;
    stat.remove_prefix(blank + 1);
  }
  std::uint64_t ticks = 0;
  if (std::from_chars(stat.data(), stat.data() + stat.size(), ticks).ec != std::errc{}) return std::nullopt;
  return std::pair{state, ticks};
}

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

/// Calls `with` for every string, until it answers true.
template <class With>
bool any_of_strings(std::string_view all, With with) {
  while (!all.empty()) {
    const std::string_view one = all.substr(0, all.find('\0'));
    if (with(one)) return true;
    all.remove_prefix(std::min(one.size() + 1, all.size()));
  }
  return false;
}

/// "NAME=value" of a variable that tells a rank: its value.
std::optional<std::string_view> told_rank(std::string_view entry) {
  const auto equals = entry.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const auto known = std::find(rank_variables.begin(), rank_variables.end(), entry.substr(0, equals));
  return known == rank_variables.end() ? std::nullopt : std::optional{entry.substr(equals + 1)};
}

/// MPI_Comm_spawn made it: what launchers say is its number in its own, new MPI_COMM_WORLD. Open MPI gives such a
/// process the port of its parents, and Hydra and Slurm say so of it.
bool tells_of_a_spawn(std::string_view entry) {
  return entry.starts_with("OMPI_PARENT_PORT=") || entry == "PMI_SPAWNED=1";
}

/// A program that is full of descriptors must not be filled by ours.
base::unique_fd sparing(base::unique_fd fd) {
  rlimit limit{};
  const bool known = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > 2 * kept_free;
  if (known && static_cast<rlim_t>(fd.get()) < limit.rlim_cur - kept_free) return fd;
  return {};
}

rank_identity not_it(hold_state state, error why) {
  rank_identity identity;
  identity.state = state;
  identity.why = std::move(why);
  return identity;
}

/// The process has ended, as errno says after a file of it could not be opened or read.
bool is_absent(int error_number) {
  return error_number == ENOENT || error_number == ESRCH;
}

/// Whether it lives cannot be said: this program has no descriptor left, for instance.
rank_identity unknown_now(const rank_process& rank, int error_number) {
  return not_it(hold_state::failed, error{error_code::system, fmt::format("rank {}: looking at process {} in /proc",
                                                                          name_of(rank), rank.pid.value())}
                                        .with_errno(error_number)
                                        .on(fmt::format("/proc/{}", rank.pid.value())));
}

}  // namespace

std::optional<std::string> why_not_rank(const rank_process& rank, const rank_evidence& evidence) {
  bool told = false;
  std::string others;
  const bool is_spawned = evidence.environment && any_of_strings(*evidence.environment, tells_of_a_spawn);
  const bool confirmed = evidence.environment && any_of_strings(*evidence.environment, [&](std::string_view entry) {
                           const auto value = told_rank(entry);
                           if (!value) return false;
                           told = true;
                           if (*value == std::to_string(rank.told.value_or(rank.rank))) return true;
                           others = std::string(entry);
                           return false;
                         });
  if (confirmed) return std::nullopt;
  if (told && !is_spawned) return fmt::format("its environment says {}", others);
  // A relative name tells little: nobody knows in whose PATH it was found.
  const bool comparable = rank.executable.starts_with('/') && !evidence.executable.empty() && evidence.environment;
  if (!comparable || base_name(evidence.executable) == base_name(rank.executable)) return std::nullopt;
  const bool is_argument = any_of_strings(
      evidence.command_line, [&](std::string_view word) { return base_name(word) == base_name(rank.executable); });
  if (is_argument) return std::nullopt;
  return fmt::format("it runs {} and not {}, and no variable of a launcher says that it is a rank", evidence.executable,
                     rank.executable);
}

rank_identity identify(const rank_process& rank, bool compare) {
  const auto gone = [&] {
    return not_it(hold_state::gone, error{error_code::process_gone, fmt::format("rank {}: there is no process {}",
                                                                                name_of(rank), rank.pid.value())});
  };
  if (rank.pid.value() <= 0 || rank.pid.value() > INT_MAX) return gone();
  // All is read below one folder, which stays that of one process whoever gets its number.
  const base::unique_fd folder = open_folder(rank.pid);
  if (!folder.is_open()) return is_absent(errno) ? gone() : unknown_now(rank, errno);
  rank_identity identity;
  identity.process = sparing(open_process(rank.pid));
  if (rank.user) {
    const auto status = read_below(folder, "status");
    if (!status) return is_absent(errno) ? gone() : unknown_now(rank, errno);
    const auto users = parse_process_users(*status);
    if (!users) return gone();
    if (auto why = why_no_rank(rank.pid, *users, *rank.user)) {
      why->message = fmt::format("rank {}: {}; it is left alone", name_of(rank), why->message);
      return not_it(hold_state::not_permitted, std::move(*why));
    }
  }
  if (compare) {
    const rank_evidence evidence{link_below(folder, "exe"), read_below(folder, "environ"),
                                 read_below(folder, "cmdline").value_or("")};
    if (const auto why = why_not_rank(rank, evidence)) {
      return not_it(hold_state::replaced,
                    error{error_code::process_gone, fmt::format("process {} is not rank {}: {}; it is left alone",
                                                                rank.pid.value(), name_of(rank), *why)});
    }
  }
  // Last, so that it lived when the pidfd was opened, and that is its own.
  const auto about = read_below(folder, "stat");
  if (!about && !is_absent(errno)) return unknown_now(rank, errno);
  const auto known = about ? state_and_start(*about) : std::nullopt;
  if (!known || known->first == 'Z' || known->first == 'X') return gone();
  identity.start_time = known->second;
  return identity;
}

std::optional<std::uint64_t> start_time_of(process_id pid) {
  const base::unique_fd folder = open_folder(pid);
  const auto about = folder.is_open() ? read_below(folder, "stat") : std::nullopt;
  const auto known = about ? state_and_start(*about) : std::nullopt;
  return known ? std::optional{known->second} : std::nullopt;
}

}  // namespace mpiacq
