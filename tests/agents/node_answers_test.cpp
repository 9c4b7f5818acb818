// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// An agent follows the ranks of its node to their ends, and lets go when its front end has been silent for too long.
#include "node/node_answers.hpp"

#include <chrono>
#include <csignal>

#include <sys/types.h>

#include "catch.hpp"
#include "live_process.hpp"
#include "patience.hpp"
#include "run_command.hpp"
#include "running_starter.hpp"

using namespace mpiacq;
using namespace mpiacq::agents;

namespace {

/// Two ranks on one node that wait in a call for ever, and an agent's answers for them at a time that the test sets.
class followed_node {
 public:
  followed_node() {
    for (const char* rank : {"0", "1"}) {
      processes_.emplace_back(std::make_unique<test::live_process>(
          std::vector<std::string>{MPIACQ_QUEUE_RANKS "/queue_rank", rank, "2",
                                   "library:" MPIACQ_QUEUE_LIBRARIES "/libqueue_perfect.so", "in:MPI_Recv"}));
      (void)processes_.back()->lines_until_ready();
    }
    answers_ = node_answers({rank(0), rank(1)}, {}, [this] { return now; });
  }

  template <class Part>
  Part ask(const question& what) const {
    return std::get<Part>(answers_.answer(what, {}));
  }
  [[nodiscard]] deadline serve() const { return answers_.serve(); }
  [[nodiscard]] pid_t pid(std::size_t rank) const { return static_cast<pid_t>(processes_[rank]->pid().value()); }
  [[nodiscard]] bool is_traced(std::size_t rank) const {
    return test::status_of(pid(rank), "TracerPid").find_first_not_of("0 \t") != std::string::npos;
  }
  /// 't': stopped by its tracer.
  [[nodiscard]] char state(std::size_t rank) const {
    const std::string state = test::status_of(pid(rank), "State");
    return state.empty() ? ' ' : state.front();
  }
  /// Whether the agent, which is served meanwhile, comes to hold the rank.
  [[nodiscard]] bool comes_to_hold(std::size_t rank) const {
    return test::comes_true([&] {
      CHECK(serve() > now);
      return state(rank) == 't';
    });
  }
  /// The signal that has ended a rank, as its parent learns it.
  [[nodiscard]] int signal_at_end(std::size_t rank) {
    const int status = processes_[rank]->end();
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

  deadline now = clock::now();

 private:
  [[nodiscard]] rank_process rank(std::size_t number) const {
    return {entry_index{number}, processes_[number]->pid(), ""};
  }

  std::vector<std::unique_ptr<test::live_process>> processes_;
  answerer answers_;
};

}  // namespace

TEST_CASE("node answers: without followed ranks there is nothing to serve") {
  const followed_node node;
  CHECK(node.serve() == no_deadline);
  CHECK(node.ask<hold_part>(ask_hold{}).held.text() == "0-1");
  CHECK(node.serve() == no_deadline);
}

TEST_CASE(
    "node answers: a rank that fails between two questions holds all ranks of its node, and is in the next answer") {
  followed_node node;
  REQUIRE(node.ask<hold_part>(ask_follow{true}).held.text() == "0-1");
  REQUIRE(node.is_traced(0));
  REQUIRE(node.is_traced(1));
  CHECK(node.state(0) != 't');
  REQUIRE(::kill(node.pid(1), SIGSEGV) == 0);
  // No question comes meanwhile.
  CHECK(node.comes_to_hold(0));
  const auto ends = node.ask<group_ends>(ask_ends{});
  REQUIRE(ends.failed.size() == 1);
  CHECK(ends.failed[0].entry == entry_index{1});
  CHECK(ends.failed[0].status == exit_status{true, SIGSEGV, false});
  CHECK(ends.failed[0].sender == process_id{::getpid()});
  CHECK(ends.stacks.taken.text() == "1");
  CHECK(ends.followed.text() == "0-1");
  // What was told is not told again.
  CHECK(node.ask<group_ends>(ask_ends{}).failed.empty());
  CHECK(node.ask<hold_part>(ask_follow{false}).held.text() == "0-1");
  CHECK(node.signal_at_end(1) == SIGSEGV);
  CHECK(test::comes_true([&] { return !node.is_traced(0) && node.state(0) != 't'; }));
  CHECK(node.serve() == no_deadline);
}

TEST_CASE("node answers: ranks that a signal has stopped are continued when they are followed, if that is asked for") {
  followed_node node;
  REQUIRE(::kill(node.pid(1), SIGSTOP) == 0);
  REQUIRE(test::comes_true([&] { return node.state(1) == 'T'; }));
  REQUIRE(node.ask<hold_part>(ask_follow{true}).held.text() == "0-1");
  REQUIRE(node.is_traced(1));
  // A stopped rank takes no other signal: it would end now if it ran.
  REQUIRE(::kill(node.pid(1), SIGTERM) == 0);
  CHECK(node.ask<group_stacks>(ask_stacks{}).taken.text() == "0-1");
  CHECK(node.ask<group_ends>(ask_ends{}).failed.empty());
  CHECK(node.ask<hold_part>(ask_follow{false}).held.text() == "0-1");
  CHECK(test::comes_true([&] { return !node.is_traced(1) && node.state(1) == 'T'; }));

  CHECK(node.ask<hold_part>(ask_follow{true, {.continue_stopped = true}}).held.text() == "0-1");
  CHECK(node.comes_to_hold(0));
  const auto ends = node.ask<group_ends>(ask_ends{});
  REQUIRE(ends.failed.size() == 1);
  CHECK(ends.failed[0].entry == entry_index{1});
  CHECK(ends.failed[0].status == exit_status{true, SIGTERM, false});
  CHECK(node.ask<hold_part>(ask_follow{false}).held.text() == "0-1");
  CHECK(node.signal_at_end(1) == SIGTERM);
}

TEST_CASE("node answers: a front end that is silent for the hold limit holds no rank any more") {
  followed_node node;
  REQUIRE(node.ask<hold_part>(ask_follow{true}).held.text() == "0-1");
  REQUIRE(::kill(node.pid(1), SIGSEGV) == 0);
  CHECK(node.comes_to_hold(0));
  node.now += default_hold_limit - std::chrono::milliseconds(1);
  CHECK(node.serve() > node.now);
  CHECK(node.state(0) == 't');
  CHECK(node.is_traced(1));
  // A question begins the time anew.
  CHECK(node.ask<group_ends>(ask_ends{}).failed.size() == 1);
  node.now += default_hold_limit - std::chrono::milliseconds(1);
  CHECK(node.serve() > node.now);
  CHECK(node.state(0) == 't');
  node.now += std::chrono::milliseconds(1);
  CHECK(node.serve() == no_deadline);
  CHECK(test::comes_true([&] { return !node.is_traced(0) && node.state(0) != 't'; }));
  CHECK(node.signal_at_end(1) == SIGSEGV);
}
