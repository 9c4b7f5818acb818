// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// An attach that is refused says why, and leaves no trace.
#include "client/attach_error.hpp"

#include <filesystem>
#include <optional>
#include <thread>

#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "another_user.hpp"
#include "bystander.hpp"
#include "engine/engine.hpp"
#include "engine/event_queue.hpp"
#include "kernel/ptrace_call.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

constexpr uid_t somebody_else = 12346;

error refusal(tracer& t, process_id id) {
  const auto attached = t.attach(id);
  REQUIRE_FALSE(attached.has_value());
  CHECK_FALSE(t.wait(clock::now())->has_value());
  return attached.error();
}

std::string number(std::int64_t n) {
  return std::to_string(n);
}

/// What another tool is told: one that `become` has changed before it has a tracer.
error refusal_of_another(pid_t target, const std::function<void()>& become) {
  int told[2];
  REQUIRE(::pipe2(told, O_CLOEXEC) == 0);
  const pid_t tool = ::fork();
  REQUIRE(tool >= 0);
  if (tool == 0) {
    become();
    auto t = tracer::create();
    const auto attached = t ? (*t)->attach(process_id{target}) : result<void>{fail(t.error())};
    const error e = attached ? error{error_code::limit, "it was attached to"} : attached.error();
    const int head[] = {static_cast<int>(e.code), e.system_errno};
    bool said = ::write(told[1], head, sizeof head) == sizeof head;
    said = ::write(told[1], e.message.data(), e.message.size()) >= 0 && said;
    t = fail(error_code::limit, "");
    ::_exit(said ? 0 : 1);
  }
  ::close(told[1]);
  int head[2] = {-1, -1};
  REQUIRE(::read(told[0], head, sizeof head) == sizeof head);
  error e;
  e.code = static_cast<error_code>(head[0]);
  e.system_errno = head[1];
  char c = 0;
  while (::read(told[0], &c, 1) == 1) e.message += c;
  ::close(told[0]);
  REQUIRE(::waitpid(tool, nullptr, 0) == tool);
  return e;
}

void become(uid_t user, gid_t group) {
  if (::setresgid(group, group, group) != 0 || ::setresuid(user, user, user) != 0) ::_exit(126);
}

/// As a container's filter does it.
void deny_ptrace() {
  sock_filter program[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
                           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog whole{4, program};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole) != 0) {
    ::_exit(126);
  }
}

/// Another user with one capability, kept over an exec.
void become_capable() {
  ::prctl(PR_SET_KEEPCAPS, 1);
  become(somebody, somebody);
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2]{};
  sets[0].effective = sets[0].permitted = sets[0].inheritable = 1U << CAP_NET_RAW;
  if (::syscall(SYS_capset, &head, sets) != 0) ::_exit(126);
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_RAW, 0, 0) != 0) ::_exit(126);
}

bool is_root() {
  return ::geteuid() == 0;
}

constexpr auto needs_root = "needs root, to be other users";

}  // namespace

TEST_CASE("a number without a process is not found, and the error for a thread's number names its process") {
  const auto t = new_tracer();
  for (const std::int64_t nobody : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{1} << 33, std::int64_t{4194304}}) {
    const error e = refusal(*t, process_id{nobody});
    CHECK(e.code == error_code::not_found);
    CHECK(e.system_errno == ESRCH);
    CHECK_THAT(e.message, ContainsSubstring(number(nobody)) && ContainsSubstring("no such process"));
  }
  bystander program("headless");
  program.ready();
  REQUIRE(comes_to(program.pid(), 'Z'));
  const error e = refusal(*t, process_id{threads_in_proc(program.pid()).back()});
  CHECK(e.code == error_code::not_found);
  CHECK_THAT(e.message, ContainsSubstring("a thread of process " + number(program.pid()) + " (headless)"));
}

TEST_CASE("attaching to a zombie says that it has ended, and names its parent") {
  const auto t = new_tracer();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t info{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0);
  const error e = refusal(*t, process_id{child});
  CHECK(e.code == error_code::process_gone);
  CHECK_THAT(e.message, ContainsSubstring("its parent " + number(::getpid())));
  ::waitpid(child, nullptr, 0);
}

