// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A node's ranks: held together, each with its own outcome, and nobody held who is no rank.
#include "node_ranks.hpp"

#include <csignal>

#include "another_user.hpp"
#include "crowd.hpp"
#include "mpiacq/job/job.hpp"
#include "mpiacq/ranks/rank_group.hpp"
#include "patience.hpp"
#include "rank_identity.hpp"
#include "running_starter.hpp"
#include "unstoppable_child.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// A program that waits for orders, with a rank's variable in its environment.
class waiting_rank {
 public:
  explicit waiting_rank(std::string variable = "OMPI_COMM_WORLD_RANK=0", uid_t user = 0) {
    REQUIRE(::pipe2(orders_, O_CLOEXEC) == 0);
    int report[2];
    REQUIRE(::pipe2(report, O_CLOEXEC) == 0);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      ::dup2(orders_[0], 0);
      ::dup2(report[1], 1);
      if (user != 0 && (::setresgid(user, user, user) != 0 || ::setresuid(user, user, user) != 0)) ::_exit(126);
      std::string program = executable();
      char* arguments[] = {program.data(), nullptr};
      char* environment[] = {variable.data(), nullptr};
      ::execve(program.c_str(), arguments, environment);
      ::_exit(127);
    }
    ::close(report[1]);
    ::close(orders_[0]);
    char ready[6];
    REQUIRE(::read(report[0], ready, sizeof ready) == sizeof ready);
    report_ = report[0];  // it says something at its end, too
  }
  ~waiting_rank() {
    if (!ended_) end(SIGKILL);
    ::close(report_);
  }
  waiting_rank(const waiting_rank&) = delete;
  waiting_rank& operator=(const waiting_rank&) = delete;

  static std::string executable() { return program_path("echo"); }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] process_id id() const { return process_id{pid_}; }
  [[nodiscard]] rank_process as(std::uint32_t rank) const { return {entry_index{rank}, id(), executable()}; }
  /// Its exit status; it was waited for then.
  int end(int signal = 0) {
    ended_ = true;
    ::close(orders_[1]);
    if (signal != 0) ::kill(pid_, signal);
    int status = -1;
    ::waitpid(pid_, &status, 0);
    return status;
  }

 private:
  pid_t pid_ = 0;
  int orders_[2] = {-1, -1};
  int report_ = -1;
  bool ended_ = false;
};

std::unique_ptr<node_ranks> ranks_of(std::vector<rank_process> ranks, node_ranks_options options = {}) {
  auto made = node_ranks::create(std::move(ranks), options);
  if (!made) FAIL(made.error().message);
  return std::move(*made);
}

std::vector<hold_state> states(const std::vector<rank_hold>& outcomes) {
  std::vector<hold_state> all;
  for (const rank_hold& outcome : outcomes) all.push_back(outcome.state);
  return all;
}

}  // namespace

TEST_CASE("a rank is the process with the launcher's rank number, or the one that runs the table's program") {
  using namespace std::string_literals;
  const rank_process rank{entry_index{3}, process_id{1}, "/opt/app/solver"};
  const auto doubt = [&](std::string exe, std::optional<std::string> environment, std::string words = {}) {
    return why_not_rank(rank, {std::move(exe), std::move(environment), std::move(words)});
  };
  CHECK_FALSE(doubt("/opt/app/solver", "PATH=/bin\0OMPI_COMM_WORLD_RANK=3\0"s));
  CHECK_FALSE(doubt("/usr/bin/python3", "PMI_RANK=3\0"s));
  CHECK_FALSE(doubt("/opt/app/solver", "HOME=/\0"s));
  CHECK_FALSE(doubt("/scratch/solver", ""s));
  CHECK_FALSE(doubt("/bin/bash", ""s, "bash\0./solver\0-v\0"s));
  CHECK_FALSE(doubt("/bin/bash", std::nullopt));  // it may not be looked at, and will not be traced either
  // A batch script's own number is inherited by all that mpirun starts from it.
  CHECK_FALSE(doubt("/opt/app/solver", "SLURM_PROCID=0\0PMIX_RANK=3\0"s));
  CHECK_THAT(doubt("/opt/app/solver", "OMPI_COMM_WORLD_RANK=30\0"s).value(), ContainsSubstring("RANK=30"));
  CHECK(doubt("/opt/app/solver", "PMIX_RANK=\0"s));
  CHECK_THAT(doubt("/usr/sbin/sshd", "HOME=/\0XPMI_RANK=3\0"s).value(), ContainsSubstring("runs /usr/sbin/sshd"));
  const rank_process unnamed{entry_index{3}, process_id{1}, {}};
  CHECK_FALSE(why_not_rank(unnamed, {"/usr/sbin/sshd", ""s, {}}));
}

