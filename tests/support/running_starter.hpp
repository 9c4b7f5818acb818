// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A fixture starter that already runs without a tool, and its state as the kernel shows it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "live_process.hpp"
#include "run_command.hpp"

namespace mpiacq::test {

/// The int at an address of a process that the process itself stated, read through the kernel; -1 if the process has
/// ended.
inline int int_at(pid_t process, const std::string& address) {
  int value = -1;
  iovec here{&value, sizeof value};
  iovec there{reinterpret_cast<void*>(std::strtoull(address.c_str(), nullptr, 16)), sizeof value};
  return ::process_vm_readv(process, &here, 1, &there, 1, 0) == sizeof value ? value : -1;
}

/// Runs MPIACQ_STARTERS/NAME with its own oracle. Its standard input and output are pipes of the test.
class running_starter {
 public:
  explicit running_starter(std::vector<std::string> words) : process_(started(std::move(words))) {
    ::unsetenv("MPIACQ_ORACLE");
    ::unsetenv("TMPDIR");
  }
  ~running_starter() {
    // A process that was left stopped would notice neither the end of the starter nor that of a pipe.
    for (const auto& [key, value] : oracle()) {
      if (is_rank_pid(key)) ::kill(std::atoi(value.c_str()), SIGKILL);
    }
  }
  running_starter(const running_starter&) = delete;
  running_starter& operator=(const running_starter&) = delete;

  /// Waits until the starter waits for the test.
  running_starter& ready() {
    (void)process_.lines_until_ready();
    return *this;
  }
  void go_on() const { process_.tell('x'); }
  /// Closes its standard input, and returns its own wait status.
  int end() { return process_.end(); }
  [[nodiscard]] pid_t pid() const { return static_cast<pid_t>(process_.pid().value()); }
  [[nodiscard]] process_id id() const { return process_.pid(); }
  [[nodiscard]] std::map<std::string, std::string> oracle() const { return read_oracle(folder_.path("oracle")); }
  [[nodiscard]] std::string said(const std::string& key) const {
    const auto all = oracle();
    const auto found = all.find(key);
    return found == all.end() ? "(nothing)" : found->second;
  }
  /// The pids of the ranks, in the order of the ranks.
  [[nodiscard]] std::vector<pid_t> ranks() const {
    const auto all = oracle();
    std::vector<pid_t> pids;
    for (int i = 0; all.contains("rank." + std::to_string(i) + ".pid"); ++i) {
      pids.push_back(std::atoi(all.at("rank." + std::to_string(i) + ".pid").c_str()));
    }
    return pids;
  }
  /// The value of one of the starter's int variables.
  [[nodiscard]] int value_of(const std::string& symbol) const { return int_at(pid(), said("symbol." + symbol)); }
  [[nodiscard]] const scratch_folder& folder() const { return folder_; }

 private:
  static bool is_rank_pid(const std::string& key) {
    return key.starts_with("rank.") && key.size() > 9 && key.substr(key.size() - 4) == ".pid";
  }
  /// The first word is the name of the fixture; a wrapper's command begins with a fixture too.
  [[nodiscard]] std::vector<std::string> started(std::vector<std::string> words) const {
    ::setenv("MPIACQ_ORACLE", folder_.path("oracle").c_str(), 1);
    ::setenv("TMPDIR", folder_.path("").c_str(), 1);
    words.front() = MPIACQ_STARTERS "/" + words.front();
    return words;
  }
  scratch_folder folder_;
  live_process process_;
};

/// The value of one line of /proc/TASK/status, without blanks.
inline std::string status_of(pid_t task, const std::string& name) {
  const std::string text = "\n" + file_contents("/proc/" + std::to_string(task) + "/status");
  const std::size_t at = text.find("\n" + name + ":");
  if (at == std::string::npos) return {};
  const std::size_t begin = text.find_first_not_of(" \t", at + name.size() + 2);
  return text.substr(begin, text.find('\n', begin) - begin);
}

inline std::vector<pid_t> threads_of(pid_t process) {
  std::vector<pid_t> all;
  std::error_code gone;
  const std::string folder = "/proc/" + std::to_string(process) + "/task";
  for (std::filesystem::directory_iterator it(folder, gone), end; !gone && it != end; it.increment(gone)) {
    all.push_back(std::atoi(it->path().filename().c_str()));
  }
  return all;
}

/// Whether no thread of the process is traced or stopped.
inline bool runs_freely(pid_t process) {
  const auto all = threads_of(process);
  return !all.empty() && std::all_of(all.begin(), all.end(), [](pid_t task) {
    const std::string state = status_of(task, "State");
    return status_of(task, "TracerPid") == "0" && state.find('T') != 0 && state.find('t') != 0;
  });
}

/// Whether every thread is stopped as by SIGSTOP, and has no tracer.
inline bool is_left_stopped(pid_t process) {
  const auto all = threads_of(process);
  return !all.empty() && std::all_of(all.begin(), all.end(), [](pid_t task) {
    return status_of(task, "TracerPid") == "0" && status_of(task, "State").find('T') == 0;
  });
}

/// The same after a moment: the kernel stops a thread some time after its tracer has left it, when the thread runs.
inline bool comes_to_be_left_stopped(pid_t process) {
  return comes_true([process] { return is_left_stopped(process); });
}

/// The contents of each mapping, indexed by its line of /proc/PID/maps. Without [vvar] and [vdso], which the kernel
/// changes.
inline std::map<std::string, std::string> memory_of(pid_t process) {
  std::map<std::string, std::string> all;
  std::istringstream maps(file_contents("/proc/" + std::to_string(process) + "/maps"));
  const int memory = ::open(("/proc/" + std::to_string(process) + "/mem").c_str(), O_RDONLY | O_CLOEXEC);
  for (std::string line; std::getline(maps, line);) {
    unsigned long first = 0, last = 0;
    char rights[5] = {};
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &first, &last, rights) != 3 || rights[0] != 'r') continue;
    if (line.find("[v") != std::string::npos) continue;
    std::string bytes(last - first, '\0');
    const ssize_t got = ::pread(memory, bytes.data(), bytes.size(), static_cast<off_t>(first));
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    all.emplace(std::move(line), std::move(bytes));
  }
  ::close(memory);
  return all;
}

}  // namespace mpiacq::test
