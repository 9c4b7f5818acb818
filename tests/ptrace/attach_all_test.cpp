// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Taking hold of many processes at once: every one has its own outcome, and none is harmed by another's.
#include <csignal>
#include <fstream>
#include <optional>
#include <random>
#include <thread>

#include <sys/resource.h>
#include <unistd.h>

#include "another_user.hpp"
#include "crowd.hpp"
#include "separate_tool.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// The one process that traces for this program.
pid_t tracer_client() {
  return tracing_process_of(::getpid());
}

/// How many system calls of a process have read a file, where the kernel counts them.
std::optional<long> reads_of(pid_t process) {
  std::ifstream io("/proc/" + std::to_string(process) + "/io");
  std::string name;
  for (long value = 0; io >> name >> value;) {
    if (name == "syscr:") return value;
  }
  return std::nullopt;
}

/// How often a process has gone to sleep to wait for something.
long waits_of(pid_t process) {
  return std::stol(status_line(process_id{process}, "voluntary_ctxt_switches"));
}

}  // namespace

TEST_CASE("1000 processes are held at once, let go and held again, and then end as they would have") {
  const auto t = new_tracer();
  crowd all(1000);
  const auto targets = all.targets();
  const auto ours = open_descriptors();
  for (int round = 0; round < 3; ++round) {
    const auto outcomes = t->attach_all(targets);
    REQUIRE(outcomes.size() == targets.size());
    all_ok(outcomes);
    CHECK(all_of_them_held(all.ids()));
    if (round == 1) {
      for (const process_id id : all.ids()) ok(t->resume(id));
    }
    all_ok(t->detach_all(all.ids()));
    CHECK(none_of_them_held(all.ids()));
    CHECK_FALSE(t->wait(clock::now())->has_value());
  }
  CHECK(open_descriptors() == ours);
  CHECK(all.end_well() == 1000);
}

TEST_CASE("processes that are known are held and let go without a file read or a wait for each") {
  const auto t = new_tracer();
  constexpr int count = 500;
  constexpr int rounds = 4;
  crowd all(count);
  const auto targets = all.targets();
  all_ok(t->attach_all(targets));
  all_ok(t->detach_all(all.ids()));
  const pid_t ours = tracer_client();
  const auto reads = reads_of(ours);
  if (!reads) MPIACQ_SKIP("needs a kernel that counts reads (/proc/PID/io)");
  const long waits = waits_of(ours);
  for (int round = 0; round < rounds; ++round) {
    all_ok(t->attach_all(targets));
    all_ok(t->detach_all(all.ids()));
  }
  // Each command is waited for; and where the cores are busy, some that have not stopped yet.
  CHECK(*reads_of(ours) - *reads < rounds * count / 10);
  CHECK(waits_of(ours) - waits < rounds * count / 10);
  CHECK(all.end_well() == count);
}

TEST_CASE("a leader that another thread replaces by an exec in the middle of attach_all does not count as held") {
  const auto t = new_tracer();
  crowd steady(50);
  for (int round = 0; round < 10; ++round) {
    bystander storm("exec_storm", {"60"});
    std::vector<attach_target> targets = steady.targets();
    targets.insert(targets.begin() + 25, {storm.id(), {}});
    while (true) {
      const auto outcomes = t->attach_all(targets);
      auto held = steady.ids();
      if (outcomes[25]) {
        CHECK(all_of_them_held({storm.id()}));
        held.push_back(storm.id());
      }
      CHECK(all_of_them_held(steady.ids()));
      static_cast<void>(t->detach_all(held));
      if (!outcomes[25]) break;
    }
    CHECK(storm.end() == exit_status{false, 21, false});
  }
  CHECK(steady.end_well() == 50);
}

TEST_CASE("attach_all holds all threads of many processes, also threads that start and end meanwhile") {
  const auto t = new_tracer();
  crowd all(30, 8);
  bystander restless("restless", {"8"});
  restless.ready();
  auto targets = all.targets();
  targets.insert(targets.begin() + 10, {restless.id(), {}});
  auto ids = all.ids();
  ids.push_back(restless.id());
  for (int round = 0; round < 20; ++round) {
    all_ok(t->attach_all(targets));
    CHECK(all_of_them_held(ids));
    for (const process_id id : all.ids()) CHECK(t->threads(id)->size() == 8);
    all_ok(t->detach_all(ids));
    CHECK(none_of_them_held(ids));
  }
  restless.pipes().order('m');
  CHECK(restless.end().value == 15);
  CHECK(all.end_well() == 30);
}

