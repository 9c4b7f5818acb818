// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "proc/pid_namespace.hpp"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/nsfs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc/known_processes.hpp"

namespace mpiacq {

namespace {

/// The number of the namespace that many levels above the one of a process; empty if the kernel does not show it.
std::optional<std::uint64_t> namespace_above(process_id pid, std::size_t levels) {
  base::unique_fd space{::open(fmt::format("/proc/{}/ns/pid", pid.value()).c_str(), O_RDONLY | O_CLOEXEC)};
  for (; space && levels != 0; --levels) space = base::unique_fd{::ioctl(space.get(), NS_GET_PARENT)};
  struct stat about {};
  if (!space || ::fstat(space.get(), &about) != 0) return std::nullopt;
  return about.st_ino;
}

}  // namespace

std::optional<pid_namespace> inner_namespace_of(const process_facts& process) {
  const auto& pids = process.namespace_pids();
  if (!pids || pids->size() < 2) return std::nullopt;
  const auto& spaces = process.namespaces();
  if (!spaces) return std::nullopt;
  return pid_namespace{spaces->pid, pids->size() - 1};
}

std::optional<process_id> pid_in(const pid_namespace& space, const process_facts& process) {
  const auto& pids = process.namespace_pids();
  if (!pids || pids->size() <= space.depth) return std::nullopt;
  const std::size_t levels = pids->size() - 1 - space.depth;
  if (levels == 0) {
    const auto& own = process.namespaces();
    if (!own || own->pid != space.number) return std::nullopt;
  } else if (namespace_above(process.pid(), levels) != space.number) {
    return std::nullopt;
  }
  return (*pids)[space.depth];
}

pid_translation::pid_translation(const pid_namespace& space, const std::string& proc) {
  for (const process_id pid : known_processes(proc).all()) {
    const auto process = process_facts::open(pid, proc);
    if (!process) continue;
    if (const auto there = pid_in(space, *process)) here_.emplace(*there, pid);
  }
}

std::optional<process_id> pid_translation::here(process_id there) const {
  const auto found = here_.find(there);
  return found == here_.end() ? std::nullopt : std::optional{found->second};
}

bool in_inner_process_namespace() {
  // PROC_PID_INIT_INO (include/linux/proc_ns.h): the number of the first one is fixed.
  constexpr std::string_view first = "pid:[4026531836]";
  std::array<char, 64> name{};
  const ssize_t length = ::readlink("/proc/self/ns/pid", name.data(), name.size());
  return length > 0 && std::string_view{name.data(), static_cast<std::size_t>(length)} != first;
}

}  // namespace mpiacq
