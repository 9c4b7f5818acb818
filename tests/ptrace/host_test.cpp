// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The program that uses the library keeps what is its own.
#include <csignal>
#include <filesystem>
#include <thread>

#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "bystander.hpp"
#include "kernel/ptrace_call.hpp"
#include "kernel/wait_status.hpp"
#include "kernel/waiter.hpp"
#include "run_command.hpp"
#include "separate_tool.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

volatile std::sig_atomic_t child_signals = 0;

extern "C" void count_child_signal(int) {
  child_signals = child_signals + 1;
}

/// A disposition of SIGCHLD for as long as it lives.
struct child_signal_is {
  explicit child_signal_is(void (*handler)(int), int flags) {
    struct sigaction ours {};
    ours.sa_handler = handler;
    ours.sa_flags = flags;
    ::sigaction(SIGCHLD, &ours, &before);
  }
  ~child_signal_is() { ::sigaction(SIGCHLD, &before, nullptr); }
  struct sigaction before {};
};

std::size_t entries_of(const char* folder) {
  std::size_t count = 0;
  for (auto it = std::filesystem::directory_iterator(folder); it != std::filesystem::directory_iterator(); ++it)
    ++count;
  return count;
}

void whole_life(tracer& t) {
  inferior program("call_marker", {"2"});
  const process_id id = at_entry(t, program);
  ok(t.insert_breakpoint(id, address_of("call_marker", "marker")));
  for (int i = 0; i < 2; ++i) {
    ok(t.resume(id));
    next<breakpoint_hit>(t);
  }
  CHECK(run_to_end(t, id).value == 6);
}

}  // namespace

TEST_CASE("the host can wait for its own children") {
  const auto t = new_tracer();
  const pid_t own = ::fork();
  if (own == 0) ::_exit(21);
  siginfo_t info{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(own), &info, WEXITED | WNOWAIT) == 0);
  whole_life(*t);
  int status = 0;
  CHECK(::waitpid(own, &status, 0) == own);
  CHECK(WEXITSTATUS(status) == 21);
}

TEST_CASE("the host's disposition of SIGCHLD does not matter, and stays as it is") {
  const auto t = new_tracer();
  SECTION("a handler") {
    const child_signal_is handled(count_child_signal, SA_RESTART);
    whole_life(*t);
    struct sigaction now {};
    ::sigaction(SIGCHLD, nullptr, &now);
    CHECK(now.sa_handler == count_child_signal);
    CHECK(now.sa_flags & SA_RESTART);
  }
  SECTION("ignored") {
    const child_signal_is ignored(SIG_IGN, 0);
    whole_life(*t);
  }
  SECTION("no stops") {
    const child_signal_is no_stops(count_child_signal, SA_NOCLDSTOP);
    whole_life(*t);
  }
}

TEST_CASE("the status of a detached child is known also where the host ignores SIGCHLD") {
  const child_signal_is ignored(SIG_IGN, 0);
  const auto t = new_tracer();
  inferior program("echo");
  const process_id id = at_entry(*t, program);
  ok(t->detach(id));
  program.no_more_orders();
  CHECK(next<process_ended>(*t).status.value == 7);
}

TEST_CASE("a program inherits what the host has when it launches, not what it had when the tracer was made") {
  const auto t = new_tracer();
  const auto before = std::filesystem::current_path();
  const mode_t mask_before = ::umask(027);
  std::filesystem::current_path("/usr/lib");
  // The last is the process group; `ls` has one descriptor of its own.
  const std::string script =
      "exec >/proc/self/fd/$OUT; pwd; umask; ls /proc/self/fd | tr '\\n' ' '; echo; cut -d' ' -f5 /proc/self/stat";
  launch_request show{{"/bin/sh", "-c", script}, {}, false};
  int out[2];
  REQUIRE(::pipe2(out, O_CLOEXEC) == 0);
  const int given = ::fcntl(out[1], F_DUPFD, 40);
  show.environment = {"OUT=" + std::to_string(given), "PATH=/bin:/usr/bin"};
  const auto id = t->launch(show);
  // The same as a child that is made without us says it.
  const int plain = ::fork();
  if (plain == 0) {
    ::setenv("OUT", std::to_string(given).c_str(), 1);
    ::execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
    ::_exit(1);
  }
  REQUIRE(::waitpid(plain, nullptr, 0) == plain);
  ::close(given);
  ::close(out[1]);
  ::umask(mask_before);
  std::filesystem::current_path(before);
  ok(id);
  next<entry_reached>(*t);
  ok(t->detach(*id));
  std::string said;
  for (char c = 0; ::read(out[0], &c, 1) == 1;) said += c;
  ::close(out[0]);
  CHECK(said.starts_with("/usr/lib\n0027\n0 1 "));
  CHECK_THAT(said, ContainsSubstring(" 40 "));
  const std::string half = said.substr(0, said.size() / 2);
  CHECK(said == half + half);
}

