// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "watch/daemon_observation.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <sys/stat.h>

#include "mpiacq/process/process_user.hpp"
#include "proc/known_processes.hpp"

namespace mpiacq::check {

namespace {

/// How many words of its command line stand before the arguments proper; 0 where it is another program.
std::size_t words_before_arguments(process_id process, const std::string& path, const struct stat& wanted,
                                   const std::vector<std::string>& words) {
  struct stat runs {};
  if (words.empty() || ::stat(fmt::format("/proc/{}/exe", process.value()).c_str(), &runs) != 0) return 0;
  if (runs.st_dev == wanted.st_dev && runs.st_ino == wanted.st_ino) return 1;
  // An interpreter, maybe with an option of its own, then the script's path.
  for (std::size_t i = 1; i < std::min<std::size_t>(words.size(), 3); ++i) {
    if (words[i] == path) return i + 1;
  }
  return 0;
}

}  // namespace

daemon_seen look_for(const std::string& path, const std::vector<std::string>& arguments, user_id user) {
  daemon_seen seen{path, arguments, 0, 0};
  struct stat wanted {};
  if (::stat(path.c_str(), &wanted) != 0) return seen;
  for (const process_id pid : known_processes{}.all()) {
    const auto process = process_facts::open(pid);
    if (!process || !process->users() || why_no_rank(pid, *process->users(), user)) continue;
    const std::vector<std::string> words = split_strings(process->command_line().value_or(""));
    const std::size_t before = words_before_arguments(pid, path, wanted, words);
    if (before == 0) continue;
    ++seen.running;
    const auto first = words.begin() + static_cast<std::ptrdiff_t>(before);
    if (std::equal(first, words.end(), arguments.begin(), arguments.end())) ++seen.with_arguments;
  }
  return seen;
}

}  // namespace mpiacq::check
