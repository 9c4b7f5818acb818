// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "starter/searched_programs.hpp"

#include <set>
#include <utility>

#include <fmt/format.h>

#include "mpiacq/process/process_maps.hpp"

namespace mpiacq {

std::optional<std::string> searched_programs::program_of(const process_facts& process) {
  const auto& executable = process.executable();
  const auto& namespaces = process.namespaces();
  const auto code = read_code_ranges(process.pid());
  if (!executable || !namespaces || !code) return std::nullopt;
  // The kernel maps each process's files at other addresses, and the vDSO between them.
  std::set<std::pair<std::uint64_t, std::uint64_t>> files;
  for (const code_range& one : *code) {
    if (one.inode != 0) files.emplace(one.device, one.inode);
  }
  std::string program = fmt::format("{} {} {}", process.user().value(), namespaces->mnt, *executable);
  for (const auto& [device, inode] : files) program += fmt::format(" {:x}:{:x}", device, inode);
  return program;
}

void searched_programs::note_lack(const process_facts& process, const std::optional<std::string>& before) {
  if (before && program_of(process) == before) lacking_.insert(*before);
}

}  // namespace mpiacq