TEST_CASE("a command after the tracer server was killed gives an error that says so") {
  const auto t = new_tracer();
  whole_life(*t);
  ::kill(tracing_process_of(::getpid()), SIGKILL);
  const auto event = t->wait();
  REQUIRE_FALSE(event.has_value());
  CHECK(event.error().code == error_code::system);
  CHECK_THAT(event.error().message, ContainsSubstring("was ended by signal 9"));
  CHECK_FALSE(t->launch({{"/bin/true"}, {}, false}).has_value());
}

TEST_CASE("the error about a missing tracing program says where it was looked for") {
  const auto missing = tracer::create({.stop_limit = 1s, .tracing_program = "/nowhere/tracer"});
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error().code == error_code::not_found);
  CHECK_THAT(missing.error().message, ContainsSubstring("/nowhere/tracer"));
  const auto wrong = tracer::create({.stop_limit = 1s, .tracing_program = "/bin/true"});
  REQUIRE_FALSE(wrong.has_value());
  CHECK_THAT(wrong.error().message, ContainsSubstring("ended with status 0"));
}

TEST_CASE("a tracer that starts when it is needed has no process before its first command") {
  const auto servers = [] { return children_named(::getpid(), "job-guard").size(); };
  bystander program("restless", {"1"});
  program.ready();
  const tracer_options when_needed{.stop_limit = 15s, .start_when_needed = true};
  const std::size_t descriptors = open_descriptors();
  { const auto unused = tracer::create(when_needed); }
  CHECK(open_descriptors() == descriptors);
  auto t = tracer::create(when_needed);
  ok(t);
  const auto nothing = (*t)->wait(clock::now());
  ok(nothing);
  CHECK_FALSE(nothing->has_value());
  ok((*t)->keep_held());
  CHECK(servers() == 0);
  pollfd waiting{(*t)->event_descriptor(), POLLIN, 0};
  CHECK(::poll(&waiting, 1, 0) == 0);
  ok((*t)->attach(program.id()));
  CHECK(servers() == 1);
  ok((*t)->resume(program.id()));
  ok((*t)->interrupt(program.id()));
  REQUIRE(::poll(&waiting, 1, 15000) == 1);
  ok((*t)->detach(program.id()));

  // The first command gives the error that `create` would have given.
  const auto missing =
      tracer::create({.stop_limit = 1s, .tracing_program = "/nowhere/tracer", .start_when_needed = true});
  ok(missing);
  for (int i = 0; i < 2; ++i) {
    const auto refused = (*missing)->attach(program.id());
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == error_code::not_found);
    CHECK_THAT(refused.error().message, ContainsSubstring("/nowhere/tracer"));
  }
}

TEST_CASE("a wait for ends alone leaves the stops to the tracer") {
  bystander program("restless", {"1"});
  program.ready();
  const auto task = static_cast<pid_t>(program.id().value());
  const tracing::kernel_ptrace_calls ours;
  ok(ours.seize(task, 0));
  CHECK_FALSE(tracing::waiter::take_end_of(task));
  ok(ours.interrupt(task));
  REQUIRE(comes_true([&] { return tracing::waiter::has_news_of(task); }));
  CHECK_FALSE(tracing::waiter::take_end_of(task));
  const auto stop = tracing::waiter::next_of(task);
  REQUIRE(stop.has_value());
  CHECK(std::holds_alternative<tracing::trap_stop>(stop->status));
  CHECK_FALSE(tracing::waiter::take_end_of(task));
  ::kill(task, SIGKILL);
  CHECK(comes_true([&] { return tracing::waiter::take_end_of(task); }));
  CHECK_FALSE(tracing::waiter::has_news_of(task));
}

