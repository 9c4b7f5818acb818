// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The tool is killed with SIGKILL, and what it traced goes on to its own end.
#include <cerrno>
#include <csignal>
#include <functional>
#include <random>
#include <thread>

#include <sys/wait.h>

#include "breakpoint_registers.hpp"
#include "inferior.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// A process of its own that runs a tracer, says how far it is, and stays there until it is killed.
class tool {
 public:
  using action = std::function<void(tracer&, inferior&, const std::function<void(process_id)>& ready)>;

  tool(inferior& program, const action& what) {
    REQUIRE(::pipe2(said_, O_CLOEXEC) == 0);
    id_ = ::fork();
    REQUIRE(id_ >= 0);
    if (id_ == 0) {
      auto t = tracer::create();
      what(**t, program, [this](process_id p) { say(p); });
      while (true) ::pause();
    }
    ::close(said_[1]);
    program.started();
  }
  ~tool() { ::close(said_[0]); }
  tool(const tool&) = delete;
  tool& operator=(const tool&) = delete;

  /// The inferior's number, as soon as the tool is ready.
  pid_t ready() {
    pid_t inferior = 0;
    REQUIRE(::read(said_[0], &inferior, sizeof inferior) == sizeof inferior);
    return inferior;
  }
  void die() {
    ::kill(id_, SIGKILL);
    REQUIRE(::waitpid(id_, nullptr, 0) == id_);
  }

 private:
  void say(process_id p) const {
    const auto number = static_cast<pid_t>(p.value());
    if (::write(said_[1], &number, sizeof number) != sizeof number) ::_exit(1);
  }
  child_subreaper subreaper_;
  int said_[2] = {-1, -1};
  pid_t id_ = 0;
};

void reap_everybody() {
  while (::waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
  }
}

process_id launch_to_entry(tracer& t, inferior& program) {
  const auto id = t.launch(program.request);
  if (!id || !t.wait()) ::_exit(1);
  return *id;
}

/// Lets the program run with a breakpoint at the marker.
process_id launch_with_breakpoint(tracer& t, inferior& program, target_address marker, breakpoint_kind kind) {
  const process_id id = launch_to_entry(t, program);
  if (!t.insert_breakpoint(id, marker, kind) || !t.resume(id)) ::_exit(1);
  return id;
}

void check_ends_with(pid_t id, int exit_status) {
  const int status = orphan_status(id);
  INFO("status " << status);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == exit_status);
}

}  // namespace

TEST_CASE("a program that stands at its entry point runs on when the tool dies") {
  inferior program("echo");
  tool dying(program, [](tracer& t, inferior& p, const auto& ready) { ready(launch_to_entry(t, p)); });
  const pid_t id = dying.ready();
  dying.die();
  CHECK(program.line() == "ready");
  program.no_more_orders();
  check_ends_with(id, 7);
  reap_everybody();
}

TEST_CASE("the breakpoints of a running program are taken out when the tool dies") {
  const auto kind = GENERATE(from_range(kinds_here()));
  inferior program("echo");
  const target_address marker = address_of("echo", "marker");
  tool dying(program,
             [&](tracer& t, inferior& p, const auto& ready) { ready(launch_with_breakpoint(t, p, marker, kind)); });
  const pid_t id = dying.ready();
  CHECK(program.line() == "ready");
  dying.die();
  program.order('m');
  CHECK(program.byte() == 'm');
  program.no_more_orders();
  check_ends_with(id, 7);
  CHECK(program.rest() == "calls 1\n");
  reap_everybody();
}

TEST_CASE("a program that is held at a hit runs on when the tool dies, and passes the place again without a stop") {
  const auto kind = GENERATE(from_range(kinds_here()));
  inferior program("threads_at_marker", {"64"});
  const target_address marker = address_of("threads_at_marker", "marker");
  const int hits_before = GENERATE(1, 2, 10, 66);
  tool dying(program, [&](tracer& t, inferior& p, const auto& ready) {
    const process_id id = launch_to_entry(t, p);
    if (!t.insert_breakpoint(id, marker, kind)) ::_exit(1);
    for (int i = 0; i < hits_before; ++i) {
      const bool went = t.resume(id).has_value();
      const auto event = t.wait();
      if (!went || !event || !std::holds_alternative<breakpoint_hit>((**event).what)) ::_exit(1);
    }
    ready(id);
  });
  const pid_t id = dying.ready();
  dying.die();
  INFO((kind == breakpoint_kind::hardware ? "hardware" : "software") << ", hits " << hits_before);
  check_ends_with(id, 8);
  CHECK(program.rest() == "calls 66\n");
  reap_everybody();
}

TEST_CASE("breakpoints are taken out when the tool dies, also while threads start and end") {
  const auto kind = GENERATE(from_range(kinds_here()));
  std::mt19937 random(20);
  for (int i = 0; i < 10; ++i) {
    inferior program("restless");
    const target_address marker = address_of("restless", "marker");
    tool dying(program,
               [&](tracer& t, inferior& p, const auto& ready) { ready(launch_with_breakpoint(t, p, marker, kind)); });
    const pid_t id = dying.ready();
    CHECK(program.line() == "ready");
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));  // where in the coming and going
    dying.die();
    program.order('m');
    check_ends_with(id, 15);
    CHECK(program.rest() == "calls 5\n");
    reap_everybody();
  }
}

TEST_CASE(
    "the writes of restore_on_exit are made when the tool ends, unless they were taken back or the process was let "
    "go") {
  inferior program("echo");
  const target_address calls = address_of("echo", "marker_calls");
  enum class then { written, taken_back, replaced };
  const auto what = GENERATE(then::written, then::taken_back, then::replaced);
  tool dying(program, [&](tracer& t, inferior& p, const auto& ready) {
    const process_id id = launch_to_entry(t, p);
    const std::vector<std::byte> forty_one = {std::byte{41}, std::byte{0}, std::byte{0}, std::byte{0}};
    const std::vector<std::byte> five = {std::byte{5}, std::byte{0}, std::byte{0}, std::byte{0}};
    if (!t.restore_on_exit(id, calls, forty_one)) ::_exit(1);
    if (what == then::taken_back && !t.restore_on_exit(id, calls, {})) ::_exit(1);
    if (what == then::replaced && !t.restore_on_exit(id, calls, five)) ::_exit(1);
    ready(id);
  });
  const pid_t id = dying.ready();
  dying.die();
  CHECK(program.line() == "ready");
  program.order('m');
  CHECK(program.byte() == 'm');
  program.no_more_orders();
  check_ends_with(id, 7);
  CHECK(program.rest() == (what == then::written ? "calls 42\n" : what == then::replaced ? "calls 6\n" : "calls 1\n"));
  reap_everybody();
}