TEST_CASE("each process has its own outcome, in the order given") {
  const auto t = new_tracer();
  const auto other = new_tracer();
  crowd all(4);
  ok(other->attach(all.ids()[2]));
  ::kill(number_of(all.ids()[3]), SIGSTOP);
  REQUIRE(comes_to(number_of(all.ids()[3]), 'T'));
  const pid_t zombie = ::fork();
  if (zombie == 0) ::_exit(0);
  REQUIRE(comes_to(zombie, 'Z'));
  const auto before = sleeps_of(all.ids()[1]);
  const auto outcomes = t->attach_all(std::vector<attach_target>{{all.ids()[0], start_time_of(all.ids()[0])},
                                                                 {process_id{::getpid()}, {}},
                                                                 {all.ids()[1], start_time_of(all.ids()[1]) + 1},
                                                                 {process_id{4194304}, {}},
                                                                 {all.ids()[2], {}},
                                                                 {all.ids()[3], start_time_of(all.ids()[3])},
                                                                 {process_id{zombie}, {}},
                                                                 {all.ids()[0], {}}});
  REQUIRE(outcomes.size() == 8);
  ok(outcomes[0]);
  CHECK(outcomes[1].error().code == error_code::invalid_argument);
  CHECK(outcomes[2].error().code == error_code::process_gone);
  CHECK_THAT(outcomes[2].error().message, ContainsSubstring("another one's now (crowd)"));
  CHECK(outcomes[3].error().code == error_code::not_found);
  CHECK(outcomes[4].error().code == error_code::busy);
  ok(outcomes[5]);
  CHECK(outcomes[6].error().code == error_code::process_gone);
  CHECK(outcomes[7].error().code == error_code::busy);
  CHECK(all_held(number_of(all.ids()[0])));
  // The one that was not meant has not even been woken.
  CHECK(none_held(number_of(all.ids()[1])));
  CHECK(sleeps_of(all.ids()[1]) == before);
  CHECK(next<group_stopped>(*t).signal == SIGSTOP);
  const auto released = t->detach_all(std::vector{all.ids()[0], process_id{4194304}, all.ids()[3]});
  REQUIRE(released.size() == 3);
  ok(released[0]);
  CHECK(released[1].error().code == error_code::process_gone);
  ok(released[2]);
  CHECK(none_held(number_of(all.ids()[0])));
  CHECK(comes_to(number_of(all.ids()[3]), 'T'));
  ok(other->detach(all.ids()[2]));
  ::kill(number_of(all.ids()[3]), SIGCONT);
  REQUIRE(::waitpid(zombie, nullptr, 0) == zombie);
  CHECK(all.end_well() == 4);
  CHECK(t->attach_all({}).empty());
}

TEST_CASE("a process that has got the number of a known process is left alone") {
  const auto t = new_tracer();
  auto program = std::make_unique<bystander>("echo");
  program->ready();
  const std::vector<attach_target> first = {{program->id(), start_time_of(program->id())}};
  all_ok(t->attach_all(first));
  ok(t->detach(program->id()));
  program->pipes().no_more_orders();
  CHECK(program->end().value == 7);
  program.reset();
  const auto gone = t->attach_all(first);
  CHECK(gone.front().error().code == error_code::not_found);
  // Its keeper gets the number before; start times are told apart by 10 ms, so it is another one by then.
  std::this_thread::sleep_for(20ms);
  const pid_t number = number_of(first.front().process);
  for (int tries = 0; tries < 20 && (!program || program->pid() != number); ++tries) {
    program.reset();
    if (!wish_for_number(number - 1)) MPIACQ_SKIP("needs the right to choose the next process number (root)");
    program = std::make_unique<bystander>("echo");
    program->ready();
  }
  if (program->pid() != number) MPIACQ_SKIP("other processes of this machine took the number before");
  const auto before = sleeps_of(program->id());
  const auto other = t->attach_all(first);
  CHECK(other.front().error().code == error_code::process_gone);
  CHECK(none_held(number));
  CHECK(sleeps_of(program->id()) == before);
  all_ok(t->attach_all(std::vector<attach_target>{{program->id(), start_time_of(program->id())}}));
  CHECK(all_held(number));
}

