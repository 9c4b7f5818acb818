// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The library follows ranks to their ends: it finds the ranks that have failed, holds all ranks, and lets them end.
// These tests believe what the programs have said of themselves, and what the kernel has told their parents.
#include <csignal>
#include <filesystem>

#include <poll.h>

#include "ending_program.hpp"
#include "mpiacq/ranks/rank_group.hpp"
#include "patience.hpp"
#include "run_command.hpp"
#include "running_starter.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using namespace std::chrono_literals;

namespace {

/// Two programs: entry 0 ends in this way when the test tells it to, and entry 1 stays.
class two_ranks {
 public:
  explicit two_ranks(const char* way) : first("ways_to_end", {way}), second("ways_to_end", {"exit"}) {
    first.ready();
    second.ready();
    const std::vector<process_id> both = {first.id(), second.id()};
    auto made = rank_group::of_processes(both);
    REQUIRE(made);
    group.emplace(std::move(*made));
  }

  void follow() {
    for (const rank_hold& one : group->follow_ends()) {
      INFO((one.why ? one.why->message : std::string()));
      CHECK(one.state == hold_state::held);
    }
  }
  /// Tells the first one to end. Returns the thread that ends it.
  thread_id end_first() {
    first.pipes().order('g');
    return told_thread(first);
  }
  /// Waits until a rank has failed or ended.
  group_ends next_ends() {
    for (const deadline until = mpiacq::clock::now() + 30s; mpiacq::clock::now() < until;) {
      pollfd one{group->ends_descriptor(), POLLIN, 0};
      REQUIRE(::poll(&one, 1, 30'000) == 1);
      group_ends seen = group->ends();
      if (!seen.failed.empty() || !seen.ended.empty()) return seen;
    }
    FAIL("no rank has ended");
    return {};
  }

  bystander first, second;
  std::optional<rank_group> group;
};

bool is_traced_stop(pid_t pid) {
  return process_state(pid) == 't';
}

}  // namespace

TEST_CASE("follow ends: a rank that fails is held at its end, and so is the other one, until they are released") {
  two_ranks ranks("exit");
  ranks.follow();
  CHECK_FALSE(is_traced_stop(ranks.second.pid()));
  const thread_id by = ranks.end_first();
  const group_ends seen = ranks.next_ends();
  REQUIRE(seen.failed.size() == 1);
  const rank_end& end = seen.failed.front();
  CHECK(end.entry == entry_index{0});
  CHECK(end.pid == ranks.first.id());
  CHECK(end.status == exited(8));
  CHECK(end.thread == by);
  CHECK(end.registers.has_value());
  CHECK(seen.stacks.taken.text() == "0");
  CHECK(seen.followed.text() == "0-1");
  CHECK(is_traced_stop(ranks.first.pid()));
  CHECK(is_traced_stop(ranks.second.pid()));
  check_memory(ranks.first.id());

  const group_stacks all = ranks.group->stacks();
  CHECK(all.taken.text() == "0-1");
  for (const auto& released : ranks.group->release()) CHECK(released.has_value());
  CHECK(ranks.first.end() == exited(8));
  CHECK(comes_true([&] { return !is_traced_stop(ranks.second.pid()); }));

  // The other one is followed further.
  ranks.second.pipes().order('g');
  const group_ends more = ranks.next_ends();
  REQUIRE(more.failed.size() == 1);
  CHECK(more.failed.front().entry == entry_index{1});
  ranks.group->unfollow_ends();
  CHECK(ranks.second.end() == exited(8));
}

TEST_CASE("follow ends: a rank that a signal has stopped stays stopped, unless it is to be continued") {
  two_ranks ranks("exit");
  REQUIRE(::kill(ranks.first.pid(), SIGSTOP) == 0);
  REQUIRE(comes_true([&] { return process_state(ranks.first.pid()) == 'T'; }));
  ranks.follow();
  ranks.first.pipes().order('g');
  CHECK(ranks.group->stacks().taken.text() == "0-1");
  CHECK(ranks.group->ends().failed.empty());
  // While it is followed, the kernel shows its stop as the tracer's.
  stack_options alone;
  alone.leave_stopped = true;
  CHECK(ranks.group->stacks(alone).stopped.text() == "0");
  ranks.group->unfollow_ends();
  CHECK(comes_true([&] { return process_state(ranks.first.pid()) == 'T'; }));

  for (const rank_hold& one : ranks.group->follow_ends({.continue_stopped = true}))
    CHECK(one.state == hold_state::held);
  const group_ends seen = ranks.next_ends();
  REQUIRE(seen.failed.size() == 1);
  CHECK(seen.failed.front().entry == entry_index{0});
  ranks.group->unfollow_ends();
  CHECK(ranks.first.end() == exited(8));
}

TEST_CASE("follow ends: a fault is reported with its signal and address, and a core file has the thread that made it") {
  two_ranks ranks("thread_fault");
  ranks.follow();
  const thread_id by = ranks.end_first();
  const group_ends seen = ranks.next_ends();
  REQUIRE(seen.failed.size() == 1);
  const rank_end& end = seen.failed.front();
  CHECK(end.status == signaled(SIGSEGV));
  CHECK(end.is_own_signal());
  CHECK(end.fault == target_address{0x10});
  CHECK(end.thread == by);

  const scratch_folder folder;
  rank_core_options how;
  how.ranks = rank_selection::parse("0").value();
  how.folder = folder.path("cores");
  const rank_cores cores = ranks.group->write_cores(how);
  REQUIRE(cores.written.size() == 1);
  CHECK(cores.refused.empty());
  CHECK(std::filesystem::file_size(cores.written.front().path) == cores.written.front().bytes);
  if (const auto notes = run_command({"eu-readelf", "-n", cores.written.front().path}); notes.exit_code == 0) {
    const auto count = [&](const std::string& word) {
      std::size_t found = 0;
      for (auto at = notes.out.find(word); at != std::string::npos; at = notes.out.find(word, at + 1)) ++found;
      return found;
    };
    CHECK(count(" PRSTATUS") == 2);  // a note for each thread
    CHECK(count(" FPREGSET") == 2);
  }
  // A second file of this name is not written over the first.
  const rank_cores again = ranks.group->write_cores(how);
  REQUIRE(again.refused.size() == 1);
  CHECK(again.refused.front().why.system_errno == EEXIST);
  ranks.group->unfollow_ends();
  CHECK(ranks.first.end() == signaled(SIGSEGV));
}

TEST_CASE("follow ends: a rank that ends with 0 has not failed, and no other rank is held") {
  two_ranks ranks("quick");
  ranks.follow();
  (void)ranks.end_first();
  const group_ends seen = ranks.next_ends();
  CHECK(seen.failed.empty());
  CHECK(seen.ended.text() == "0");
  CHECK(seen.followed.text() == "1");
  CHECK(ranks.first.end() == exited(0));
  CHECK_FALSE(is_traced_stop(ranks.second.pid()));
}

TEST_CASE("follow ends: an end that a look has met makes the descriptor readable, and the next question reports it") {
  for (int round = 0; round < 10; ++round) {
    two_ranks ranks("exit");
    ranks.follow();
    (void)ranks.end_first();
    for (int look = 0; look < 20; ++look) (void)ranks.group->stacks();
    const group_ends seen = ranks.next_ends();
    REQUIRE(seen.failed.size() == 1);
    CHECK(seen.failed.front().status == exited(8));
    ranks.group->unfollow_ends();
    CHECK(ranks.first.end() == exited(8));
    CHECK(comes_true([&] { return runs_freely(ranks.second.pid()); }));
  }
}

TEST_CASE("follow ends: a rank that is killed while it is held has failed, and is held further") {
  two_ranks ranks("exit");
  ranks.follow();
  (void)ranks.end_first();
  REQUIRE(ranks.next_ends().failed.size() == 1);
  REQUIRE(::kill(ranks.second.pid(), SIGKILL) == 0);
  const group_ends seen = ranks.next_ends();
  REQUIRE(seen.failed.size() == 1);
  CHECK(seen.failed.front().entry == entry_index{1});
  CHECK(seen.failed.front().status == signaled(SIGKILL));
  CHECK_FALSE(seen.failed.front().is_own_signal());
  CHECK(seen.failed.front().registers.has_value());
  CHECK(seen.stacks.taken.text() == "1");
  CHECK(seen.followed.text() == "0-1");
  CHECK(is_traced_stop(ranks.first.pid()));
  CHECK(is_traced_stop(ranks.second.pid()));
  CHECK(ranks.group->stacks().taken.text() == "0-1");
  CHECK(ranks.group->ends().failed.empty());
  for (const auto& released : ranks.group->release()) CHECK(released.has_value());
  CHECK(ranks.first.end() == exited(8));
  CHECK(ranks.second.end() == signaled(SIGKILL));
  CHECK(ranks.group->ends().failed.empty());
}

TEST_CASE("follow ends: a rank that is killed just before its release has failed, and has ended or is released next") {
  two_ranks ranks("exit");
  ranks.follow();
  (void)ranks.end_first();
  REQUIRE(ranks.next_ends().failed.size() == 1);
  REQUIRE(::kill(ranks.second.pid(), SIGKILL) == 0);
  (void)ranks.group->release();
  const group_ends seen = ranks.next_ends();
  REQUIRE(seen.failed.size() == 1);
  CHECK(seen.failed.front().entry == entry_index{1});
  CHECK(seen.failed.front().status == signaled(SIGKILL));
  CHECK_FALSE(seen.failed.front().is_own_signal());
  if (is_traced_stop(ranks.second.pid())) {
    for (const auto& released : ranks.group->release()) CHECK(released.has_value());
  }
  CHECK(ranks.first.end() == exited(8));
  CHECK(ranks.second.end() == signaled(SIGKILL));
}

TEST_CASE("follow ends: the end of the group lets ranks end as they would have, and run on") {
  two_ranks ranks("exit");
  ranks.follow();
  (void)ranks.end_first();
  REQUIRE(ranks.next_ends().failed.size() == 1);
  ranks.group.reset();
  CHECK(ranks.first.end() == exited(8));
  CHECK(comes_true([&] { return runs_freely(ranks.second.pid()); }));
}

TEST_CASE("follow ends: core files of ranks that are not held, and in a folder that cannot be made, are refused") {
  two_ranks ranks("exit");
  rank_core_options how;
  const scratch_folder folder;
  how.folder = folder.path("cores");
  const rank_cores not_held = ranks.group->write_cores(how);
  CHECK(not_held.written.empty());
  REQUIRE(not_held.refused.size() == 2);
  CHECK(not_held.refused.front().why.code == error_code::invalid_argument);
  how.folder = "/proc/no_such_folder";
  const rank_cores no_folder = ranks.group->write_cores(how);
  REQUIRE(!no_folder.refused.empty());
  CHECK_THAT(no_folder.refused.front().why.message, ContainsSubstring("making the folder /proc/no_such_folder"));
}