TEST_CASE("signal dispositions are as before, while a tracer lives and afterwards") {
  const auto dispositions = [] {
    std::vector<void (*)(int)> all;
    for (int number = 1; number <= SIGRTMAX; ++number) {
      struct sigaction now {};
      all.push_back(::sigaction(number, nullptr, &now) == 0 ? now.sa_handler : SIG_ERR);
    }
    return all;
  };
  const auto before = dispositions();
  {
    const auto t = new_tracer();
    const auto second = new_tracer();
    whole_life(*t);
    CHECK(dispositions() == before);
  }
  CHECK(dispositions() == before);
}

TEST_CASE("a tracer leaves no descriptor, thread or child behind") {
  { whole_life(*new_tracer()); }
  const std::size_t descriptors = open_descriptors();
  for (int i = 0; i < 50; ++i) whole_life(*new_tracer());
  CHECK(open_descriptors() == descriptors);
  CHECK(entries_of("/proc/self/task") == 1);
  CHECK(::waitpid(-1, nullptr, __WALL | WNOHANG) == -1);
  CHECK(errno == ECHILD);
}

TEST_CASE("a ptrace call from a thread that does not own the tracee is refused by name") {
  const tracing::kernel_ptrace_calls ours;
  std::thread other([&] {
    const auto answer = ours.interrupt(1);
    CHECK(answer.error().code == error_code::wrong_thread);
    CHECK(ours.peek_user(1, 0).error().code == error_code::wrong_thread);
  });
  other.join();
}

TEST_CASE("attaching to a process that another tracer holds says that it is busy, and names the tracer") {
  const auto t = new_tracer();
  inferior program("echo");
  const process_id id = at_entry(*t, program);
  const tracing::kernel_ptrace_calls ours;
  const auto answer = ours.seize(static_cast<pid_t>(id.value()), 0);
  REQUIRE_FALSE(answer.has_value());
  CHECK(answer.error().code == error_code::busy);
  CHECK_THAT(answer.error().message, ContainsSubstring("traces it already"));
  CHECK(answer.error().system_errno == EPERM);
}

TEST_CASE("a wait status is decoded once") {
  using namespace mpiacq::tracing;
  const auto stopped = [](int signal, int event) { return decode_wait_status((signal | event << 8) << 8 | 0x7f); };
  CHECK(std::get<ended>(decode_wait_status(3 << 8)).status == exit_status{false, 3, false});
  CHECK(std::get<ended>(decode_wait_status(255 << 8)).status == exit_status{false, 255, false});
  CHECK(std::get<ended>(decode_wait_status(9)).status == exit_status{true, 9, false});
  CHECK(std::get<ended>(decode_wait_status(11 | 0x80)).status == exit_status{true, 11, true});
  CHECK(std::get<signal_stop>(stopped(SIGTRAP, 0)).signal == SIGTRAP);
  CHECK(std::get<signal_stop>(stopped(SIGSTOP, 0)).signal == SIGSTOP);
  CHECK(std::holds_alternative<trap_stop>(stopped(SIGTRAP, 128)));
  CHECK(std::get<group_stop>(stopped(SIGTSTP, 128)).signal == SIGTSTP);
  CHECK(std::get<birth_stop>(stopped(SIGTRAP, 1)).by == birth_stop::how::fork);
  CHECK(std::get<birth_stop>(stopped(SIGTRAP, 2)).by == birth_stop::how::vfork);
  CHECK(std::get<birth_stop>(stopped(SIGTRAP, 3)).by == birth_stop::how::clone);
  CHECK(std::holds_alternative<exec_stop>(stopped(SIGTRAP, 4)));
  CHECK(std::holds_alternative<vfork_done_stop>(stopped(SIGTRAP, 5)));
  CHECK(std::holds_alternative<exit_stop>(stopped(SIGTRAP, 6)));
  CHECK(std::holds_alternative<other_stop>(stopped(SIGTRAP, 7)));
  CHECK(std::holds_alternative<other_stop>(decode_wait_status(0xffff)));
}