TEST_CASE("a program that is launched beside many that are held has the limits of the tool") {
  const auto t = new_tracer();
  crowd all(3);
  all_ok(t->attach_all(all.targets()));
  inferior program("echo");
  const process_id id = at_entry(*t, program);
  rlimit theirs{};
  rlimit ours{};
  REQUIRE(::prlimit(number_of(id), RLIMIT_NOFILE, nullptr, &theirs) == 0);
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &ours) == 0);
  CHECK(theirs.rlim_cur == ours.rlim_cur);
  CHECK(theirs.rlim_max == ours.rlim_max);
  program.no_more_orders();
  CHECK(run_to_end(*t, id).value == 7);
  all_ok(t->detach_all(all.ids()));
  CHECK(all.end_well() == 3);
}

TEST_CASE("attach_all holds the processes that may be traced, and says why it cannot hold the others") {
  if (::geteuid() != 0) MPIACQ_SKIP("needs root, to be other users");
  bystander ours("echo");
  ours.ready();
  std::vector<std::unique_ptr<bystander>> theirs;
  for (int i = 0; i < 3; ++i) {
    theirs.push_back(std::make_unique<bystander>("echo", std::vector<std::string>{}, [] {
      if (::setresgid(somebody, somebody, somebody) != 0 || ::setresuid(somebody, somebody, somebody) != 0) {
        ::_exit(126);
      }
    }));
    theirs.back()->ready();
  }
  int told[2];
  REQUIRE(::pipe2(told, O_CLOEXEC) == 0);
  const pid_t tool = ::fork();
  if (tool == 0) {
    if (::setresgid(somebody, somebody, somebody) != 0 || ::setresuid(somebody, somebody, somebody) != 0) ::_exit(126);
    auto t = tracer::create();
    if (!t) ::_exit(1);
    const auto outcomes = (*t)->attach_all(std::vector<attach_target>{
        {theirs[0]->id(), {}}, {ours.id(), {}}, {theirs[1]->id(), {}}, {theirs[2]->id(), {}}});
    std::string codes;
    for (const auto& outcome : outcomes) codes += outcome ? '+' : static_cast<char>('a' + int(outcome.error().code));
    codes += all_held(theirs[0]->pid()) && all_held(theirs[2]->pid()) ? '+' : '-';
    const bool said = ::write(told[1], codes.data(), codes.size()) == static_cast<ssize_t>(codes.size());
    t = fail(error_code::limit, "");
    ::_exit(said ? 0 : 1);
  }
  ::close(told[1]);
  std::string codes(5, ' ');
  CHECK(::read(told[0], codes.data(), codes.size()) == 5);
  ::close(told[0]);
  CHECK(codes == std::string{'+', static_cast<char>('a' + int(error_code::permission)), '+', '+', '+'});
  int status = -1;
  REQUIRE(::waitpid(tool, &status, 0) == tool);
  CHECK(status == 0);
  for (const auto& program : theirs) CHECK(none_held(program->pid()));
  CHECK(none_held(ours.pid()));
}

TEST_CASE("processes that are killed, exec or end during attach_all do not keep the others from being held") {
  std::mt19937 random(4);
  for (int round = 0; round < 15; ++round) {
    const auto t = new_tracer();
    crowd steady(20, 2);
    std::vector<std::unique_ptr<bystander>> doomed;
    for (int i = 0; i < 4; ++i) {
      doomed.push_back(std::make_unique<bystander>("restless", std::vector<std::string>{"8"}));
      doomed.back()->ready();
    }
    bystander storm("exec_storm", {"200"});
    std::vector<attach_target> targets = steady.targets();
    for (std::size_t i = 0; i < doomed.size(); ++i)
      targets.insert(targets.begin() + 5 * long(i), {doomed[i]->id(), {}});
    targets.insert(targets.begin() + 7, {storm.id(), {}});
    std::thread killer([&, delay = random() % 3000] {
      const auto until = clock::now() + std::chrono::microseconds(delay);
      while (clock::now() < until) {
      }
      for (const auto& program : doomed) ::kill(program->pid(), SIGKILL);
    });
    const auto outcomes = t->attach_all(targets);
    killer.join();
    REQUIRE(outcomes.size() == targets.size());
    std::vector<process_id> held;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const auto& ids = steady.ids();
      const bool is_steady = std::find(ids.begin(), ids.end(), targets[i].process) != ids.end();
      if (is_steady) ok(outcomes[i]);
      if (outcomes[i]) {
        held.push_back(targets[i].process);
        continue;
      }
      INFO(outcomes[i].error().message);
      const error_code code = outcomes[i].error().code;
      CHECK((code == error_code::process_gone || code == error_code::not_found));
    }
    CHECK(all_of_them_held(steady.ids()));
    for (const auto& released : t->detach_all(held)) {
      if (!released) CHECK(released.error().code == error_code::process_gone);
    }
    CHECK(none_of_them_held(steady.ids()));
    for (const auto& program : doomed) CHECK(program->end() == exit_status{true, SIGKILL, false});
    CHECK(storm.end() == exit_status{false, 21, false});
    CHECK(steady.end_well() == 20);
  }
}

