// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Children that are followed: each is seen before it runs, and each can be let go.
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <sys/prctl.h>

#include "breakpoint_registers.hpp"
#include "bystander.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// What the tracer told of a process.
struct life {
  std::int64_t parent = 0;
  bool shared_memory = false;
  int entries = 0;
  int hits = 0;
  bool ended = false;
  int status = 0;
};
using lives = std::map<std::int64_t, life>;

/// What is done at each stop; false: the process is not resumed.
using at_stop = std::function<bool(const process_event&)>;

/// Until everything that is traced has ended or was let go.
lives follow(tracer& t, lives all, const at_stop& stop = {}) {
  while (true) {
    const auto told = t.wait();
    if (!told) {
      CHECK(told.error().code == error_code::invalid_argument);
      return all;
    }
    const process_event& event = **told;
    life& one = all[event.process.value()];
    if (const auto* problem = std::get_if<tracing_problem>(&event.what)) FAIL(problem->what.message);
    if (const auto* end = std::get_if<process_ended>(&event.what)) {
      one.ended = true;
      one.status = end->status.as_shell();
      continue;
    }
    if (const auto* born = std::get_if<process_born>(&event.what)) {
      CHECK(one.parent == 0);
      one.parent = born->parent.value();
      one.shared_memory = born->shares_memory;
    }
    if (std::holds_alternative<entry_reached>(event.what)) ++one.entries;
    if (std::holds_alternative<breakpoint_hit>(event.what)) ++one.hits;
    const bool stopped = std::holds_alternative<process_born>(event.what) ||
                         std::holds_alternative<entry_reached>(event.what) ||
                         std::holds_alternative<breakpoint_hit>(event.what);
    if (stopped && (!stop || stop(event))) ok(t.resume(event.process));
  }
}

/// "PID is WAY": the ways of the processes as they say themselves.
std::map<std::int64_t, std::string> ways_in(const std::string& report) {
  std::map<std::int64_t, std::string> all;
  std::istringstream lines(report);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::int64_t pid = 0;
    std::string is;
    std::string way;
    if (words >> pid >> is >> way && is == "is") all[pid] += all[pid].empty() ? way : " " + way;
  }
  return all;
}

/// Whom we started is the parent of what it left; so the test can wait until all of it has gone.
struct adopts_orphans {
  adopts_orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }
  ~adopts_orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 0); }
};

lives launch_followed(tracer& t, inferior& program, const at_stop& stop = {}) {
  program.request.follow_children = true;
  const process_id id = at_entry(t, program);
  lives all;
  all[id.value()].entries = 1;
  if (!stop || stop({id, entry_reached{}})) ok(t.resume(id));
  return follow(t, std::move(all), stop);
}

}  // namespace

TEST_CASE(
    "a child of fork, vfork or clone is reported before it runs, at each exec and at its end, which its parent learns "
    "too") {
  const std::string way = GENERATE("fork", "vfork", "spawn", "clone", "thread");
  const auto t = new_tracer();
  inferior program("family", {way, "leaf"});
  std::string before_it_ran;
  const lives all = launch_followed(*t, program, [&](const process_event& event) {
    if (std::holds_alternative<process_born>(event.what)) {
      before_it_ran = status_line(event.process, "State");
      CHECK(program.line() == status_line(event.process, "PPid") + " is " + way);
      CHECK(program.silent());
    }
    return true;
  });
  INFO(way);
  REQUIRE(all.size() == 2);
  CHECK(before_it_ran.starts_with("t"));
  const std::string report = program.rest();
  const auto ways = ways_in(report);
  REQUIRE(ways.size() == 1);
  const auto leaf = ways.begin()->first;
  const life& child = all.at(leaf);
  CHECK(all.contains(child.parent));
  CHECK(child.parent != leaf);
  CHECK(child.entries == 1);
  CHECK(child.ended);
  CHECK(child.status == 3);
  CHECK(child.shared_memory == (way == "vfork" || way == "spawn"));
  CHECK(all.at(child.parent).status == 4);
  CHECK(report == std::to_string(leaf) + " is leaf\n" + std::to_string(child.parent) + " was told that " +
                      std::to_string(leaf) + " ended with 3\n");
}

