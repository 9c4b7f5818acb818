// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/process/process_user.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <string>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace mpiacq {

namespace {

/// The beginning of a small file; an error has errno set.
std::optional<std::string> beginning_of(const char* path) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::array<char, 4096> text{};
  ssize_t got = 0;
  do {
    got = ::read(file, text.data(), text.size());
  } while (got < 0 && errno == EINTR);
  const int why = errno;
  ::close(file);
  errno = why;
  if (got < 0) return std::nullopt;
  return std::string(text.data(), static_cast<std::size_t>(got));
}

/// The number at the beginning of a text, behind blanks, which is taken off.
std::optional<std::int64_t> take_number(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// The number that stands for all users without one in this program's user namespace; -1 where every user has one.
std::int64_t number_of_unmapped_users() {
  const auto map = beginning_of("/proc/self/uid_map");
  std::string_view rest = map ? std::string_view(*map) : std::string_view();
  const auto inside = take_number(rest), outside = take_number(rest), count = take_number(rest);
  constexpr std::int64_t all_users = UINT32_MAX;
  if (inside == 0 && outside == 0 && count == all_users) return -1;
  const auto overflow = beginning_of("/proc/sys/kernel/overflowuid");
  rest = overflow ? std::string_view(*overflow) : std::string_view();
  constexpr std::int64_t kernels_default = 65534;
  return take_number(rest).value_or(kernels_default);
}

}  // namespace

user_id process_users::only() const {
  static const std::int64_t unmapped = number_of_unmapped_users();
  const bool is_one = real == effective && real == saved && real == file_system;
  return is_one && real.value() != unmapped ? real : no_user;
}

std::string process_users::text() const {
  for (const user_id other : {effective, saved, file_system}) {
    if (other != real) return fmt::format("{} with the rights of user {} (set-user-ID)", real.value(), other.value());
  }
  return std::to_string(real.value());
}

std::optional<process_users> parse_process_users(std::string_view status) {
  // The first line is the program's name, in which the kernel escapes newlines: no program can forge this line.
  constexpr std::string_view line = "\nUid:";
  const auto at = status.find(line);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = status.substr(at + line.size());
  process_users users;
  for (user_id* user : {&users.real, &users.effective, &users.saved, &users.file_system}) {
    const auto number = take_number(rest);
    if (!number || *number < 0 || *number > UINT32_MAX) return std::nullopt;
    *user = user_id{*number};
  }
  return users;
}

result<process_users> users_of(process_id pid) {
  const std::string path = fmt::format("/proc/{}/status", pid.value());
  const auto text = beginning_of(path.c_str());
  if (const auto users = text ? parse_process_users(*text) : std::nullopt) return *users;
  const int why = text ? ESRCH : errno;
  if (why == ENOENT || why == ESRCH) {
    return fail(error_code::process_gone, fmt::format("there is no process {}", pid.value()));
  }
  return fail(error{error_code::system, fmt::format("looking for the user of process {} in {}", pid.value(), path)}
                  .with_errno(why)
                  .on(path));
}

user_id user_of(process_id pid) {
  const auto users = users_of(pid);
  return users ? users->only() : no_user;
}

std::optional<error> why_no_rank(process_id pid, const process_users& users, user_id starters) {
  const user_id user = users.only();
  if (user != no_user && user == starters) return std::nullopt;
  if (starters == no_user) {
    return error{error_code::permission,
                 fmt::format("process {} belongs to user {}, and the starter has no user of its own (it is a "
                             "set-user-ID program, or it has ended): no process is taken for its rank",
                             pid.value(), users.text())};
  }
  return error{error_code::permission, fmt::format("process {} belongs to user {}, not to the starter's user ({})",
                                                   pid.value(), users.text(), starters.value())};
}

std::optional<error> why_no_rank(process_id pid, user_id starters) {
  const auto users = users_of(pid);
  return users ? why_no_rank(pid, *users, starters) : std::optional<error>{users.error()};
}

}  // namespace mpiacq
