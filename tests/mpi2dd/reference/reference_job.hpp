// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// An MPI2DD job of fixtures, and a plain reader of it: offsets by hand from the tables in docs/mpi2dd.md.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "gdb.hpp"
#include "live_process.hpp"
#include "run_command.hpp"

namespace mpiacq::test {

enum mpi2dd_state {
  started = 1,
  spawned,
  connected,
  accepted,
  joined,
  directory_changed,
  metadirectory_changed,
  aborted
};
enum mpi2dd_flag : std::uint32_t { gate = 1, being_debugged = 2, request_directory_events = 4 };
enum mpi2dd_mpi_flag : std::uint32_t { is_metadir = 1, is_dir = 2, is_starter = 4, pre_main = 0x20, partial_ok = 0x40 };

/// Memory of another process, of our own width and byte order.
class remote {
 public:
  explicit remote(pid_t pid) : pid_(pid) {}

  /// Empty where not all of it can be read.
  [[nodiscard]] std::string bytes(std::uint64_t address, std::size_t size) const {
    std::string all(size, '\0');
    iovec here{all.data(), size};
    iovec there{reinterpret_cast<void*>(address), size};
    return ::process_vm_readv(pid_, &here, 1, &there, 1, 0) == static_cast<ssize_t>(size) ? all : std::string{};
  }
  template <typename Number>
  [[nodiscard]] Number get(std::uint64_t address) const {
    Number value{};
    const std::string all = bytes(address, sizeof value);
    if (!all.empty()) std::memcpy(&value, all.data(), sizeof value);
    return value;
  }
  [[nodiscard]] std::string text(std::uint64_t address) const {
    std::string all;
    for (; address != 0 && all.size() < 4096; ++address) {
      const char c = get<char>(address);
      if (c == '\0') break;
      all += c;
    }
    return all;
  }
  [[nodiscard]] bool put(std::uint64_t address, std::uint32_t value) const {
    iovec here{&value, sizeof value};
    iovec there{reinterpret_cast<void*>(address), sizeof value};
    return ::process_vm_writev(pid_, &here, 1, &there, 1, 0) == sizeof value;
  }

 private:
  pid_t pid_;
};

struct listed_process {
  std::string host;
  std::string executable;
  std::string world;
  int pid = 0;
  int rank = 0;
  std::string spawn;  ///< "WORLD RANK SEQUENCE" of the parent; empty where it was not spawned
};

struct listed_place {
  std::string host;
  std::string executable;
  int pid = 0;
};

/// One process's info block and its tables, at the addresses that the block gives.
struct seen_process {
  std::string begin;  ///< its first seven bytes: magic, version, variant
  int state = 0;
  std::uint32_t debugger_flags = 0;
  std::uint32_t mpi_flags = 0;
  std::string dll_32, dll_64;
  std::string meta_host, meta_executable;
  int meta_pid = 0;
  std::string abort_string;
  bool has_proctable = false, has_directories = false, has_metadirectories = false;
  std::vector<listed_process> processes;
  std::vector<listed_place> directories;
  std::vector<listed_place> metadirectories;
};

inline std::vector<listed_place> read_places(const remote& r, std::uint64_t table, int size, std::size_t stride) {
  std::vector<listed_place> all;
  for (int i = 0; i < size; ++i, table += stride) {
    all.push_back({r.text(r.get<std::uint64_t>(table)), r.text(r.get<std::uint64_t>(table + 8)),
                   r.get<std::int32_t>(table + 16)});
  }
  return all;
}

inline listed_process read_process(const remote& r, std::uint64_t at) {
  listed_process p{r.text(r.get<std::uint64_t>(at)),      r.text(r.get<std::uint64_t>(at + 8)),
                   r.text(r.get<std::uint64_t>(at + 24)), r.get<std::int32_t>(at + 32),
                   r.get<std::int32_t>(at + 36),          {}};
  if (const auto spawn = r.get<std::uint64_t>(at + 16); spawn != 0) {
    p.spawn = r.text(r.get<std::uint64_t>(spawn)) + " " + std::to_string(r.get<std::int32_t>(spawn + 8)) + " " +
              std::to_string(r.get<std::int32_t>(spawn + 12));
  }
  return p;
}

inline seen_process read_info(pid_t pid, std::uint64_t at, std::size_t stride = 20) {
  const remote r{pid};
  seen_process s;
  s.begin = r.bytes(at, 7);
  s.state = r.get<std::uint8_t>(at + 7);
  s.debugger_flags = r.get<std::uint32_t>(at + 8);
  s.mpi_flags = r.get<std::uint32_t>(at + 12);
  s.dll_32 = r.text(r.get<std::uint64_t>(at + 16));
  s.dll_64 = r.text(r.get<std::uint64_t>(at + 24));
  s.meta_host = r.text(r.get<std::uint64_t>(at + 32));
  s.meta_executable = r.text(r.get<std::uint64_t>(at + 40));
  s.abort_string = r.text(r.get<std::uint64_t>(at + 48));
  const auto proctable = r.get<std::uint64_t>(at + 56);
  const auto directories = r.get<std::uint64_t>(at + 64);
  const auto metadirectories = r.get<std::uint64_t>(at + 72);
  s.has_proctable = proctable != 0;
  s.has_directories = directories != 0;
  s.has_metadirectories = metadirectories != 0;
  const auto size = r.get<std::int32_t>(at + 80);
  for (std::uint64_t entry = proctable; static_cast<int>(s.processes.size()) < size; entry += 40) {
    s.processes.push_back(read_process(r, entry));
  }
  s.directories = read_places(r, directories, r.get<std::int32_t>(at + 84), stride);
  s.metadirectories = read_places(r, metadirectories, r.get<std::int32_t>(at + 88), stride);
  s.meta_pid = r.get<std::int32_t>(at + 92);
  return s;
}

/// A fixture of this folder with its own record of the job. Pipes carry requests and answers. The processes that it
/// launched end with it.
class reference_job {
 public:
  /// The first word is the program's name.
  explicit reference_job(std::vector<std::string> words)
      : process_(with_oracle(std::move(words))), pid_(static_cast<pid_t>(process_.pid().value())) {
    ::unsetenv("MPIACQ_ORACLE");
  }
  reference_job& ready() {
    (void)process_.lines_until_ready();
    return *this;
  }
  void go_on() const { process_.tell('x'); }
  int end() { return process_.end(); }
  [[nodiscard]] pid_t pid() const { return pid_; }  ///< also when it has ended

