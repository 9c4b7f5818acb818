// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/process/process_user.hpp"

#include <cstdint>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>

#include "errors/try.hpp"
#include "proc/proc_text.hpp"
#include "proc/process_folder.hpp"

namespace mpiacq {

namespace {

/// The beginning of a small file; empty if it cannot be read.
std::string beginning_of(const char* path) {
  constexpr std::size_t most = 4096;
  return read_bounded(base::unique_fd{::open(path, O_RDONLY | O_CLOEXEC)}, most).value_or("");
}

/// The number that stands for all users without a number in this program's user namespace; -1 if every user has one.
std::int64_t number_of_unmapped_users() {
  const std::string map = beginning_of("/proc/self/uid_map");
  std::string_view rest = map;
  const auto inside = take_number(rest), outside = take_number(rest), count = take_number(rest);
  constexpr std::int64_t all_users = UINT32_MAX;
  if (inside == 0 && outside == 0 && count == all_users) return -1;
  const std::string overflow = beginning_of("/proc/sys/kernel/overflowuid");
  rest = overflow;
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
  auto rest = status_line(status, "Uid");
  if (!rest) return std::nullopt;
  process_users users;
  for (user_id* user : {&users.real, &users.effective, &users.saved, &users.file_system}) {
    const auto number = take_number(*rest);
    if (!number || *number < 0 || *number > UINT32_MAX) return std::nullopt;
    *user = user_id{*number};
  }
  return users;
}

result<process_users> users_of(process_id pid) {
  // The users are among the first lines.
  constexpr std::size_t most = 4096;
  const std::string text = TRY(read_process_file(pid, "status", most));
  if (const auto users = parse_process_users(text)) return *users;
  return fail(error_code::process_gone, fmt::format("there is no process {}", pid.value()));
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