TEST_CASE("children of children are followed, however they are nested") {
  const adopts_orphans all_of_it;
  using words = std::vector<std::string>;
  const words ways = GENERATE(words{"fork", "vfork", "spawn", "leaf"}, words{"bare", "bare", "fork", "leaf"},
                              words{"spawn", "clone", "thread", "bare", "leaf"}, words{"daemon", "daemon", "leaf"},
                              words{"fork", "orphan", "vfork", "leaf"}, words{"orphan", "daemon", "bare", "leaf"});
  const auto t = new_tracer();
  inferior program("family", ways);
  const lives all = launch_followed(*t, program);
  const auto said = ways_in(program.rest());
  // A daemon's middle process says nothing of itself.
  const auto silent = static_cast<std::size_t>(std::count(ways.begin(), ways.end(), "daemon"));
  CHECK(all.size() == ways.size() + silent);
  CHECK(said.size() == ways.size());
  std::set<std::string> seen;
  for (const auto& [pid, way] : said) {
    INFO(pid << " is " << way);
    REQUIRE(all.contains(pid));
    CHECK(all.at(pid).ended);
    CHECK(all.at(pid).status == (way == "leaf" ? 3 : all.at(pid).status));
    seen.insert(way);
  }
  CHECK(seen == std::set<std::string>(ways.begin(), ways.end()));
  for (const auto& [pid, one] : all) CHECK((one.parent == 0 || all.contains(one.parent)));
}

TEST_CASE("a child that is let go at its birth or at its entry point runs untouched, and gives no more events") {
  const std::string way = GENERATE("fork", "bare", "vfork", "spawn", "clone", "thread");
  const bool at_birth = GENERATE(true, false);
  const auto kind = GENERATE(from_range(kinds_here()));
  const auto t = new_tracer();
  inferior program("family", {way, "fork", "leaf"});
  const target_address marker = address_of("family", "marker");
  process_id first;
  const lives all = launch_followed(*t, program, [&](const process_event& event) {
    if (first == process_id{}) {
      first = event.process;
      ok(t->insert_breakpoint(first, marker, kind));
    }
    const bool now = at_birth || way == "bare" ? std::holds_alternative<process_born>(event.what)
                                               : std::holds_alternative<entry_reached>(event.what);
    if (event.process == first || !now) return true;
    ok(t->detach(event.process));
    const std::string tracer_now = status_line(event.process, "TracerPid");
    CHECK((tracer_now == "0" || tracer_now.empty()));
    return false;
  });
  INFO(way);
  CHECK(all.size() == 2);
  // It ran over the marker in peace, and so did its child.
  CHECK_THAT(program.rest(), ContainsSubstring(" is leaf\n") && ContainsSubstring(" ended with 3\n") &&
                                 ContainsSubstring(" ended with 4\n"));
}

TEST_CASE("children inherit no breakpoint, and can be given their own") {
  const std::string way = GENERATE("fork", "bare", "vfork", "spawn");
  const auto kind = GENERATE(from_range(kinds_here()));
  const bool wanted = GENERATE(true, false);
  const auto t = new_tracer();
  inferior program("family", {way, "leaf"});
  const target_address marker = address_of("family", "marker");
  process_id first;
  const lives all = launch_followed(*t, program, [&](const process_event& event) {
    if (first == process_id{}) {
      first = event.process;
      ok(t->insert_breakpoint(first, marker, kind));
    } else if (wanted && std::holds_alternative<process_born>(event.what) && way == "bare") {
      ok(t->insert_breakpoint(event.process, marker, kind));
    } else if (wanted && std::holds_alternative<entry_reached>(event.what)) {
      ok(t->insert_breakpoint(event.process, marker, kind));
    }
    return true;
  });
  for (const auto& [pid, one] : all) {
    if (pid == first.value()) continue;
    // The bare one calls it itself and then as a leaf.
    CHECK(one.hits == (!wanted ? 0 : way == "bare" ? 2 : 1));
    CHECK(one.status == 3);
  }
}

