// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A command that is too busy to take a signal: whether the signal ends it all the same. wait(2) says how it ended.
#include "commands/signals.hpp"

#include <cerrno>
#include <csignal>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catch.hpp"

using namespace mpiacq::tool;

namespace {

/// Reads a byte from a pipe, however long that takes and whatever signals come.
void wait_for(int descriptor) {
  char byte = 0;
  while (::read(descriptor, &byte, 1) < 0 && errno == EINTR) continue;
}

/// A process that catches signals, and then does `work`.
class busy_process {
 public:
  template <class Work>
  busy_process(when_busy policy, const Work& work) {
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      // The test may run with signals ignored, as in the background of a shell.
      for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(number, SIG_DFL);
      signal_catcher signals{policy};
      if (::write(ready[1], "r", 1) != 1) ::_exit(9);
      ::_exit(work(signals));
    }
    ::close(ready[1]);
    wait_for(ready[0]);
    ::close(ready[0]);
  }
  ~busy_process() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  }
  busy_process(const busy_process&) = delete;
  busy_process& operator=(const busy_process&) = delete;

  void send(int number) const { ::kill(pid_, number); }
  int end() {
    int status = -1;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_ = -1;
};

int never_ends(signal_catcher&) {
  for (;;) static_cast<void>(::getppid());
}

}  // namespace

TEST_CASE("a signal that a busy command does not take ends a command that only observes") {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    busy_process command{when_busy::end, never_ends};
    command.send(number);
    const int status = command.end();
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == number);
  }
}

TEST_CASE("a signal that is taken does not end the command") {
  busy_process command{when_busy::end, [](signal_catcher& signals) {
                         pollfd source{signals.descriptor(), POLLIN, 0};
                         while (::poll(&source, 1, -1) < 0 && errno == EINTR) continue;
                         const auto taken = signals.take();
                         // Longer than a signal waits to be taken.
                         pollfd nothing{signals.descriptor(), POLLIN, 0};
                         if (::poll(&nothing, 1, 1500) != 0) return 8;
                         return taken ? taken->number : 9;
                       }};
  command.send(SIGINT);
  const int status = command.end();
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == SIGINT);
}

TEST_CASE("a signal to a command that controls a job waits until the command takes it") {
  busy_process command{when_busy::keep, [](signal_catcher& signals) {
                         pollfd source{signals.descriptor(), POLLIN, 0};
                         while (::poll(&source, 1, -1) < 0 && errno == EINTR) continue;
                         ::poll(nullptr, 0, 1500);
                         const auto taken = signals.take();
                         return taken ? taken->number : 9;
                       }};
  command.send(SIGTERM);
  const int status = command.end();
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == SIGTERM);
}
