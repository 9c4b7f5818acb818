// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A tool that is stopped, or waits for memory that does not answer, does not keep processes stopped.
#include "breakpoint_registers.hpp"
#include "patience.hpp"
#include "separate_tool.hpp"
#include "silent_file.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

tracer_options limited(std::optional<std::chrono::milliseconds> limit) {
  tracer_options options;
  options.hold_limit = limit;
  return options;
}

/// In a tool of its own, where nothing of the test may be used.
std::unique_ptr<tracer> holding(process_id process, std::optional<std::chrono::milliseconds> limit) {
  auto made = tracer::create(limited(limit));
  if (!made || !(*made)->attach(process)) ::_exit(1);
  return std::move(*made);
}

long code_of(const result<void>& outcome) {
  return outcome ? -1 : static_cast<long>(outcome.error().code);
}

template <class Event>
bool is_next(tracer& t) {
  const auto event = t.wait(clock::now() + patience);
  return event && *event && std::holds_alternative<Event>((*event)->what);
}

constexpr long limit_code = static_cast<long>(error_code::limit);

constexpr const char* only_root_makes_memory_silent =
    "a page whose faults nobody serves (userfaultfd) stops the kernel for root alone";
constexpr const char* no_userfaultfd = "this kernel has no userfaultfd";

/// The address of memory that does not answer, in a program "silent_memory"; 0: this kernel cannot do that.
target_address silent_memory_of(bystander& program) {
  if (program.pipes().line() != "ready") return {};
  return target_address{std::strtoull(program.pipes().line().c_str(), nullptr, 16)};
}

/// A tool that holds the program, reads memory of it that does not answer, says whether the read did what it should,
/// and then whether it can still release the program.
auto reads_while_holding(process_id program, target_address silent,
                         bool (*is_right)(const result<void>&, std::size_t)) {
  return [=](const separate_tool::say& say) {
    const auto t = holding(program, 200ms);
    process_memory memory(program);
    std::array<std::byte, 8> bytes{};
    memory_range range{silent, bytes};
    say(1);
    const auto read = memory.read_ranges({&range, 1});
    say(is_right(read, range.got) ? 1 : 0);
    say(code_of(t->detach(program)));
  };
}

}  // namespace

TEST_CASE("a process that a stopped tool holds is let go, and the tool learns that when it continues") {
  bystander program("echo");
  program.ready();
  const separate_tool tool([&](const separate_tool::say& say) {
    const auto t = holding(program.id(), 200ms);
    say(1);
    ::raise(SIGSTOP);
    say(code_of(t->interrupt(program.id())));
    say(is_next<control_lost>(*t) ? 1 : 0);
    say(code_of(t->detach(program.id())));
    say(t->registers(std::vector{program.id()})[0] ? 1 : 0);
    // It can be attached to again.
    say(code_of(t->attach(program.id())));
    say(code_of(t->detach(program.id())));
  });
  CHECK(tool.heard() == 1);
  CHECK(comes_true([&] { return none_held(program.pid()); }));
  program.pipes().order('x');
  CHECK(program.pipes().byte() == 'x');
  REQUIRE(comes_to(tool.pid(), 'T'));
  tool.send(SIGCONT);
  CHECK(tool.heard() == -1);  // the event that says so is on its way
  CHECK(tool.heard() == 1);
  CHECK(tool.heard() == limit_code);
  CHECK(tool.heard() == 0);
  CHECK(tool.heard() == -1);
  CHECK(tool.heard() == -1);
  program.pipes().no_more_orders();
  CHECK(program.end().value == 7);
}

TEST_CASE(
    "running processes are let go together with held ones, without breakpoints, and their ends are still reported") {
  const auto kind = GENERATE(from_range(kinds_here()));
  bystander held("echo");
  held.ready();
  inferior program("echo");
  const target_address marker = address_of("echo", "marker");
  const separate_tool tool([&](const separate_tool::say& say) {
    program.no_more_orders();  // the program is to see the end of the test's orders
    auto made = tracer::create(limited(200ms));
    const auto id = (*made)->launch(program.request);
    if (!id || !is_next<entry_reached>(**made)) ::_exit(1);
    if (!(*made)->insert_breakpoint(*id, marker, kind) || !(*made)->resume(*id)) ::_exit(2);
    if (!(*made)->attach(held.id())) ::_exit(3);
    say(id->value());
    ::raise(SIGSTOP);
    say(is_next<control_lost>(**made) && is_next<control_lost>(**made) ? 1 : 0);
    const auto end = (*made)->wait(clock::now() + patience);
    const auto* ended = end && *end ? std::get_if<process_ended>(&(*end)->what) : nullptr;
    say(ended == nullptr ? -1 : ended->status.value);
  });
  program.started();
  const auto id = static_cast<pid_t>(tool.heard());
  CHECK(program.line() == "ready");
  CHECK(comes_true([&] { return none_held(held.pid()) && none_held(id); }));
  program.order('m');
  CHECK(program.byte() == 'm');
  program.no_more_orders();
  CHECK(program.line() == "calls 1");
  REQUIRE(comes_to(tool.pid(), 'T'));
  tool.send(SIGCONT);
  CHECK(tool.heard() == 1);
  CHECK(tool.heard() == 7);
}