TEST_CASE("shared memory takes no software breakpoint") {
  const auto t = new_tracer();
  inferior program("family", {"vfork", "leaf"});
  const target_address marker = address_of("family", "marker");
  int births = 0;
  launch_followed(*t, program, [&](const process_event& event) {
    if (!std::holds_alternative<process_born>(event.what)) return true;
    ++births;
    const auto refused = t->insert_breakpoint(event.process, marker, breakpoint_kind::software);
    CHECK(refused.error().code == error_code::unsupported);
    const auto inserted = t->insert_breakpoint(event.process, marker, breakpoint_kind::automatic);
    CHECK(inserted.has_value() == has_breakpoint_registers());
    CHECK(inserted.value_or(breakpoint_kind::hardware) == breakpoint_kind::hardware);
    return true;
  });
  CHECK(births == 1);
  CHECK_THAT(program.rest(), ContainsSubstring("ended with 3"));
}

TEST_CASE("following can be switched off, and on again while the process is held") {
  const auto t = new_tracer();
  inferior program("fork_calls");
  const process_id id = at_entry(*t, program);
  const target_address marker = address_of("fork_calls", "marker");
  ok(t->insert_breakpoint(id, marker));
  int hits = 0;
  int births = 0;
  lives all;
  ok(t->resume(id));
  all = follow(*t, std::move(all), [&](const process_event& event) {
    if (std::holds_alternative<process_born>(event.what)) {
      ++births;
      CHECK(event.process != id);
    }
    // The second of three children only. Each is made after a hit.
    if (event.process == id && std::holds_alternative<breakpoint_hit>(event.what)) {
      ok(t->follow_children(id, ++hits == 2));
    }
    return true;
  });
  CHECK(hits == 3);
  CHECK(births == 1);
  CHECK(all.size() == 2);
  CHECK(t->follow_children(id, true).error().code == error_code::process_gone);
  CHECK_THAT(program.rest(), ContainsSubstring("calls 3\n"));
}

TEST_CASE("children of a running process can be left unfollowed from now on, but followed only once it is stopped") {
  const auto t = new_tracer();
  bystander program("fork_storm");
  program.ready();
  ok(t->attach(program.id(), {.follow_children = true}));
  ok(t->resume(program.id()));
  for (int i = 0; i < 20; ++i) {
    const auto event = next_event(*t);
    if (std::holds_alternative<process_born>(event.what)) ok(t->resume(event.process));
  }
  ok(t->follow_children(program.id(), false));
  CHECK(t->follow_children(program.id(), true).error().code == error_code::invalid_argument);
  ok(t->interrupt(program.id()));
  // What was made before still comes, and to its end.
  bool held = false;
  while (const auto told = *t->wait(clock::now() + (held ? 50ms : 10s))) {
    held = held || std::holds_alternative<interrupted>(told->what);
    if (std::holds_alternative<process_born>(told->what)) ok(t->resume(told->process));
  }
  REQUIRE(held);
  ok(t->detach(program.id()));
  program.pipes().order('e');
  CHECK(program.end() == exit_status{false, 22, false});
  CHECK(program.pipes().rest() == "wrong 0\n");
}

TEST_CASE("the many children of an attached process are followed, and each ends as it would have") {
  const auto kind = GENERATE(from_range(kinds_here()));
  const auto t = new_tracer();
  bystander program("fork_storm");
  program.ready();
  ok(t->attach(program.id(), {.follow_children = true}));
  ok(t->insert_breakpoint(program.id(), address_of("fork_storm", "marker"), kind));
  ok(t->resume(program.id()));
  std::size_t births = 0;
  lives all = follow(*t, {}, [&](const process_event& event) {
    if (std::holds_alternative<process_born>(event.what)) ++births;
    if (births == 300 && std::holds_alternative<process_born>(event.what)) program.pipes().order('e');
    if (births % 3 == 0) {
      ok(t->detach(event.process));
      return false;
    }
    return true;
  });
  CHECK(births >= 300);
  for (const auto& [pid, one] : all) {
    if (one.ended && pid != program.pid()) CHECK(one.status == 5);
    CHECK(one.hits == 0);
  }
  CHECK(all[program.pid()].status == 22);
  CHECK(program.end() == exit_status{false, 22, false});
  CHECK(program.pipes().rest() == "wrong 0\n");
}

