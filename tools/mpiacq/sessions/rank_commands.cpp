// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "sessions/rank_commands.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands/complaints.hpp"
#include "report/output_queue.hpp"
#include "sessions/session_wait.hpp"
#include "text/printable.hpp"

extern char** environ;  // NOLINT: POSIX declares it nowhere

namespace mpiacq::tool {

namespace {

/// Longer lines are passed on in pieces.
constexpr std::size_t longest_line = 65536;
constexpr std::chrono::seconds grace{1};

int open_process(pid_t pid) {
  // By number, because the C library's wrapper is newer than some supported systems.
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}

/// Runs the command without input, with its output in a pipe, in a process group of its own, with no signal blocked.
int start_shell(const std::string& command, int output, pid_t& child) {
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
  posix_spawnattr_t how;
  ::posix_spawnattr_init(&how);
  sigset_t none;
  sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&how, &none);
  ::posix_spawnattr_setpgroup(&how, 0);
  ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  std::string shell = "sh", option = "-c", text = command;
  std::array<char*, 4> arguments = {shell.data(), option.data(), text.data(), nullptr};
  const int problem = ::posix_spawn(&child, "/bin/sh", &files, &how, arguments.data(), environ);
  ::posix_spawnattr_destroy(&how);
  ::posix_spawn_file_actions_destroy(&files);
  return problem;
}

}  // namespace

rank_commands::rank_commands(std::string text, std::vector<command_subject> subjects, std::size_t jobs, int output,
                             command_hooks hooks)
    : text_(std::move(text)), jobs_(std::max<std::size_t>(jobs, 1)), output_(output), hooks_(std::move(hooks)) {
  add(std::move(subjects));
  serve();
}

void rank_commands::add(std::vector<command_subject> subjects) {
  for (command_subject& subject : subjects) {
    if (known_.insert(subject.pid).second) waiting_.push_back(std::move(subject));
  }
}

rank_commands::~rank_commands() {
  stop();
  const deadline until = clock::now() + grace;
  for (running& command : running_) {
    if (!is_readable_by(until, command.process)) ::kill(-command.pid, SIGKILL);
    while (::waitpid(command.pid, nullptr, 0) < 0 && errno == EINTR) continue;
    close_all(command);
  }
}

void rank_commands::add_to(std::vector<pollfd>& polled) const {
  for (const running& command : running_) {
    polled.push_back({command.process, POLLIN, 0});
    if (command.output >= 0 && reader_keeps_up_) polled.push_back({command.output, POLLIN, 0});
  }
  if (!reader_keeps_up_) polled.push_back({the_output().room_descriptor(), POLLIN, 0});
}

void rank_commands::stop() {
  failures_ += waiting_.size();
  waiting_.clear();
  for (const running& command : running_) ::kill(-command.pid, SIGTERM);
}

void rank_commands::serve() {
  // If the reader of mpiacq's output is slow, the commands' pipes fill up and the commands wait. This bounds the memory
  // of mpiacq.
  reader_keeps_up_ = the_output().has_room();
  if (reader_keeps_up_) {
    for (running& command : running_) read_output(command);
  }
  std::erase_if(running_, [&](running& command) { return has_ended(command); });
  for (std::size_t left = waiting_.size(); left > 0 && running_.size() < jobs_; --left) {
    command_subject next = std::move(waiting_.front());
    waiting_.pop_front();
    if (hooks_.may_begin(next.pid)) {
      start(next);
    } else {
      waiting_.push_back(std::move(next));
    }
  }
}

void rank_commands::start(const command_subject& subject) {
  std::array<int, 2> pipe{-1, -1};
  running command{subject.rank, subject.pid, -1, -1, -1, {}};
  int problem = ::pipe2(pipe.data(), O_CLOEXEC) != 0 ? errno : 0;
  // Only this end is non-blocking: the command's writes wait if mpiacq is slow.
  if (problem == 0) ::fcntl(pipe[0], F_SETFL, O_NONBLOCK);
  if (problem == 0) problem = start_shell(command_for(text_, subject), pipe[1], command.pid);
  if (pipe[1] >= 0) ::close(pipe[1]);
  command.output = pipe[0];
  if (problem == 0) {
    command.process = open_process(command.pid);
    running_.push_back(std::move(command));
    return;
  }
  ++failures_;
  complain(error{error_code::system, fmt::format("running the command for rank {}", subject.rank)}.with_errno(problem));
  close_all(command);
  hooks_.has_ended(subject.pid);
}

void rank_commands::read_output(running& command) {
  std::array<char, 16384> piece{};
  while (command.output >= 0) {
    const ssize_t got = ::read(command.output, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      ::close(std::exchange(command.output, -1));
      return;
    }
    command.line.append(piece.data(), static_cast<std::size_t>(got));
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = command.line.find('\n', begin)) != std::string::npos; begin = end + 1) {
      print(command, std::string_view(command.line).substr(begin, end - begin));
    }
    command.line.erase(0, begin);
    if (command.line.size() >= longest_line) print(command, std::exchange(command.line, {}));
  }
}

void rank_commands::print(const running& command, std::string_view line) {
  // The line passes unchanged, like the job's output. The name of the rank may be untrusted text.
  the_output().write(output_, fmt::format("{}: {}\n", base::printable(command.rank), line));
}

bool rank_commands::has_ended(running& command) {
  int status = 0;
  const pid_t ended = ::waitpid(command.pid, &status, WNOHANG);
  if (ended == 0) return false;
  // Programs that the command left running may keep the pipe open for ever. The command's own output is in the pipe by
  // now.
  read_output(command);
  if (!command.line.empty()) print(command, command.line);
  if (ended > 0 && WIFSIGNALED(status)) print(command, fmt::format("(ended by signal {})", WTERMSIG(status)));
  if (ended < 0 || status != 0) ++failures_;
  close_all(command);
  hooks_.has_ended(command.subject);
  return true;
}

void rank_commands::close_all(running& command) {
  for (int* descriptor : {&command.process, &command.output}) {
    if (*descriptor >= 0) ::close(std::exchange(*descriptor, -1));
  }
}

}  // namespace mpiacq::tool
