// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "sessions/program_output.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "descriptors/unique_fd.hpp"
#include "helper/programs.hpp"
#include "mpiacq/base/time_limit.hpp"
#include "text/printable.hpp"

namespace mpiacq::tool {

namespace {

constexpr std::size_t most_output = 1U << 20;
constexpr int above_standard_streams = 10;

/// Whether this user may rely on what the file is: root on root's files alone.
bool is_ours_alone(const struct stat& facts) {
  return ::geteuid() != 0 || (facts.st_uid == 0 && (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0);
}

bool is_trusted_program(const std::string& folder, const std::string& file) {
  struct stat there {
  }, program{};
  return ::stat(folder.c_str(), &there) == 0 && is_ours_alone(there) && ::stat(file.c_str(), &program) == 0 &&
         S_ISREG(program.st_mode) && is_ours_alone(program) && ::access(file.c_str(), X_OK) == 0;
}

/// Reads until the end of the output. False: the limit came first.
bool read_all(int from, std::string& into, deadline until) {
  std::array<char, 4096> piece{};
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now()).count();
    pollfd source{from, POLLIN, 0};
    if (left <= 0 || ::poll(&source, 1, static_cast<int>(left)) == 0) return false;
    const ssize_t got = ::read(from, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    into.append(piece.data(), std::min(static_cast<std::size_t>(got), most_output - into.size()));
  }
}

/// ": " and the beginning of the first line of a file; empty if it has none.
std::string first_line_of(int file) {
  std::array<char, 300> bytes{};
  const ssize_t size = ::pread(file, bytes.data(), bytes.size(), 0);
  const std::string_view text(bytes.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  const std::string_view line = text.substr(0, text.find('\n'));
  return line.empty() ? std::string() : ": " + base::printable(line);
}

int status_of_child(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

std::string trusted_program(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
  for (;;) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string folder(rest.substr(0, end));
    std::string file = fmt::format("{}/{}", folder, name);
    // An empty or relative part depends on the current folder. No program is run from there.
    if (folder.starts_with('/') && is_trusted_program(folder, file)) return file;
    if (end == rest.size()) return {};
    rest.remove_prefix(end + 1);
  }
}

result<std::string> output_of(std::vector<std::string> words, std::chrono::milliseconds limit) {
  const std::string name = words.front();
  const std::string program = trusted_program(name);
  if (program.empty()) {
    return fail(error_code::not_found, fmt::format("there is no program {} in PATH{}", name,
                                                   ::geteuid() == 0 ? " that root alone can write to" : ""));
  }
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(error{error_code::system, fmt::format("making a pipe for {}", name)}.with_errno(errno));
  }
  const base::unique_fd output{ends[0]};
  base::unique_fd input{ends[1]};
  base::unique_fd given{::fcntl(input.get(), F_DUPFD_CLOEXEC, above_standard_streams)};
  input.reset();
  base::spawn_plan plan;
  plan.default_signals();
  plan.own_group();
  plan.open(STDIN_FILENO, "/dev/null", O_RDONLY);
  const base::unique_fd complaints{::memfd_create("complaints", MFD_CLOEXEC)};
  const base::unique_fd given_complaints{::fcntl(complaints.get(), F_DUPFD_CLOEXEC, above_standard_streams)};
  plan.give(STDOUT_FILENO, given.get());
  plan.give(STDERR_FILENO, given_complaints.get());
  pid_t child = -1;
  if (const int why = plan.run(child, {program}, std::move(words), environ); why != 0) {
    return fail(error{error_code::exec_failed, fmt::format("starting {}", program)}.with_errno(why).on(program));
  }
  given.reset();
  std::string text;
  const bool ended = read_all(output.get(), text, clock::now() + limit);
  // The group: the program may be a script that waits for another one.
  if (!ended) ::kill(-child, SIGKILL);
  const int status = status_of_child(child);
  if (!ended) {
    return fail(error_code::timed_out, fmt::format("{} has not answered within {} s", program, limit.count() / 1000));
  }
  if (status != 0) {
    return fail(error_code::exec_failed,
                fmt::format("{} ended with status {}{}", program, status, first_line_of(complaints.get())));
  }
  return text;
}

}  // namespace mpiacq::tool
