// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The debugger's half in one process: breakpoint and flags.
#include "catch.hpp"
#include "fake_job.hpp"
#include "mpiacq/mpi2dd/mpi2dd_acquisition.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using mpi2dd::acquisition;
using mpi2dd::action;
using mpi2dd::debug_state;

namespace {

constexpr std::uint32_t gate = 1, debugged = 2, events = 4;

template <class Wanted>
const Wanted* find(const std::vector<action>& todo) {
  for (const action& a : todo) {
    if (const auto* found = std::get_if<Wanted>(&a)) return found;
  }
  return nullptr;
}

std::vector<action> taken(result<std::vector<action>> todo) {
  if (!todo) FAIL(todo.error().message);
  return std::move(*todo);
}

/// Does what is asked: the flags go into the process's memory.
std::vector<action> done(fake_mpi_process& p, result<std::vector<action>> answer) {
  auto todo = taken(std::move(answer));
  if (const auto* write = find<mpi2dd::write_flags>(todo)) {
    REQUIRE(p.memory.write(write->address, write->bytes).has_value());
  }
  return todo;
}

std::uint32_t flags_of(fake_mpi_process& p) {
  const auto flags = read_unsigned(p.memory, p.abi, fake_mpi_process::info_at + 8, 4);
  REQUIRE(flags.has_value());
  return static_cast<std::uint32_t>(*flags);
}

}  // namespace

TEST_CASE("at the entry point flags are written and the breakpoint is planted, on every ABI") {
  for (const target_abi& abi : every_abi) {
    INFO(abi_title(abi));
    fake_mpi_process p(abi);
    p.info.debugger_flags = 0xa0000000;  // bits that are not ours
    p.publish();
    acquisition a;
    const auto todo = done(p, a.at_entry(p.as_target()));
    REQUIRE(todo.size() == 2);
    CHECK(find<mpi2dd::write_flags>(todo)->address == fake_mpi_process::info_at + 8);
    CHECK(find<mpi2dd::plant_breakpoint>(todo)->address == target_address{0x12340});
    CHECK(flags_of(p) == (0xa0000000 | debugged | events));
    CHECK(a.breakpoint() == target_address{0x12340});
    const auto end = done(p, a.before_detach(p.as_target()));
    CHECK(find<mpi2dd::lift_breakpoint>(end)->address == target_address{0x12340});
    CHECK(flags_of(p) == 0xa0000000);
    CHECK_FALSE(a.breakpoint().has_value());
  }
}

TEST_CASE("a gate is opened once, and stays open after the detach") {
  fake_mpi_process p;
  p.publish();
  acquisition a({mpi2dd::part::rank, false});
  done(p, a.at_attach(p.as_target()));
  CHECK(flags_of(p) == debugged);
  SECTION("taken hold of") {
    done(p, a.open_gate(p.as_target()));
    CHECK(flags_of(p) == (debugged | gate));
    CHECK(done(p, a.open_gate(p.as_target())).empty());
  }
  SECTION("not taken hold of yet") {}
  done(p, a.before_detach(p.as_target()));
  CHECK(flags_of(p) == gate);
}

TEST_CASE("being_debugged clears and sets BEING_DEBUGGED and no other flag") {
  for (const target_abi& abi : every_abi) {
    INFO(abi_title(abi));
    fake_mpi_process p(abi);
    p.info.debugger_flags = 0x80;
    p.publish();
    acquisition a;
    done(p, a.at_entry(p.as_target()));
    done(p, a.being_debugged(p.as_target(), false));
    CHECK(flags_of(p) == (0x80 | events));
    CHECK(done(p, a.being_debugged(p.as_target(), false)).empty());
    done(p, a.being_debugged(p.as_target(), true));
    CHECK(flags_of(p) == (0x80 | debugged | events));
    done(p, a.before_detach(p.as_target()));
    CHECK(flags_of(p) == 0x80);
  }
}