TEST_CASE("this program does not attach to itself") {
  const auto t = new_tracer();
  CHECK(refusal(*t, process_id{::getpid()}).code == error_code::invalid_argument);
}

TEST_CASE(
    "the error names the process that traces already: this tracer, another tracer of this program, another program") {
  const auto t = new_tracer();
  bystander program("echo");
  program.ready();
  ok(t->attach(program.id()));
  const error same = refusal(*t, program.id());
  CHECK(same.code == error_code::busy);
  CHECK_THAT(same.message, ContainsSubstring("this tracer traces it already"));

  const auto other = new_tracer();
  const error ours = refusal(*other, program.id());
  CHECK(ours.code == error_code::busy);
  CHECK(ours.system_errno == EPERM);
  CHECK_THAT(ours.message, ContainsSubstring("this program traces it already, by another tracer"));

  const error theirs = refusal_of_another(program.pid(), [] {});
  CHECK(theirs.code == error_code::busy);
  CHECK_THAT(theirs.message,
             ContainsSubstring("process " + number(::getpid()) + " (test_ptrace) traces it already; end that first"));
  ok(t->detach(program.id()));

  // Any other program that traces: here we, ourselves.
  const tracing::kernel_ptrace_calls calls;
  ok(calls.seize(program.pid(), 0));
  CHECK_THAT(refusal(*t, program.id()).message,
             ContainsSubstring("process " + number(::getpid()) + " (test_ptrace) traces it already"));
  // As long as we have not waited for its end, nobody else can.
  ::kill(program.pid(), SIGKILL);
  CHECK(::waitpid(program.pid(), nullptr, __WALL) == program.pid());
}

TEST_CASE("of two tracers that attach at the same time one gets the process, and the other is told that it is busy") {
  const auto one = new_tracer();
  const auto other = new_tracer();
  const bool headless = GENERATE(false, true);
  bystander program(headless ? "headless" : "restless");
  program.ready();
  for (int i = 0; i < 60; ++i) {
    std::atomic<int> there{0};
    result<void> outcomes[2];
    const auto attach = [&](tracer& t, result<void>& outcome) {
      ++there;
      while (there < 2) {
      }
      outcome = t.attach(program.id());
    };
    std::thread second([&] { attach(*other, outcomes[1]); });
    attach(*one, outcomes[0]);
    second.join();
    REQUIRE(outcomes[0].has_value() != outcomes[1].has_value());
    const error& lost = outcomes[0] ? outcomes[1].error() : outcomes[0].error();
    INFO(lost.message);
    CHECK(lost.code == error_code::busy);
    tracer& winner = outcomes[0] ? *one : *other;
    // The dead first thread is nobody's.
    if (!headless) CHECK(all_held(program.pid()));
    ok(winner.detach(program.id()));
    CHECK(none_held(program.pid()));
  }
  program.pipes().order('m');
  if (headless) program.pipes().no_more_orders();
  CHECK(program.end().value == (headless ? 19 : 15));
}

TEST_CASE("an attach that finds one thread traced by another tracer lets all other threads go again") {
  const auto t = new_tracer();
  bystander program("blocked");
  program.ready();
  const pid_t theirs = threads_in_proc(program.pid()).at(5);
  const tracing::kernel_ptrace_calls calls;
  ok(calls.seize(theirs, 0));
  const error e = refusal(*t, program.id());
  CHECK(e.code == error_code::busy);
  CHECK_THAT(e.message, ContainsSubstring("attach to " + number(theirs)));
  for (const pid_t task : threads_in_proc(program.pid())) {
    CHECK(state_of(task) != 't');
    CHECK(status_line(process_id{task}, "TracerPid") == (task == theirs ? number(::getpid()) : "0"));
  }
  ok(calls.interrupt(theirs));
  CHECK(::waitpid(theirs, nullptr, __WALL) == theirs);
  ok(calls.detach(theirs, 0));
  program.pipes().order('g');
  CHECK(program.pipes().line() == "read: as ever");
}

