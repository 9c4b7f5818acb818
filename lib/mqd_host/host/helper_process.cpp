// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "host/helper_process.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "errors/try.hpp"
#include "helper/programs.hpp"
#include "separate/queue_messages.hpp"

namespace mpiacq::mqd_host {

namespace {

using base::unique_fd;

/// A duplicate of the descriptor, above the fixed numbers that the new process uses.
unique_fd moved_up(int fd) {
  return unique_fd{::fcntl(fd, F_DUPFD_CLOEXEC, first_free_descriptor)};
}

struct ends {
  unique_fd ours;
  unique_fd theirs;
};

error no_descriptors() {
  return error{error_code::system, "cannot make the descriptors for the process of a queue library"}.with_errno(errno);
}

result<ends> make_socket() {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return fail(no_descriptors());
  const unique_fd theirs{pair[1]};
  ends both{unique_fd{pair[0]}, moved_up(theirs.get())};
  if (!both.theirs) return fail(no_descriptors());
  return both;
}

result<ends> make_pipe() {
  int pair[2];
  if (::pipe2(pair, O_CLOEXEC) != 0) return fail(no_descriptors());
  const unique_fd theirs{pair[1]};
  ends both{unique_fd{pair[0]}, moved_up(theirs.get())};
  if (!both.theirs || ::fcntl(both.ours.get(), F_SETFL, O_NONBLOCK) != 0) return fail(no_descriptors());
  return both;
}

/// The only variable that the process keeps: the loader needs it to find a library's dependencies.
std::string kept_variable() {
  const char* folders = ::secure_getenv("LD_LIBRARY_PATH");
  return folders == nullptr ? std::string{} : fmt::format("LD_LIBRARY_PATH={}", folders);
}

std::vector<std::string> arguments_for(const std::optional<helper_user>& user) {
  std::vector<std::string> all{"mqd-host", "for", std::to_string(::getpid())};
  if (user) {
    all.push_back(std::to_string(user->user));
    all.push_back(std::to_string(user->group));
  }
  return all;
}

}  // namespace

result<helper_process> helper_process::start(const std::string& program, int library,
                                             const std::optional<helper_user>& user) {
  auto area = TRY(shared_memory::create());
  auto socket = TRY(make_socket());
  auto output = TRY(make_pipe());
  const unique_fd memory = moved_up(area.descriptor());
  const unique_fd file = moved_up(library);
  if (!memory || !file) return fail(no_descriptors());

  base::spawn_plan plan;
  plan.default_signals();
  plan.open(STDIN_FILENO, "/dev/null", O_RDONLY);
  plan.give(STDOUT_FILENO, output.theirs.get());
  plan.give(STDERR_FILENO, output.theirs.get());
  plan.give(socket_descriptor, socket.theirs.get());
  plan.give(memory_descriptor, memory.get());
  plan.give(library_descriptor, file.get());
  const auto candidates = base::program_candidates("mqd-host", program);
  std::string variable = kept_variable();
  char* environment[] = {variable.empty() ? nullptr : variable.data(), nullptr};
  pid_t id = 0;
  if (const int outcome = plan.run(id, candidates, arguments_for(user), environment); outcome != 0) {
    return fail(base::not_startable("the program that queue libraries run in", candidates, outcome));
  }
  helper_process started(std::move(area), id);
  started.socket_ = std::move(socket.ours);
  started.output_ = std::move(output.ours);
  started.process_ = unique_fd{static_cast<int>(::syscall(SYS_pidfd_open, id, 0))};
  return started;
}

helper_process::helper_process(helper_process&& other) noexcept
    : area_(std::move(other.area_)),
      socket_(std::move(other.socket_)),
      output_(std::move(other.output_)),
      process_(std::move(other.process_)),
      id_(std::exchange(other.id_, 0)),
      made_in_(other.made_in_) {}

helper_process::~helper_process() {
  // In a forked copy of the tool, the helper belongs to the original process, which ends it.
  if (id_ != 0 && ::getpid() == made_in_) static_cast<void>(end(std::chrono::milliseconds{0}));
}

void helper_process::kill() const {
  if (::syscall(SYS_pidfd_send_signal, process_.get(), SIGKILL, nullptr, 0) == 0 || errno == ESRCH) return;
  ::kill(id_, SIGKILL);  // for a kernel, or a sandbox around the tool, without pidfds
}

std::optional<int> helper_process::end(std::chrono::milliseconds patience) {
  if (id_ == 0) return std::nullopt;
  pollfd ending{process_.get(), POLLIN, 0};
  if (patience.count() <= 0 || ::poll(&ending, 1, static_cast<int>(patience.count())) <= 0) kill();
  int status = 0;
  pid_t waited = 0;
  do {
    waited = ::waitpid(id_, &status, 0);
  } while (waited < 0 && errno == EINTR);
  process_.reset();
  return waited == std::exchange(id_, 0) ? std::optional{status} : std::nullopt;
}

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

}  // namespace mpiacq::mqd_host
