// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The floor of holding processes: the ptrace calls alone, each thread by its number, nothing checked but that it went.
#pragma once

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <sys/ptrace.h>
#include <sys/wait.h>

namespace mpiacq::bench {

/// As the library sets them: what a thread that is made meanwhile does must be seen.
inline constexpr unsigned long bare_options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;

inline void must_be(bool done, const char* what) {
  if (done) return;
  std::fprintf(stderr, "%s failed\n", what);
  std::exit(1);
}

inline void bare_hold(const std::vector<pid_t>& tasks) {
  // A signal for each stop costs time, and nobody here waits for one.
  struct sigaction without_stops {};
  without_stops.sa_handler = SIG_DFL;
  without_stops.sa_flags = SA_NOCLDSTOP;
  must_be(::sigaction(SIGCHLD, &without_stops, nullptr) == 0, "sigaction");
  for (const pid_t task : tasks) must_be(::ptrace(PTRACE_SEIZE, task, 0, bare_options) == 0, "PTRACE_SEIZE");
  for (const pid_t task : tasks) must_be(::ptrace(PTRACE_INTERRUPT, task, 0, 0) == 0, "PTRACE_INTERRUPT");
  int status = 0;
  for (const pid_t task : tasks) must_be(::waitpid(task, &status, __WALL) == task, "waitpid");
}

inline void bare_release(const std::vector<pid_t>& tasks) {
  for (const pid_t task : tasks) must_be(::ptrace(PTRACE_DETACH, task, 0, 0) == 0, "PTRACE_DETACH");
}

}  // namespace mpiacq::bench