TEST_CASE("a thread that the kernel keeps is named, and the other processes are held") {
  tracer_options short_limit;
  short_limit.stop_limit = 50ms;
  const auto t = new_tracer(short_limit);
  crowd all(10);
  bystander stuck("long_vfork");
  stuck.ready();
  auto targets = all.targets();
  targets.insert(targets.begin(), {stuck.id(), {}});
  all_ok(t->attach_all(targets));
  const process_event event = next_event(*t);
  CHECK(event.process == stuck.id());
  REQUIRE(std::holds_alternative<tracing_problem>(event.what));
  CHECK(std::get<tracing_problem>(event.what).what.code == error_code::timed_out);
  CHECK(all_of_them_held(all.ids()));
  auto ids = all.ids();
  ids.insert(ids.begin(), stuck.id());
  const auto released = t->detach_all(ids);
  CHECK(released[0].error().code == error_code::timed_out);
  for (std::size_t i = 1; i < released.size(); ++i) ok(released[i]);
  stuck.pipes().order('g');
  CHECK(stuck.end().value == 16);
  CHECK(all.end_well() == 10);
}

TEST_CASE("a tool that is killed while it holds 100 processes leaves none stopped") {
  crowd all(100, 2);
  int told[2];
  REQUIRE(::pipe2(told, O_CLOEXEC) == 0);
  // Right after they are held, and while they are being taken.
  for (const bool in_the_middle : {false, true}) {
    const pid_t tool = ::fork();
    REQUIRE(tool >= 0);
    if (tool == 0) {
      auto t = tracer::create();
      const auto targets = all.targets();
      const char byte = 'r';
      if (!t || (in_the_middle && ::write(told[1], &byte, 1) != 1)) ::_exit(1);
      do {
        const auto outcomes = (*t)->attach_all(targets);
        if (!in_the_middle && ::write(told[1], &byte, 1) != 1) ::_exit(1);
        if (!in_the_middle) ::pause();
        static_cast<void>((*t)->detach_all(all.ids()));
      } while (true);
    }
    char byte = 0;
    REQUIRE(::read(told[0], &byte, 1) == 1);
    if (in_the_middle) std::this_thread::sleep_for(7ms);  // anywhere in the taking and leaving
    ::kill(tool, SIGKILL);
    REQUIRE(::waitpid(tool, nullptr, 0) == tool);
    CHECK(come_to_be_free(all.ids()));
    for (const process_id id : all.ids()) CHECK(comes_to(number_of(id), 'S'));
  }
  ::close(told[0]);
  ::close(told[1]);
  CHECK(all.end_well() == 100);
}

TEST_CASE("a held process that is killed during attach_all is reported to have ended") {
  for (int round = 0; round < 10; ++round) {
    INFO("round " << round);
    const auto t = new_tracer();
    crowd one(1);
    crowd all(300);
    ok(t->attach(one.ids()[0]));
    std::thread killer([&] {
      // Its end comes while the tracing process is at it.
      while (status_line(all.ids()[0], "TracerPid") == "0") {
      }
      ::kill(number_of(one.ids()[0]), SIGKILL);
    });
    all_ok(t->attach_all(all.targets()));
    killer.join();
    const process_event event = next_event(*t);
    CHECK(event.process == one.ids()[0]);
    CHECK(std::holds_alternative<process_ended>(event.what));
    all_ok(t->detach_all(all.ids()));
    CHECK(all.end_well() == 300);
  }
}