TEST_CASE("an attach that meets another tracer is tried again, and the tracer server serves other commands meanwhile") {
  bystander program("blocked");
  program.ready();
  const pid_t theirs = threads_in_proc(program.pid()).at(5);
  const tracing::kernel_ptrace_calls calls;
  ok(calls.seize(theirs, 0));
  std::optional<result<void>> outcome;
  int tries_later = 0;
  // A thread other than the one that has seized.
  std::thread tracer_client([&] {
    tracing::event_queue events{tracing::unique_fd{}};
    const tracer_options options;
    tracing::this_kernel kernel;
    tracing::engine engine(kernel.access(), events, options);
    engine.attach(program.id(), {}, [&](result<void> answer) { outcome = std::move(answer); });
    while (true) {
      while (engine.holds_any()) {
        engine.take_expected();
        ::sched_yield();
      }
      if (outcome) break;
      // The engine has returned without an answer: the next try is due at a time that need not be waited for here.
      ++tries_later;
      engine.on_time(engine.next_deadline());
    }
  });
  tracer_client.join();
  CHECK(tries_later == 3);
  REQUIRE_FALSE(outcome->has_value());
  CHECK(outcome->error().code == error_code::busy);
  ok(calls.interrupt(theirs));
  CHECK(::waitpid(theirs, nullptr, __WALL) == theirs);
  ok(calls.detach(theirs, 0));
  program.pipes().order('g');
  CHECK(program.pipes().line() == "read: as ever");
}

TEST_CASE("errors tell a process of another user, of several users or of another group from one that is not dumpable") {
  MPIACQ_NEEDS_ANOTHER_USER();
  bystander theirs("echo", {}, [] { become(somebody_else, somebody_else); });
  theirs.ready();
  error e = refusal_of_another(theirs.pid(), [] { become(somebody, somebody); });
  CHECK(e.code == error_code::permission);
  CHECK(e.system_errno == EPERM);
  CHECK_THAT(e.message, ContainsSubstring("(echo)") && ContainsSubstring("belongs to user 12346") &&
                            ContainsSubstring("runs as user 12345") && ContainsSubstring("sudo"));

  e = refusal_of_another(theirs.pid(), [] { become(somebody_else, somebody); });
  CHECK_THAT(e.message, ContainsSubstring("under group 12346") && ContainsSubstring("under group 12345"));

  bystander mixed("echo", {}, [] {
    if (::setresuid(somebody, somebody_else, somebody_else) != 0) ::_exit(126);
  });
  mixed.ready();
  e = refusal_of_another(mixed.pid(), [] { become(somebody, 0); });
  CHECK(e.code == error_code::permission);
  CHECK_THAT(e.message, ContainsSubstring("more than one user") && ContainsSubstring("12345/12346/12346"));
}

TEST_CASE("a process of the same user is attached to, unless it is not dumpable or has more capabilities") {
  if (!is_root()) MPIACQ_SKIP(needs_root);
  const auto as_somebody = [] { become(somebody, somebody); };
  bystander open("echo", {}, as_somebody);
  open.ready();
  CHECK(refusal_of_another(open.pid(), as_somebody).message == "it was attached to");

  // A file that may be run and not read.
  const std::string closed_file = "/tmp/mpiacq-test-closed-" + number(::getpid());
  std::filesystem::copy_file(program_path("echo"), closed_file);
  ::chmod(closed_file.c_str(), 0711);
  bystander closed(closed_file, {}, as_somebody);
  closed.ready();
  error e = refusal_of_another(closed.pid(), as_somebody);
  ::unlink(closed_file.c_str());
  CHECK(e.code == error_code::permission);
  CHECK_THAT(e.message, ContainsSubstring("not dumpable") && ContainsSubstring("PR_SET_DUMPABLE"));

  bystander capable("echo", {}, become_capable);
  capable.ready();
  e = refusal_of_another(capable.pid(), as_somebody);
  CHECK(e.code == error_code::permission);
  CHECK_THAT(e.message, ContainsSubstring("capabilities") && ContainsSubstring("0x2000"));  // CAP_NET_RAW is 13
}

TEST_CASE("a filter of system calls that denies ptrace is named") {
  bystander program("echo");
  program.ready();
  const error e = refusal_of_another(program.pid(), deny_ptrace);
  CHECK(e.code == error_code::permission);
  CHECK_THAT(e.message, ContainsSubstring("seccomp") && ContainsSubstring("--cap-add=SYS_PTRACE"));
}

