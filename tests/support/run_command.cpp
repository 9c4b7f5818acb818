// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "run_command.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "descriptors/unique_fd.hpp"
#include "start_child.hpp"

namespace mpiacq::test {

namespace {

using clock = std::chrono::steady_clock;

struct pipe_ends {
  int read = -1;
  int write = -1;
};

pipe_ends make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
  return {ends[0], ends[1]};
}

/// For what only the new process itself can do.
[[noreturn]] void become(const std::vector<std::string>& arguments, const command_options& options,
                         const child_start& how) {
  for (const auto& [name, value] : how.environment) ::setenv(name.c_str(), value.c_str(), 1);
  if (!how.directory.empty() && ::chdir(how.directory.c_str()) != 0) ::_exit(cannot_start);
  if (::dup2(how.in, 0) < 0 || ::dup2(how.out, 1) < 0 || ::dup2(how.err, 2) < 0) ::_exit(cannot_start);
  constexpr unsigned nobody = 65534;
  if (options.as_nobody && ::geteuid() == 0 &&
      (::setgroups(0, nullptr) != 0 || ::setgid(nobody) != 0 || ::setuid(nobody) != 0)) {
    ::_exit(cannot_start);
  }
  if (options.in_child) options.in_child();
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  ::_exit(cannot_start);
}

/// Reads the available bytes. Returns false at the end of the stream.
bool drain(int descriptor, std::string& into) {
  std::array<char, 65536> piece{};
  const ssize_t got = ::read(descriptor, piece.data(), piece.size());
  if (got > 0) into.append(piece.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && errno == EINTR);
}

}  // namespace

running_command::running_command(const std::vector<std::string>& arguments, command_options options)
    : options_(std::move(options)) {
  const pipe_ends out = make_pipe();
  const pipe_ends err = make_pipe();
  const base::unique_fd nothing{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  const child_start how{nothing.get(), out.write, err.write, options_.environment, options_.directory};
  // Another PATH tells where the program is.
  if (options_.as_nobody || options_.in_child || options_.environment.contains("PATH")) {
    child_ = ::fork();
    if (child_ == 0) become(arguments, options_, how);
  } else {
    child_ = start_child(arguments, how);
  }
  ::close(out.write);
  ::close(err.write);
  out_ = out.read;
  err_ = err.read;
}

running_command::~running_command() {
  if (child_ <= 0) return;
  ::kill(child_, SIGKILL);
  (void)wait();
}

bool running_command::complains(const std::string& text) {
  const auto until = clock::now() + options_.limit;
  while (err_seen_.find(text) == std::string::npos) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - clock::now()).count();
    pollfd stream{err_, POLLIN, 0};
    if (left <= 0 || ::poll(&stream, 1, static_cast<int>(left)) == 0) return false;
    if (stream.revents != 0 && !drain(err_, err_seen_)) return false;
  }
  return true;
}

command_outcome running_command::wait() {
  command_outcome outcome;
  outcome.err = std::move(err_seen_);
  const auto until = clock::now() + options_.limit;
  std::array<pollfd, 2> streams{pollfd{out_, POLLIN, 0}, pollfd{err_, POLLIN, 0}};
  while (streams[0].fd >= 0 || streams[1].fd >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - clock::now()).count();
    if (left <= 0) {
      outcome.timed_out = true;
      ::kill(child_, SIGKILL);
      break;
    }
    (void)::poll(streams.data(), streams.size(), static_cast<int>(left));
    if (streams[0].revents != 0 && !drain(out_, outcome.out)) streams[0].fd = -1;
    if (streams[1].revents != 0 && !drain(err_, outcome.err)) streams[1].fd = -1;
  }
  int status = 0;
  while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
  ::close(out_);
  ::close(err_);
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  return outcome;
}

command_outcome run_command(const std::vector<std::string>& arguments, const command_options& options) {
  return running_command(arguments, options).wait();
}

scratch_folder::scratch_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "mpiacq-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no scratch folder");
  folder_ = name;
}

scratch_folder::~scratch_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

bool is_installed(const std::string& program) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders{(path == nullptr ? "" : path) + std::string(":/usr/sbin:/sbin")};
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::string file_contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::map<std::string, std::string> read_oracle(const std::string& path) {
  std::map<std::string, std::string> oracle;
  std::istringstream lines(file_contents(path));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t space = line.find(' ');
    oracle[line.substr(0, space)] = space == std::string::npos ? "" : line.substr(space + 1);
  }
  return oracle;
}

char process_state(long pid) {
  const std::string stat = file_contents("/proc/" + std::to_string(pid) + "/stat");
  // The process's name may contain any characters, so the last parenthesis ends it.
  const std::size_t name_end = stat.rfind(") ");
  return name_end == std::string::npos ? ' ' : stat[name_end + 2];
}

bool comes_true(const std::function<bool()>& condition) {
  const auto until = clock::now() + patience;
  while (!condition()) {
    if (clock::now() > until) return false;
    ::poll(nullptr, 0, 1);  // a millisecond
  }
  return true;
}

}  // namespace mpiacq::test
