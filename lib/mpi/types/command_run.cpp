// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "types/command_run.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "descriptors/unique_fd.hpp"
#include "errors/try.hpp"
#include "helper/programs.hpp"

namespace mpiacq::carriers {

namespace {

constexpr std::size_t max_output = 1U << 20;
constexpr int lowest_own_descriptor = 10;  ///< above all descriptors of the new process

struct pipe_ends {
  base::unique_fd read;
  base::unique_fd write;
};

result<pipe_ends> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(error{error_code::system, "making a pipe"}.with_errno(errno));
  pipe_ends made{base::unique_fd{ends[0]}, base::unique_fd{ends[1]}};
  const int moved = ::fcntl(made.write.get(), F_DUPFD_CLOEXEC, lowest_own_descriptor);
  if (moved < 0) return fail(error{error_code::system, "making a pipe"}.with_errno(errno));
  made.write = base::unique_fd{moved};
  return made;
}

bool is_program(const std::string& path) {
  struct stat s {};
  return ::stat(path.c_str(), &s) == 0 && S_ISREG(s.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

/// Appends the available bytes to `text`. Returns false at the end.
bool take(const base::unique_fd& from, std::string& text) {
  std::array<char, 4096> piece{};
  const ssize_t got = ::read(from.get(), piece.data(), piece.size());
  if (got < 0) return errno == EINTR;
  const std::size_t room = max_output - std::min(max_output, text.size());
  text.append(piece.data(), std::min(room, static_cast<std::size_t>(got)));
  return got > 0;
}

/// Collects until both outputs have ended. Returns false if the deadline passed first.
bool collect(const base::unique_fd& out, const base::unique_fd& err, command_outcome& into,
             std::chrono::steady_clock::time_point until) {
  std::array<pollfd, 2> sources = {pollfd{out.get(), POLLIN, 0}, pollfd{err.get(), POLLIN, 0}};
  while (sources[0].fd >= 0 || sources[1].fd >= 0) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    if (::poll(sources.data(), sources.size(), static_cast<int>(left.count())) < 0 && errno != EINTR) return false;
    if (sources[0].revents != 0 && !take(out, into.out)) sources[0].fd = -1;
    if (sources[1].revents != 0 && !take(err, into.err)) sources[1].fd = -1;
  }
  return true;
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return 0;  // the host program ignores SIGCHLD; the output shows the success
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

std::string find_in_path(const std::string& name) {
  if (name.find('/') != std::string::npos) return is_program(name) ? name : std::string{};
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
  while (true) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    // An empty part means the current folder. No program is run from there.
    std::string file = fmt::format("{}/{}", rest.substr(0, end), name);
    if (end > 0 && is_program(file)) return file;
    if (end == rest.size()) return {};
    rest.remove_prefix(end + 1);
  }
}

result<command_outcome> run_to_end(std::vector<std::string> words, std::chrono::milliseconds limit) {
  const std::string program = find_in_path(words.front());
  if (program.empty()) {
    return fail(
        error{error_code::not_found, fmt::format("there is no program {} in PATH", words.front())}.on(words.front()));
  }
  auto out = TRY(make_pipe());
  auto err = TRY(make_pipe());
  base::spawn_plan plan;
  plan.default_signals();
  plan.open(STDIN_FILENO, "/dev/null", O_RDONLY);
  plan.give(STDOUT_FILENO, out.write.get());
  plan.give(STDERR_FILENO, err.write.get());
  pid_t child = -1;
  const std::string called = words.front();
  if (const int why = plan.run(child, {program}, std::move(words), environ); why != 0) {
    return fail(error{error_code::exec_failed, fmt::format("{} cannot be run", called)}.with_errno(why).on(program));
  }
  out.write.reset();
  err.write.reset();
  command_outcome outcome;
  const bool ended = collect(out.read, err.read, outcome, std::chrono::steady_clock::now() + limit);
  if (!ended) ::kill(child, SIGKILL);
  outcome.exit_status = wait_for(child);
  if (!ended) {
    return fail(
        error{error_code::timed_out, fmt::format("{} did not end within {} seconds", called,
                                                 std::chrono::duration_cast<std::chrono::seconds>(limit).count())}
            .on(program));
  }
  return outcome;
}

}  // namespace mpiacq::carriers