  [[nodiscard]] std::string oracle() const { return file_contents(folder_.path("oracle")); }
  [[nodiscard]] std::map<std::string, std::string> all_said() const { return read_oracle(folder_.path("oracle")); }
  [[nodiscard]] std::string said(const std::string& key) const {
    const auto all = all_said();
    const auto found = all.find(key);
    return found == all.end() ? "(nothing)" : found->second;
  }
  [[nodiscard]] std::string said(pid_t who, const std::string& key) const {
    return said(std::to_string(who) + "." + key);
  }
  [[nodiscard]] pid_t said_pid(const std::string& key) const { return std::atoi(said(key).c_str()); }
  [[nodiscard]] pid_t rank(const std::string& world, int number) const {
    return said_pid("rank." + world + "." + std::to_string(number) + ".pid");
  }
  /// The worlds that a process spawned, as it names them.
  [[nodiscard]] std::string spawned_world(pid_t parent, int number) const {
    char host[256] = {};
    (void)::gethostname(host, sizeof host - 1);
    return std::string{host} + "." + std::to_string(parent) + "." + std::to_string(number);
  }
  [[nodiscard]] std::uint64_t info_address(pid_t who) const {
    return std::strtoull(said(who, "info").c_str(), nullptr, 16);
  }
  [[nodiscard]] seen_process look(pid_t who, std::size_t stride = 20) const {
    return read_info(who, info_address(who), stride);
  }
  void set_flags(pid_t who, std::uint32_t flags) const {
    const std::uint64_t at = info_address(who) + 8;
    const remote r{who};
    (void)r.put(at, r.get<std::uint32_t>(at) | flags);
  }
  /// Makes a request of one of its processes.
  void tell(pid_t who, const std::string& request) const {
    (void)run_command({MPIACQ_MPI2DD "/mpi2dd_directory", "--tell", std::to_string(who), request});
  }

 private:
  [[nodiscard]] std::vector<std::string> with_oracle(std::vector<std::string> words) const {
    ::setenv("MPIACQ_ORACLE", folder_.path("oracle").c_str(), 1);
    words.front() = MPIACQ_MPI2DD "/" + words.front();
    return words;
  }
  scratch_folder folder_;
  live_process process_;
  pid_t pid_;
};

/// gdb, attached to a running process: it sets a breakpoint at MPI2DD_breakpoint, reports that it has done so, and then
/// executes the given commands. `lines` returns its output up to its end.
class gdb_at {
 public:
  explicit gdb_at(pid_t pid, const std::vector<std::string>& commands) : process_(words(pid, commands)) {
    while (const auto line = process_.next_line()) {
      if (*line == "attached") break;
    }
  }
  /// The values that gdb printed: "$1 = 5" gives "5".
  std::vector<std::string> values() {
    std::vector<std::string> all;
    while (const auto line = process_.next_line()) {
      const std::size_t equals = line->find(" = ");
      if (line->starts_with("$") && equals != std::string::npos) all.push_back(line->substr(equals + 3));
    }
    (void)process_.end();
    return all;
  }

 private:
  static std::vector<std::string> words(pid_t pid, const std::vector<std::string>& commands) {
    std::vector<std::string> what = {"-p",  std::to_string(pid), "-ex", "break MPI2DD_breakpoint",
                                     "-ex", "echo attached\\n"};
    for (const std::string& command : commands) what.insert(what.end(), {"-ex", command});
    return gdb_command(what);
  }
  live_process process_;
};

/// Why gdb cannot attach to the tests' processes, which are not its children; empty if it can.
inline std::string gdb_cannot_attach() {
  if (!is_installed("gdb")) return gdb_not_installed;
  const std::string scope = file_contents("/proc/sys/kernel/yama/ptrace_scope");
  const bool may = scope.empty() || scope.front() == '0' || (scope.front() < '3' && ::geteuid() == 0);
  return may ? "" : "kernel.yama.ptrace_scope keeps gdb from attaching";
}

}  // namespace mpiacq::test
