// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// mpiacq-agent: examines the ranks of its node. mpiacq starts it; see docs/agents.md.
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

constexpr int failed = 125;  // the same status as the mpiacq command's

int complain(const mpiacq::error& why) {
  std::fprintf(stderr, "mpiacq-agent: %s\n", mpiacq::base::printable(why.message).c_str());
  return failed;
}

/// Returns a descriptor for the signals that end the agent. SIGPIPE is blocked and ignored.
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
  // The agent exits at once, without destructors: a look that is no longer needed may still run on its thread.
  ::_exit(outcome ? 0 : complain(outcome.error()));
}
