// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "server/child_launch.hpp"

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "errors/try.hpp"
#include "kernel/descriptor_limit.hpp"

namespace mpiacq::tracing {

namespace {

constexpr int status_not_runnable = 126;
constexpr int status_not_found = 127;

/// A null-terminated array over strings that stay where they are.
std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> all;
  all.reserve(strings.size() + 1);
  // execve changes none of them.
  for (const std::string& s : strings)
    all.push_back(const_cast<char*>(s.c_str()));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  all.push_back(nullptr);
  return all;
}

/// Whether execvp tries the next directory after this error.
bool looks_on(int errno_value) {
  switch (errno_value) {
    case ENOENT:
    case ENOTDIR:
    case ESTALE:
    case ENODEV:
    case ETIMEDOUT:
    case EACCES:
      return true;
    default:
      return false;
  }
}

/// Runs in the child. Signals are blocked in the tracer server, and in the child until just before its exec.
[[noreturn]] void become_program(const exec_plan& plan, int go, int failure) {
  char byte = 0;
  // The byte arrives when the child is attached. The pipe ends if the tracer server has died: the user's job then runs
  // anyway.
  while (::read(go, &byte, 1) < 0 && errno == EINTR) {
  }
  // If Yama lets only ancestors trace, the guard is an ancestor only while the tracer server lives. A kernel without
  // Yama refuses this call.
  if (plan.guard > 1) static_cast<void>(::prctl(PR_SET_PTRACER, plan.guard, 0, 0, 0));
  exec_failure last{ENOENT, 0};
  const auto give_up = [&] {
    static_cast<void>(!::write(failure, &last, sizeof last));
    ::_exit(last.errno_value == ENOENT ? status_not_found : status_not_runnable);
  };
  int* const keep[] = {&failure};
  if (::fchdir(plan.descriptors.front().get()) != 0 || !put_on(plan.surroundings, plan.descriptors.subspan(1), keep)) {
    last.errno_value = errno;
    give_up();
  }
  restore_descriptor_limit();
  const auto arguments = pointers(plan.arguments);
  const auto environment = pointers(plan.environment);
  ignore_signals(plan.surroundings.ignored_signals);
  const sigset_t mask = signal_set(plan.surroundings.blocked_signals);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  for (std::size_t i = 0; i < plan.candidates.size(); ++i) {
    ::execve(plan.candidates[i].c_str(), arguments.data(), environment.data());
    // A file that exists and may not be executed is reported rather than missing files.
    const bool telling = errno != ENOENT && errno != ENOTDIR;
    if (telling || last.errno_value != EACCES) last = {errno, static_cast<int>(i)};
    if (!looks_on(errno)) break;
  }
  give_up();
  std::abort();
}

struct pipe_ends {
  unique_fd read;
  unique_fd write;
};

result<pipe_ends> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return fail(error{error_code::system, "no pipe for starting a program"}.with_errno(errno));
  }
  return pipe_ends{unique_fd{ends[0]}, unique_fd{ends[1]}};
}

}  // namespace

std::vector<std::string> program_candidates(const std::string& name, const std::optional<std::string>& search_path) {
  if (name.find('/') != std::string::npos) return {name};
  std::string_view path = search_path ? std::string_view{*search_path} : std::string_view{"/bin:/usr/bin"};
  std::vector<std::string> candidates;
  while (true) {
    const auto colon = path.find(':');
    const std::string_view directory = path.substr(0, colon);
    // An empty element is the working directory.
    candidates.push_back(directory.empty() ? "./" + name : fmt::format("{}/{}", directory, name));
    if (colon == std::string_view::npos) return candidates;
    path.remove_prefix(colon + 1);
  }
}

result<waiting_child> fork_child(const exec_plan& plan) {
  auto go = TRY(make_pipe());
  auto failure = TRY(make_pipe());
  const pid_t id = ::fork();
  if (id < 0) return fail(error{error_code::system, "no process can be made for the program"}.with_errno(errno));
  if (id == 0) {
    // With this end open the child would never notice the death of the tracer server.
    ::close(go.write.get());
    become_program(plan, go.read.get(), failure.write.get());
  }
  return waiting_child{id, std::move(go.write), std::move(failure.read)};
}

void release_child(waiting_child& child) {
  const char byte = 0;
  // A failed write means that the child is dead; the wait reports that.
  static_cast<void>(!::write(child.go.get(), &byte, 1));
  child.go.reset();
}

std::optional<exec_failure> read_exec_failure(const unique_fd& from) {
  exec_failure failure;
  ssize_t got = 0;
  do {
    got = ::read(from.get(), &failure, sizeof failure);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof failure)) return std::nullopt;
  return failure;
}

}  // namespace mpiacq::tracing