TEST_CASE("children whose maker is killed in the middle of making them are followed, or run") {
  const adopts_orphans all_of_it;
  for (int i = 1; i < 30; ++i) {
    const auto t = new_tracer();
    bystander program("fork_storm");
    program.ready();
    ok(t->attach(program.id(), {.follow_children = true}));
    ok(t->resume(program.id()));
    int events = 0;
    const lives all = follow(*t, {}, [&](const process_event&) {
      if (++events == i) ::kill(program.pid(), SIGKILL);
      return true;
    });
    CHECK(all.at(program.pid()).status == 128 + SIGKILL);
    for (const auto& [pid, one] : all) CHECK(one.ended);
    CHECK(program.end() == exit_status{true, SIGKILL, false});
  }
}

TEST_CASE("a shell and Python as wrappers are followed to the program that they start") {
  const bool python = GENERATE(false, true);
  if (python && ::access("/usr/bin/python3", X_OK) != 0) MPIACQ_SKIP("needs /usr/bin/python3");
  const std::string leaf = program_path("family");
  const std::vector<std::string> shell = {"/bin/sh", "-c", "true; (\"$0\" leaf); echo told $?", leaf};
  const std::vector<std::string> script = {
      "/usr/bin/python3", "-c",
      "import subprocess, sys; print('told', subprocess.run([sys.argv[1], 'leaf'], close_fds=False).returncode)", leaf};
  const auto t = new_tracer();
  inferior program("family");
  program.request.arguments = python ? script : shell;
  std::vector<std::string> executables;
  const lives all = launch_followed(*t, program, [&](const process_event& event) {
    if (!std::holds_alternative<entry_reached>(event.what)) return true;
    executables.push_back(std::filesystem::read_symlink("/proc/" + std::to_string(event.process.value()) + "/exe"));
    return true;
  });
  const auto said = ways_in(program.rest());
  REQUIRE(said.size() == 1);
  CHECK(all.at(said.begin()->first).status == 3);
  CHECK(executables.back() == leaf);
  for (const auto& [pid, one] : all) CHECK(one.ended);
}

TEST_CASE("followed children run on when the tool dies, whatever they are doing") {
  const adopts_orphans all_of_it;
  for (int stops = 1; stops <= 8; ++stops) {
    inferior program("family", {"fork", "vfork", "bare", "spawn", "leaf"});
    program.request.follow_children = true;
    const target_address marker = address_of("family", "marker");
    int told[2];
    REQUIRE(::pipe2(told, O_CLOEXEC) == 0);
    const pid_t tool = ::fork();
    if (tool == 0) {
      auto t = tracer::create();
      const auto id = (*t)->launch(program.request);
      if (!id) ::_exit(1);
      for (int seen = 0; seen < stops;) {
        const auto event = (*t)->wait();
        if (!event || !*event) break;
        if (std::holds_alternative<process_ended>((*event)->what)) continue;
        static_cast<void>((*t)->insert_breakpoint((*event)->process, marker, breakpoint_kind::automatic));
        if (++seen < stops) static_cast<void>((*t)->resume((*event)->process));
      }
      if (::write(told[1], "x", 1) != 1) ::_exit(1);
      while (true) ::pause();
    }
    program.started();
    char byte = 0;
    REQUIRE(::read(told[0], &byte, 1) == 1);
    ::close(told[0]);
    ::close(told[1]);
    ::kill(tool, SIGKILL);
    INFO("after stop " << stops);
    const std::string report = program.rest();
    CHECK_THAT(report, ContainsSubstring(" is leaf\n") && ContainsSubstring("ended with 3\n"));
    CHECK(ways_in(report).size() == 5);
    while (::waitpid(-1, nullptr, 0) > 0 || errno == EINTR) continue;
  }
}
