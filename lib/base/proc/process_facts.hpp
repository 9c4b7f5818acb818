// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// All facts that identify a process of this node, read once and passed on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "descriptors/unique_fd.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/process/process_user.hpp"
#include "proc/proc_text.hpp"
#include "proc/process_folder.hpp"

namespace mpiacq {

/// The namespaces of a process (namespaces(7)), by the numbers in the links of /proc/PID/ns.
struct process_namespaces {
  std::uint64_t pid = 0;
  std::uint64_t mnt = 0;
  friend bool operator==(const process_namespaces&, const process_namespaces&) = default;
};

/// One process, by one open /proc/PID: all facts are of the same process, even if its number goes to another process
/// meanwhile. Each file is read at most once, when it is first asked for; the answer is remembered, also an error.
/// Nothing here touches the process. A set-user-ID program that it executes later changes its users and its executable:
/// `users_now` and `stat_now` read anew.
///
/// Threads: one at a time. Errors of each fact: process_gone; permission (the kernel asks for ptrace permission for
/// executable, environment and namespaces); not_found (a zombie has no executable); limit (this program has no file
/// descriptor left); system.
class process_facts {
 public:
  /// Reads /proc/PID/stat. A zombie is a process. `proc`: for tests, a folder instead of /proc.
  [[nodiscard]] static result<process_facts> open(process_id pid, std::string proc = proc_folder);

  [[nodiscard]] process_id pid() const { return pid_; }
  /// As it was when the process was opened.
  [[nodiscard]] const process_stat& stat() const { return stat_; }
  [[nodiscard]] std::uint64_t start_time() const { return stat_.start_time; }
  [[nodiscard]] process_id parent() const { return stat_.parent; }

  [[nodiscard]] const result<process_users>& users() const;
  /// The one user of the process; `no_user` if it has several, or if they cannot be read.
  [[nodiscard]] user_id user() const;
  /// The process's number in each pid namespace, from the reader's to its own; empty on a kernel before 4.1.
  [[nodiscard]] const result<std::vector<process_id>>& namespace_pids() const;
  [[nodiscard]] const result<process_namespaces>& namespaces() const;
  /// The path of the file that it executes, without " (deleted)".
  [[nodiscard]] const result<std::string>& executable() const;
  /// The environment that it was started with: strings that end with null bytes. The kernel starts no program with more
  /// than `most_words`; a process that has moved its environment may show less than it had.
  [[nodiscard]] const result<std::string>& environment() const;
  /// One variable of that; empty also if the environment cannot be read.
  [[nodiscard]] std::optional<std::string_view> variable(std::string_view name) const;
  /// Its arguments: strings that end with null bytes.
  [[nodiscard]] const result<std::string>& command_line() const;

  /// Read anew, of the same process.
  [[nodiscard]] result<process_stat> stat_now() const;
  [[nodiscard]] result<process_users> users_now() const;
  /// Whether the number still belongs to this process, and its effective user is still that of `users`. Opens no file.
  /// A process that acts for one user alone can gain no other user's rights without a change of its effective user.
  [[nodiscard]] bool is_unchanged() const;
  /// A pidfd of this process. Errors: process_gone (it was waited for); limit; system.
  [[nodiscard]] result<base::unique_fd> open_pidfd() const;

  /// Closes /proc/PID, so that a program can keep the facts of thousands of processes. A fact that is asked for later
  /// opens it again, and is process_gone if another process has the number now.
  void close() { folder_.reset(); }

  /// The kernel's bound for arguments and environment together (fs/exec.c: three quarters of 8 MiB).
  static constexpr std::size_t most_words = 6U << 20;

 private:
  struct status_facts {
    process_users users;
    std::vector<process_id> namespace_pids;
  };
  process_facts(process_folder folder, process_stat stat, std::string proc)
      : pid_(folder.pid()), proc_(std::move(proc)), folder_(std::move(folder)), stat_(std::move(stat)) {}
  [[nodiscard]] result<const process_folder*> folder() const;
  [[nodiscard]] result<std::string> read(const char* name, std::size_t most) const;
  [[nodiscard]] result<std::string> link(const char* name) const;
  [[nodiscard]] result<status_facts> read_status() const;
  void learn_status() const;
  [[nodiscard]] result<process_namespaces> read_namespaces() const;

  process_id pid_;
  std::string proc_;
  mutable std::optional<process_folder> folder_;
  process_stat stat_;
  mutable std::optional<result<process_users>> users_;
  mutable std::optional<result<std::vector<process_id>>> namespace_pids_;
  mutable std::optional<result<process_namespaces>> namespaces_;
  mutable std::optional<result<std::string>> executable_;
  mutable std::optional<result<std::string>> environment_;
  mutable std::optional<result<std::string>> command_line_;
};

/// Takes the kernel's mark of a deleted file off a path of /proc.
[[nodiscard]] std::string without_deleted_mark(std::string path);

}  // namespace mpiacq
