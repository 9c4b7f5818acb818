// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// mpiacq-agent: looks after the ranks of the node that it is started on. mpiacq starts it; docs/agents.md says how.
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include <sys/signalfd.h>
#include <unistd.h>

#include "embedded_programs.hpp"
#include "helper/standard_streams.hpp"
#include "mpiacq/job/job.hpp"
#include "mpiacq/ranks/agent.hpp"
#include "text/printable.hpp"

namespace {

constexpr int failed = 125;  // as mpiacq's own

int complain(const mpiacq::error& why) {
  std::fprintf(stderr, "mpiacq-agent: %s\n", mpiacq::base::printable(why.message).c_str());
  return failed;
}

/// Signals that end a program end the agent in order; those of the terminal and of pipes are not for it.
int ending_signals() {
  sigset_t ending;
  ::sigemptyset(&ending);
  for (const int one : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE}) ::sigaddset(&ending, one);
  ::sigprocmask(SIG_BLOCK, &ending, nullptr);
  ::sigdelset(&ending, SIGPIPE);
  return ::signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK);
}

}  // namespace

int main(int argc, char** argv) {
  if (!mpiacq::base::open_missing_streams()) return failed;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments == std::vector<std::string>{"--version"}) {
    std::puts(std::string(mpiacq::version()).c_str());
    return 0;
  }
  auto order = mpiacq::parse_agent_order(arguments);
  if (!order) return complain(order.error());
  const int stop = ending_signals();
  const auto outcome = mpiacq::run_agent(*order, mpiacq::agent_program::unpack_programs(), stop);
  // At once: a look at ranks that nobody waits for any more may still be under way on its own thread.
  ::_exit(outcome ? 0 : complain(outcome.error()));
}
