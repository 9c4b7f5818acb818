// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "proc/process_facts.hpp"

#include <cerrno>
#include <utility>

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "errors/try.hpp"

namespace mpiacq {

namespace {

/// The groups are on one line: at most 65536 of them (NGROUPS_MAX), each of at most eleven bytes.
constexpr std::size_t most_of_status = 1U << 20;

error not_as_documented(process_id pid, const char* file) {
  return {error_code::bad_format, fmt::format("/proc/{}/{} is not as documented", pid.value(), file)};
}

result<process_stat> stat_below(const process_folder& folder) {
  const std::string text = TRY(folder.read("stat", most_of_stat));
  auto stat = parse_process_stat(text);
  if (!stat) return fail(not_as_documented(folder.pid(), "stat"));
  return std::move(*stat);
}

}  // namespace

std::string without_deleted_mark(std::string path) {
  constexpr std::string_view mark = " (deleted)";
  if (path.ends_with(mark)) path.resize(path.size() - mark.size());
  return path;
}

result<process_facts> process_facts::open(process_id pid, std::string proc) {
  process_folder folder = TRY(process_folder::open(pid, proc));
  process_stat stat = TRY(stat_below(folder));
  return process_facts(std::move(folder), std::move(stat), std::move(proc));
}

result<const process_folder*> process_facts::folder() const {
  if (folder_) return &*folder_;
  process_folder again = TRY(process_folder::open(pid_, proc_));
  const process_stat stat = TRY(stat_below(again));
  if (stat.start_time != stat_.start_time) {
    return fail(error_code::process_gone,
                fmt::format("process {} has ended, and another process has its number", pid_.value()));
  }
  folder_ = std::move(again);
  return &*folder_;
}

result<std::string> process_facts::read(const char* name, std::size_t most) const {
  const process_folder* from = TRY(folder());
  return from->read(name, most);
}

result<std::string> process_facts::link(const char* name) const {
  const process_folder* from = TRY(folder());
  return from->link(name);
}

result<process_facts::status_facts> process_facts::read_status() const {
  const std::string text = TRY(read("status", most_of_status));
  auto users = parse_process_users(text);
  if (!users) return fail(not_as_documented(pid_, "status"));
  return status_facts{*users, parse_namespace_pids(text)};
}

void process_facts::learn_status() const {
  if (users_) return;
  auto status = read_status();
  users_ = status ? result<process_users>(status->users) : fail(status.error());
  namespace_pids_ =
      status ? result<std::vector<process_id>>(std::move(status->namespace_pids)) : fail(std::move(status).error());
}

const result<process_users>& process_facts::users() const {
  learn_status();
  return *users_;
}

user_id process_facts::user() const {
  const auto& known = users();
  return known ? known->only() : no_user;
}

const result<std::vector<process_id>>& process_facts::namespace_pids() const {
  learn_status();
  return *namespace_pids_;
}

result<process_namespaces> process_facts::read_namespaces() const {
  const auto pid = parse_namespace_link(TRY(link("ns/pid")));
  const auto mnt = parse_namespace_link(TRY(link("ns/mnt")));
  if (!pid || !mnt) return fail(not_as_documented(pid_, "ns"));
  return process_namespaces{*pid, *mnt};
}

const result<process_namespaces>& process_facts::namespaces() const {
  if (!namespaces_) namespaces_ = read_namespaces();
  return *namespaces_;
}

const result<std::string>& process_facts::executable() const {
  if (!executable_) executable_ = link("exe").map(without_deleted_mark);
  return *executable_;
}

const result<std::string>& process_facts::environment() const {
  if (!environment_) environment_ = read("environ", most_words);
  return *environment_;
}

std::optional<std::string_view> process_facts::variable(std::string_view name) const {
  const auto& all = environment();
  return all ? variable_in(*all, name) : std::nullopt;
}

const result<std::string>& process_facts::command_line() const {
  if (!command_line_) command_line_ = read("cmdline", most_words);
  return *command_line_;
}

result<process_stat> process_facts::stat_now() const {
  const process_folder* from = TRY(folder());
  return stat_below(*from);
}

result<process_users> process_facts::users_now() const {
  return read_status().map([](const status_facts& status) { return status.users; });
}

bool process_facts::is_unchanged() const {
  const auto& known = users();
  const auto from = folder();
  return known && from && (*from)->effective_user() == known->effective;
}

result<base::unique_fd> process_facts::open_pidfd() const {
  const process_folder* from = TRY(folder());
  // By number: the C library's wrapper is newer than some systems that mpiacq runs on.
  base::unique_fd process{static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid_.value()), 0))};
  const int why = errno;
  // The number belonged to this process all the time only if it still does.
  if (!from->has_its_number() || (!process && why == ESRCH)) {
    return fail(error_code::process_gone, fmt::format("process {} has ended", pid_.value()));
  }
  if (!process) {
    const bool is_full = why == EMFILE || why == ENFILE;
    return fail(error{is_full ? error_code::limit : error_code::system,
                      fmt::format("opening a pidfd of process {}", pid_.value())}
                    .with_errno(why));
  }
  return process;
}

}  // namespace mpiacq