TEST_CASE("the acquisition waits for symbols that a library brings later") {
  fake_mpi_process p;
  p.symbols.remove("MPI2DD_info");
  p.publish();
  acquisition a;
  const auto none = taken(a.at_entry(p.as_target()));
  REQUIRE(none.size() == 1);
  CHECK(find<mpi2dd::watch_modules>(none) != nullptr);
  p.symbols.define("MPI2DD_info", fake_mpi_process::info_at, 128);
  CHECK(done(p, a.modules_changed(p.as_target())).size() == 2);
  CHECK(flags_of(p) == (debugged | events));
  CHECK(taken(a.modules_changed(p.as_target())).empty());
}

TEST_CASE("each state is an event with what changed") {
  fake_mpi_process p;
  p.put_processes({{p.string("n1"), {}, {}, p.string("w"), 100, 0}});
  p.publish();
  acquisition a;
  done(p, a.at_entry(p.as_target()));
  const auto at = [&](debug_state state) {
    p.info.debug_state = static_cast<std::uint8_t>(state);
    p.info.debugger_flags = flags_of(p);
    p.publish();
    const auto todo = done(p, a.at_breakpoint(p.as_target()));
    const auto* event = find<mpi2dd::report_event>(todo);
    REQUIRE(event != nullptr);
    CHECK(event->state == state);
    return *event;
  };
  const auto start = at(debug_state::start);
  CHECK_FALSE((start.changed.processes || start.changed.directories || start.changed.metadirectories));
  p.put_processes({{p.string("n1"), {}, {}, p.string("w"), 100, 0}}, fake_mpi_process::proctable_at + 0x1000);
  const auto spawn = at(debug_state::spawn);
  CHECK((spawn.changed.processes && !spawn.changed.directories));
  p.put_metadirectories({{p.string("n2"), {}, 1}});
  const auto connect = at(debug_state::connect);
  CHECK((connect.changed.metadirectories && !connect.changed.processes));
  CHECK_FALSE(at(debug_state::accept).changed.metadirectories);
  CHECK_FALSE(at(debug_state::join).changed.processes);
  CHECK(at(debug_state::directory_changed).changed.processes);
  const auto either = at(debug_state::metadirectory_changed);
  CHECK((either.changed.directories && either.changed.metadirectories && !either.changed.processes));
  CHECK_FALSE(at(debug_state::abort).reason.has_value());
  p.info.abort_string = p.string("no memory");
  CHECK(at(debug_state::abort).reason == "no memory");
}

TEST_CASE("state 0 is no event, and an unknown state is a problem") {
  fake_mpi_process p;
  p.publish();
  acquisition a;
  done(p, a.at_entry(p.as_target()));
  CHECK(taken(a.at_breakpoint(p.as_target())).empty());
  p.info.debug_state = 77;
  p.info.debugger_flags = flags_of(p);
  p.publish();
  const auto todo = taken(a.at_breakpoint(p.as_target()));
  REQUIRE(todo.size() == 1);
  CHECK_THAT(find<mpi2dd::report_problem>(todo)->what.message, ContainsSubstring("debug_state 77"));
}

TEST_CASE("flags are written only into a valid info block") {
  fake_mpi_process p;
  p.memory.map(fake_mpi_process::info_at, std::vector<std::byte>(128));
  acquisition a;
  const auto todo = taken(a.at_entry(p.as_target()));
  CHECK(find<mpi2dd::write_flags>(todo) == nullptr);
  CHECK(find<mpi2dd::report_problem>(todo) != nullptr);
  CHECK(find<mpi2dd::plant_breakpoint>(todo) != nullptr);
  p.info.debug_state = 1;
  p.publish();  // filled by the time of the first event
  const auto event = done(p, a.at_breakpoint(p.as_target()));
  CHECK(find<mpi2dd::report_event>(event) != nullptr);
  CHECK(flags_of(p) == (debugged | events));
}

TEST_CASE("a target that cannot be written is only read, and a target that has ended is an error") {
  fake_mpi_process p;
  p.publish();
  const target core{p.memory, nullptr, p.abi, p.symbols};
  acquisition a;
  CHECK(taken(a.at_attach(core)).empty());
  CHECK(a.info().has_value());
  CHECK(taken(a.before_detach(core)).empty());
  p.memory.process_gone = true;
  CHECK(a.at_attach(p.as_target()).error().code == error_code::process_gone);
}