TEST_CASE("attaching to a kernel thread says that it runs no program") {
  if (status_line(process_id{2}, "Name") != "kthreadd") MPIACQ_SKIP("no thread of the kernel is seen here (container)");
  const auto t = new_tracer();
  const error e = refusal(*t, process_id{2});
  CHECK(e.code == error_code::permission);
  CHECK_THAT(e.message, ContainsSubstring("(kthreadd)") && ContainsSubstring("thread of the kernel"));
}

TEST_CASE("the error tells a /proc of another pid namespace from a process that does not exist") {
  if (!is_root()) MPIACQ_SKIP(needs_root);
  bystander program("echo");
  program.ready();
  const error e = refusal_of_another(program.pid(), [] {
    if (::unshare(CLONE_NEWPID) != 0) ::_exit(126);
    // The new numbers begin with the next child, which goes on in our place.
    const pid_t inside = ::fork();
    if (inside != 0) {
      ::waitpid(inside, nullptr, 0);
      ::_exit(0);
    }
  });
  CHECK(e.code == error_code::not_found);
  CHECK(e.system_errno == ESRCH);
  CHECK_THAT(e.message, ContainsSubstring("(echo)") && ContainsSubstring("another process namespace"));
}

TEST_CASE("a kernel worker among a process's threads does not make the attach fail") {
  bystander program("kernel_worker");
  const std::string said = program.pipes().line();
  if (said == "none") MPIACQ_SKIP("no io_uring with a thread of its own can be had");
  REQUIRE(threads_in_proc(program.pid()).size() == 2);
  const auto t = new_tracer();
  for (int i = 0; i < 3; ++i) {
    ok(t->attach(program.id()));
    CHECK(state_of(program.pid()) == 't');
    ok(t->detach(program.id()));
    CHECK(none_held(program.pid()));
  }
  program.pipes().order('e');
  CHECK(program.end().value == 23);
}

TEST_CASE("each of the kernel's reasons has its own sentence, and the first one that applies is given") {
  using namespace mpiacq::tracing;
  refusal_facts facts;
  facts.task = 4242;
  facts.name = "mpirun";
  facts.target.users = facts.own.users = {1000, 1000, 1000};
  facts.target.groups = facts.own.groups = {100, 100, 100};
  const auto sentence = [&] {
    const error e = explain_refusal(facts);
    CHECK(e.code == error_code::permission);
    CHECK_THAT(e.message, ContainsSubstring("attach to 4242 (mpirun): not permitted: "));
    return e.message;
  };
  facts.security_modules = "lockdown,yama,apparmor";
  CHECK_THAT(sentence(), ContainsSubstring("security modules here: lockdown,yama,apparmor"));
  facts.yama_scope = 0;
  CHECK_THAT(sentence(), !ContainsSubstring("ptrace_scope"));
  facts.yama_scope = 1;
  CHECK_THAT(sentence(), ContainsSubstring("kernel.yama.ptrace_scope is 1") && ContainsSubstring("launch the job") &&
                             ContainsSubstring("sudo sysctl kernel.yama.ptrace_scope=0"));
  facts.yama_scope = 2;
  CHECK_THAT(sentence(), ContainsSubstring("kernel.yama.ptrace_scope is 2: only root"));
  facts.target.permitted_capabilities = 0x2000;
  CHECK_THAT(sentence(), ContainsSubstring("capabilities that this program has not (0x2000"));
  facts.dumpable = false;
  CHECK_THAT(sentence(), ContainsSubstring("not dumpable"));
  facts.target.users = {1001, 1001, 1001};
  CHECK_THAT(sentence(), ContainsSubstring("belongs to user 1001"));
  // Root may all of that, but for Yama's strictest.
  facts.own.effective_capabilities = ~std::uint64_t{0};
  CHECK_THAT(sentence(), ContainsSubstring("security policy") && !ContainsSubstring("outside this container traces"));
  facts.in_inner_process_namespace = true;
  CHECK_THAT(sentence(), ContainsSubstring("outside this container traces it already"));
  facts.yama_scope = 3;
  CHECK_THAT(sentence(), ContainsSubstring("ptrace_scope is 3: nobody"));
  facts.ptrace_is_denied = true;
  CHECK_THAT(sentence(), ContainsSubstring("seccomp"));
  facts.kernel_thread = true;
  CHECK_THAT(sentence(), ContainsSubstring("thread of the kernel"));
}