TEST_CASE("ranks are held, looked at, let go, and held again") {
  waiting_rank first("OMPI_COMM_WORLD_RANK=4");
  waiting_rank second("SLURM_PROCID=5");
  ::kill(second.pid(), SIGSTOP);
  REQUIRE(comes_to(second.pid(), 'T'));
  const auto before = open_descriptors();
  {
    const auto ranks = ranks_of({first.as(4), second.as(5)});
    for (int round = 0; round < 50; ++round) {
      const auto outcomes = ranks->hold();
      REQUIRE(states(outcomes) == std::vector(2, hold_state::held));
      CHECK(outcomes[1].entry == entry_index{5});
      CHECK(outcomes[1].pid == second.id());
      CHECK_FALSE(outcomes[0].why.has_value());
      CHECK(ranks->held_count() == 2);
      CHECK(all_held(first.pid()));
      CHECK(states(ranks->hold()) == std::vector(2, hold_state::held));
      for (const auto& threads : ranks->registers()) {
        ok(threads);
        CHECK(threads->size() == 1);
      }
      all_ok(ranks->release());
      CHECK(none_held(first.pid()));
      CHECK(comes_to(second.pid(), 'T'));
      CHECK(ranks->registers()[0].error().code == error_code::invalid_argument);
    }
    CHECK(states(ranks->hold()) == std::vector(2, hold_state::held));
  }
  CHECK(open_descriptors() == before);
  CHECK(none_held(first.pid()));
  CHECK(none_held(second.pid()));
  ::kill(second.pid(), SIGCONT);
  CHECK(WEXITSTATUS(first.end()) == 7);
  CHECK(WEXITSTATUS(second.end()) == 7);
}

TEST_CASE("every rank that cannot be held says why, and is left alone") {
  waiting_rank held("PMI_RANK=0");
  waiting_rank another("PMI_RANK=7");
  waiting_rank ends("PMI_RANK=2");
  waiting_rank ended("PMI_RANK=3");
  waiting_rank traced("PMI_RANK=4");
  const auto other = new_tracer();
  ok(other->attach(traced.id()));
  const pid_t past = ended.pid();
  ended.end();
  const auto ranks = ranks_of({held.as(0),
                               another.as(1),
                               ends.as(2),
                               {entry_index{3}, process_id{past}, {}},
                               traced.as(4),
                               {entry_index{5}, process_id{}, {}}});
  ends.end();
  const auto before = sleeps_of(another.id());
  const auto outcomes = ranks->hold();
  CHECK(states(outcomes) == std::vector{hold_state::held, hold_state::replaced, hold_state::gone, hold_state::gone,
                                        hold_state::busy, hold_state::gone});
  CHECK_THAT(outcomes[1].why->message, ContainsSubstring("PMI_RANK=7"));
  CHECK(sleeps_of(another.id()) == before);
  CHECK_THAT(outcomes[4].why->message, ContainsSubstring("this program traces it already"));
  CHECK(ranks->held_count() == 1);
  // Who has ended while it was held is gone, and releasing it is no failure.
  held.end(SIGKILL);
  const auto released = ranks->release();
  REQUIRE(released.size() == 6);
  all_ok(released);
  CHECK(ranks->hold()[0].state == hold_state::gone);
  // Whoever had another tracer is held when that has gone.
  ok(other->detach(traced.id()));
  CHECK(ranks->hold()[4].state == hold_state::held);
}

TEST_CASE("a rank whose number has gone to another process is gone, and that one is left alone") {
  waiting_rank first;
  const auto ranks = ranks_of({first.as(0)});
  first.end();
  std::unique_ptr<waiting_rank> second;
  for (int tries = 0; tries < 20 && (!second || second->pid() != first.pid()); ++tries) {
    second.reset();
    if (!wish_for_number(first.pid())) MPIACQ_SKIP("needs the right to choose the next process number (root)");
    second = std::make_unique<waiting_rank>();
  }
  if (second->pid() != first.pid()) MPIACQ_SKIP("other processes of this machine took the number before");
  const auto before = sleeps_of(second->id());
  CHECK(ranks->hold()[0].state == hold_state::gone);
  CHECK(sleeps_of(second->id()) == before);
  CHECK(WEXITSTATUS(second->end()) == 7);
}

