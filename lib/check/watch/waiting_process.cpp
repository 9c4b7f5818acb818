// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "watch/waiting_process.hpp"

#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

namespace mpiacq::check {

std::string file_text(const std::string& path, std::size_t limit) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::array<char, 4096> piece{};
  while (text.size() < limit && file.read(piece.data(), piece.size()).gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
  }
  return text;
}

std::optional<resting_thread> rests_at(process_id pid) {
  // "running", or the call's number and arguments, the stack pointer and the program counter; -1 and the two registers
  // where it is stopped outside of a call.
  std::istringstream words(file_text(fmt::format("/proc/{}/syscall", pid.value()), 4096));
  std::vector<std::string> all;
  for (std::string word; words >> word;) all.push_back(word);
  if (all.size() < 3) return std::nullopt;
  return resting_thread{target_address{std::strtoull(all[all.size() - 2].c_str(), nullptr, 16)}};
}

std::vector<code_range> executable_memory_of(process_id pid) {
  // "begin-end r-xp ..."
  constexpr std::size_t longest_maps = 64U << 20;
  std::istringstream lines(file_text(fmt::format("/proc/{}/maps", pid.value()), longest_maps));
  std::vector<code_range> ranges;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t dash = line.find('-');
    const std::size_t blank = line.find(' ');
    if (dash == std::string::npos || blank == std::string::npos || line.size() < blank + 5 || line[blank + 3] != 'x') {
      continue;
    }
    const std::uint64_t begin = std::strtoull(line.c_str(), nullptr, 16);
    const std::uint64_t end = std::strtoull(line.c_str() + dash + 1, nullptr, 16);
    if (end > begin) ranges.push_back({target_address{begin}, end - begin});
  }
  return ranges;
}

}  // namespace mpiacq::check
