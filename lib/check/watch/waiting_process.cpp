// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "watch/waiting_process.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

namespace mpiacq::check {

namespace {

/// An environment is at most a quarter of the stack limit; this is far above what any shell passes on.
constexpr std::size_t max_environment = 16U << 20;

/// Null-terminated strings, one after the other.
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

}  // namespace

std::string file_text(const std::string& path, std::size_t limit) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::array<char, 4096> piece{};
  while (text.size() < limit && file.read(piece.data(), piece.size()).gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
  }
  return text;
}

std::optional<process_state> state_of(process_id pid) {
  const std::string stat = file_text(fmt::format("/proc/{}/stat", pid.value()), 4096);
  // "PID (name) S ...": the name may hold anything, a closing parenthesis too, so the last one counts.
  const std::size_t after_name = stat.rfind(") ");
  if (after_name == std::string::npos) return std::nullopt;
  constexpr int letter_field = 3;
  constexpr int stack_field = 28;
  std::istringstream fields(stat.substr(after_name + 2));
  process_state state;
  std::string field;
  for (int number = letter_field; number <= stack_field && fields >> field; ++number) {
    if (number == letter_field) state.letter = field.front();
    if (number == stack_field) state.stack_begins = target_address{std::strtoull(field.c_str(), nullptr, 10)};
  }
  if (state.letter == 0) return std::nullopt;
  return state;
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

std::string executable_of(process_id pid) {
  std::array<char, 4096> path{};
  const ssize_t length = ::readlink(fmt::format("/proc/{}/exe", pid.value()).c_str(), path.data(), path.size());
  return length <= 0 ? std::string{} : std::string(path.data(), static_cast<std::size_t>(length));
}

std::map<std::string, std::string> environment_of(process_id pid) {
  std::map<std::string, std::string> variables;
  for (const std::string& entry : split(file_text(fmt::format("/proc/{}/environ", pid.value()), max_environment))) {
    const std::size_t equals = entry.find('=');
    if (equals != std::string::npos) variables.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return variables;
}

std::vector<std::string> arguments_of(process_id pid) {
  return split(file_text(fmt::format("/proc/{}/cmdline", pid.value()), max_environment));
}

std::vector<process_id> all_processes() {
  std::vector<process_id> all;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename().string();
    std::int64_t pid = 0;
    const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (problem == std::errc{} && end == name.data() + name.size()) all.emplace_back(pid);
  }
  return all;
}

}  // namespace mpiacq::check