TEST_CASE("ranks of another user are not permitted, and one's own are held") {
  MPIACQ_NEEDS_ANOTHER_USER();
  waiting_rank own("PMI_RANK=0", somebody);
  waiting_rank foreign("PMI_RANK=1");
  int told[2];
  REQUIRE(::pipe2(told, O_CLOEXEC) == 0);
  const pid_t tool = ::fork();
  if (tool == 0) {
    if (::setresgid(somebody, somebody, somebody) != 0 || ::setresuid(somebody, somebody, somebody) != 0) ::_exit(126);
    auto ranks = node_ranks::create({own.as(0), foreign.as(1)});
    if (!ranks) ::_exit(1);
    const auto outcomes = (*ranks)->hold();
    const bool named = outcomes[1].why && outcomes[1].why->message.find("belongs to user 0") != std::string::npos;
    const hold_state both[] = {outcomes[0].state, outcomes[1].state};
    bool said = ::write(told[1], both, sizeof both) == sizeof both && named;
    ranks = fail(error_code::limit, "");
    ::_exit(said ? 0 : 2);
  }
  ::close(told[1]);
  hold_state both[2] = {};
  CHECK(::read(told[0], both, sizeof both) == sizeof both);
  ::close(told[0]);
  CHECK(both[0] == hold_state::held);
  CHECK(both[1] == hold_state::not_permitted);
  int status = -1;
  REQUIRE(::waitpid(tool, &status, 0) == tool);
  CHECK(status == 0);
  CHECK(none_held(own.pid()));
}

TEST_CASE("1000 ranks are held and let go of, again and again") {
  crowd all(1000);
  auto ranks = node_ranks::of_processes(all.ids());
  if (!ranks) FAIL(ranks.error().message);
  for (int round = 0; round < 5; ++round) {
    const auto outcomes = (*ranks)->hold();
    CHECK(states(outcomes) == std::vector(1000, hold_state::held));
    CHECK(all_of_them_held(all.ids()));
    all_ok((*ranks)->release());
    CHECK(none_of_them_held(all.ids()));
  }
  CHECK(all.end_well() == 1000);
  CHECK(states((*ranks)->hold()) == std::vector(1000, hold_state::gone));
}

TEST_CASE("a rank with a thread that the kernel keeps is held but for that, and says so") {
  bystander stuck("long_vfork");
  stuck.ready();
  crowd others(3);
  auto ids = others.ids();
  ids.push_back(stuck.id());
  node_ranks_options options;
  options.tracing.stop_limit = 50ms;
  auto ranks = node_ranks::of_processes(ids, options);
  if (!ranks) FAIL(ranks.error().message);
  const auto outcomes = (*ranks)->hold();
  CHECK(states(outcomes) == std::vector(4, hold_state::held));
  REQUIRE(outcomes[3].why.has_value());
  CHECK(outcomes[3].why->code == error_code::timed_out);
  CHECK_THAT(outcomes[3].why->message, ContainsSubstring("thread " + std::to_string(stuck.pid())));
  CHECK((*ranks)->registers()[3]->size() == 1);
  CHECK((*ranks)->release()[3].error().code == error_code::timed_out);
  stuck.pipes().order('g');
  CHECK(stuck.end().value == 16);
  CHECK(others.end_well() == 3);
}

TEST_CASE("the selected ranks of a job's table are held beside its starter") {
  running_starter starter({"checked", "--ranks", "5", "--hold", "--exit", "3"});
  starter.ready();
  auto subject = job::attach(starter.id());
  if (!subject) FAIL(subject.error().message);
  REQUIRE((*subject)->next(clock::now() + patience)->has_value());
  const auto table = (*subject)->processes();
  REQUIRE(table != nullptr);
  auto ranks = node_ranks::create(*table, *rank_selection::parse("0,2-3,77"));
  if (!ranks) FAIL(ranks.error().message);
  REQUIRE((*ranks)->ranks().size() == 3);
  CHECK((*ranks)->ranks()[1].entry == entry_index{2});
  CHECK((*ranks)->ranks()[1].pid.value() == starter.ranks()[2]);
  for (const rank_hold& outcome : (*ranks)->hold()) {
    if (outcome.state != hold_state::held) FAIL(outcome.why->message);
  }
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK((i == 1 || i == 4 ? none_held(starter.ranks()[i]) : all_held(starter.ranks()[i])));
  }
  all_ok((*ranks)->release());
  REQUIRE((*subject)->detach().has_value());
  CHECK(WEXITSTATUS(starter.end()) == 3);
}

TEST_CASE("a rank that a SIGSTOP is about to stop is left alone if stopped ranks are to be left alone") {
  unstoppable_child child;
  REQUIRE(child.is_ready());
  REQUIRE(::kill(child.pid(), SIGSTOP) == 0);
  const std::vector<process_id> one = {child.id()};
  auto group = rank_group::of_processes(one);
  REQUIRE(group);
  stack_options how;
  how.leave_stopped = true;
  const group_stacks seen = group->stacks(how);
  CHECK(seen.stopped.text() == "0");
  REQUIRE(seen.refused.size() == 1);
  CHECK(seen.refused.front().why.code == error_code::busy);
  // It has had no tracer: the signal is still on its way, and stops it.
  CHECK(status_of(child.pid(), "TracerPid") == "0");
  child.go_on();
  int status = 0;
  REQUIRE(::waitpid(child.pid(), &status, WUNTRACED) == child.pid());
  CHECK(WIFSTOPPED(status));
  CHECK(group->stacks(how).stopped.text() == "0");
}