TEST_CASE("a tool that cannot end has everything released all the same") {
  bystander held("echo"), followed("echo");
  held.ready(), followed.ready();
  const separate_tool tool([&](const separate_tool::say& say) {
    const auto first = holding(held.id(), std::nullopt);
    const auto second = holding(followed.id(), std::nullopt);
    // A forked child has copies of the tracers, and none of its own.
    const pid_t child = ::fork();
    if (child == 0) {
      tracer::release_everything();
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
    say(second->registers(std::vector{followed.id()})[0] ? 1 : 0);
    tracer::release_everything();
    say(first->registers(std::vector{held.id()})[0] ? 1 : 0);
    ::pause();
  });
  CHECK(tool.heard() == 1);
  CHECK(tool.heard() == 0);
  CHECK(comes_true([&] { return none_held(held.pid()) && none_held(followed.pid()); }));
  CHECK(state_of(tool.pid()) != 'Z');
}

TEST_CASE("a process stays held for a silent tool without a limit, and for a tool that calls keep_held") {
  bystander without("echo"), renewed("echo"), measure("echo");
  without.ready(), renewed.ready(), measure.ready();
  const separate_tool tool([&](const separate_tool::say& say) {
    const auto has_none = holding(without.id(), std::nullopt);
    const auto calls = holding(renewed.id(), 2000ms);
    const auto silent = holding(measure.id(), 6000ms);
    say(1);
    for (;;) {
      if (!calls->keep_held()) ::_exit(1);
      ::usleep(10'000);
    }
  });
  CHECK(tool.heard() == 1);
  REQUIRE(comes_true([&] { return none_held(measure.pid()); }));
  CHECK(all_held(without.pid()));
  CHECK(all_held(renewed.pid()));
  tool.send(SIGSTOP);
  CHECK(comes_true([&] { return none_held(renewed.pid()); }));
  CHECK(all_held(without.pid()));
  tool.send(SIGKILL);
  CHECK(comes_true([&] { return none_held(without.pid()); }));
}

TEST_CASE("a tool that waits for its events is not silent") {
  bystander held("echo"), measure("echo");
  held.ready(), measure.ready();
  const separate_tool tool([&](const separate_tool::say& say) {
    const auto waits = holding(held.id(), 2000ms);
    const auto silent = holding(measure.id(), 6000ms);
    say(1);
    static_cast<void>(waits->wait(clock::now() + 60s));
  });
  CHECK(tool.heard() == 1);
  REQUIRE(comes_true([&] { return none_held(measure.pid()); }));
  CHECK(all_held(held.pid()));
}

TEST_CASE("memory that does not answer blocks the tool that reads it, but does not keep the process held") {
  if (::geteuid() != 0) MPIACQ_SKIP(only_root_makes_memory_silent);
  bystander program("silent_memory");
  const target_address silent = silent_memory_of(program);
  if (silent.is_null()) MPIACQ_SKIP(no_userfaultfd);
  const separate_tool tool(reads_while_holding(program.id(), silent,
                                               [](const result<void>& read, std::size_t) { return read.has_value(); }));
  CHECK(tool.heard() == 1);
  CHECK(comes_true([&] { return none_held(program.pid()); }));
  program.pipes().order('x');
  CHECK(program.pipes().byte() == 'x');
  program.pipes().order('u');
  CHECK(program.pipes().byte() == 'u');
  CHECK(tool.heard() == 1);
  CHECK(tool.heard() == limit_code);
  program.pipes().no_more_orders();
  CHECK(program.end().value == 9);
}

TEST_CASE("a file that does not answer keeps the tool that reads it, and not the process that maps it") {
  if (::geteuid() != 0) MPIACQ_SKIP("only root can mount a file system of its own (FUSE)");
  using server = silent_file::server;
  const server behaviour = GENERATE(server::takes_nothing, server::keeps_requests);
  silent_file file(0, 4096);
  if (!file.why_not().empty()) MPIACQ_SKIP(file.why_not());
  file.inherit(true);
  bystander program("silent_memory", {std::to_string(file.descriptor())});
  file.inherit(false);
  const target_address silent = silent_memory_of(program);
  REQUIRE_FALSE(silent.is_null());
  file.behave(behaviour);
  const separate_tool tool(reads_while_holding(
      program.id(), silent, [](const result<void>& read, std::size_t got) { return read.has_value() && got == 0; }));
  CHECK(tool.heard() == 1);
  CHECK(comes_true([&] { return none_held(program.pid()); }));
  program.pipes().order('x');
  CHECK(program.pipes().byte() == 'x');
  file.end();
  CHECK(tool.heard() == 1);
  CHECK(tool.heard() == limit_code);
  program.pipes().no_more_orders();
  CHECK(program.end().value == 9);
}

TEST_CASE("a write of restore_on_exit into memory that does not answer does not block the tracer server") {
  if (::geteuid() != 0) MPIACQ_SKIP(only_root_makes_memory_silent);
  bystander program("silent_memory"), other("echo");
  other.ready();
  const target_address silent = silent_memory_of(program);
  if (silent.is_null()) MPIACQ_SKIP(no_userfaultfd);
  const separate_tool tool([&](const separate_tool::say& say) {
    const auto t = holding(program.id(), std::nullopt);
    const std::array<std::byte, 4> zero{};
    if (!t->attach(other.id()) || !t->restore_on_exit(program.id(), silent, zero)) ::_exit(1);
    say(1);
    ::pause();
  });
  CHECK(tool.heard() == 1);
  tool.send(SIGKILL);
  CHECK(comes_true([&] { return none_held(program.pid()) && none_held(other.pid()); }));
  program.pipes().order('x');
  CHECK(program.pipes().byte() == 'x');
}
