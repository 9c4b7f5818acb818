// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The state machine without its tables: symbols, flags, being_debugged, aborts, the detach.
#include "action_checks.hpp"
#include "mpiacq/mpir/mpir_acquisition.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using namespace mpiacq::mpir;

TEST_CASE("at the entry point: being_debugged in the target's order, then the breakpoint") {
  for (const target_abi& abi : every_abi) {
    INFO(abi_title(abi));
    fake_starter starter(abi);
    starter.define_interface();
    acquisition a;
    CHECK(a.symbols() == nullptr);
    CHECK_FALSE(a.breakpoint().has_value());
    const auto todo = expect(a.at_entry(starter.as_target()));
    REQUIRE(todo.size() == 2);
    const auto& write = std::get<write_memory>(todo[0]);
    CHECK(write.what == known::being_debugged);
    CHECK(write.bytes.size() == 4);
    REQUIRE(starter.memory.write(write.address, write.bytes).has_value());
    CHECK(starter.get("MPIR_being_debugged") == 1);
    CHECK(std::get<plant_breakpoint>(todo[1]).address == target_address{0x12340});
    CHECK(a.breakpoint() == target_address{0x12340});
    CHECK(a.symbols()->complete());
    CHECK(a.table() == nullptr);
    CHECK(a.layout() == nullptr);
  }
}

TEST_CASE("being_debugged is written in its symbol's size") {
  fake_starter starter(lp64_big);
  starter.define_interface();
  acquisition a;
  SECTION("8 bytes") {
    starter.variable("MPIR_being_debugged", 8);
    const auto todo = expect(a.at_entry(starter.as_target()));
    REQUIRE(todo.size() == 2);
    CHECK(std::get<write_memory>(todo[0]).bytes.size() == 8);
    CHECK(std::get<write_memory>(todo[0]).bytes[7] == std::byte{1});
  }
  SECTION("a size that the symbol table does not tell: an int") {
    starter.variable("MPIR_being_debugged", 4, 0);
    CHECK(std::get<write_memory>(expect(a.at_entry(starter.as_target()))[0]).bytes.size() == 4);
  }
  SECTION("a size that is no integer's: nothing is written, and why is said") {
    starter.variable("MPIR_being_debugged", 16, 12);
    const auto todo = expect(a.at_entry(starter.as_target()));
    REQUIRE(todo.size() == 2);
    CHECK(std::get<report_problem>(todo[0]).what.message ==
          "MPIR_being_debugged in /usr/lib/libstarter.so has 12 bytes by its symbol: it should be an int");
    CHECK(std::holds_alternative<plant_breakpoint>(todo[1]));
  }
  SECTION("absent: not written, and no problem") {
    starter.symbols.remove("MPIR_being_debugged");
    CHECK(only<plant_breakpoint>(expect(a.at_entry(starter.as_target()))).address == target_address{0x12340});
    CHECK(only<lift_breakpoint>(expect(a.before_detach(starter.as_target()))).address == target_address{0x12340});
  }
}

TEST_CASE("the acquisition waits for symbols that a later library brings") {
  fake_starter starter;
  acquisition a;
  only<watch_modules>(expect(a.at_entry(starter.as_target())));
  CHECK(a.symbols()->missing().size() == 4);
  only<watch_modules>(expect(a.modules_changed(starter.as_target())));

  starter.variable("MPIR_being_debugged", 4);
  const auto early = expect(a.modules_changed(starter.as_target()));
  REQUIRE(early.size() == 2);  // a starter reads being_debugged before it maps its other libraries
  CHECK(std::get<write_memory>(early[0]).what == known::being_debugged);
  CHECK(std::holds_alternative<watch_modules>(early[1]));
  only<watch_modules>(expect(a.modules_changed(starter.as_target())));  // once is enough

  const auto where = *a.symbols()->operator[](known::being_debugged);
  starter.symbols.define("MPIR_Breakpoint", target_address{0x12340});
  starter.variable("MPIR_debug_state", 4);
  starter.variable("MPIR_proctable", 8);
  only<watch_modules>(expect(a.modules_changed(starter.as_target())));
  CHECK(a.symbols()->missing() == std::vector<std::string_view>{"MPIR_proctable_size"});
  CHECK(a.breakpoint() == target_address{0x12340});

  starter.variable("MPIR_proctable_size", 4);
  CHECK(only<plant_breakpoint>(expect(a.modules_changed(starter.as_target()))).address == target_address{0x12340});
  CHECK(expect(a.modules_changed(starter.as_target())).empty());
  CHECK(where.address() == (*a.symbols())[known::being_debugged]->address());
}

TEST_CASE("a definition with which a later library takes precedence is written too") {
  fake_starter starter;
  starter.variable("MPIR_being_debugged", 4);
  acquisition a;
  const auto first = std::get<write_memory>(expect(a.at_entry(starter.as_target()))[0]).address;
  starter.variable("MPIR_being_debugged", 4);
  const auto second = std::get<write_memory>(expect(a.modules_changed(starter.as_target()))[0]).address;
  CHECK(first != second);
}

TEST_CASE("flags count by presence: data, functions, absolute") {
  fake_starter starter;
  starter.define_interface();
  starter.symbols.remove("MPIR_i_am_starter");
  acquisition a;
  (void)expect(a.at_entry(starter.as_target()));
  CHECK(a.facts().starter_is_rank);
  CHECK_FALSE(a.facts().partial_attach_ok);
  starter.symbols.define("MPIR_I_am_starter", target_address{0x12400}, 4, symbol_kind::function);
  starter.symbols.define_absolute("MPIR_partial_attach_ok", 0);
  starter.symbols.define_absolute("MPIR_Ignore_queues", 1);
  starter.symbols.define("MPIR_acquired_pre_main", target_address{0});
  starter.symbols.define("MPIR_force_to_main", target_address{0x999999999});
  (void)expect(a.at_entry(starter.as_target()));
  CHECK_FALSE(a.facts().starter_is_rank);
  CHECK(a.facts().partial_attach_ok);
  CHECK(a.facts().ignore_queues);
  CHECK(a.facts().acquired_pre_main);
  CHECK(a.facts().force_to_main);
}

TEST_CASE("MPIR_NULL is ignored") {
  fake_starter starter;
  starter.define_interface();
  acquisition a;
  (void)expect(a.at_entry(starter.as_target()));
  CHECK(expect(a.at_breakpoint(starter.as_target())).empty());
  CHECK(expect(a.at_breakpoint(starter.as_target())).empty());
}

TEST_CASE("an unknown state is a problem, and the next event is reported") {
  fake_starter starter;
  starter.define_interface();
  starter.set("MPIR_debug_state", 7);
  acquisition a;
  (void)expect(a.at_entry(starter.as_target()));
  CHECK(only<report_problem>(expect(a.at_breakpoint(starter.as_target()))).what.message ==
        "MPIR_debug_state is 7 at MPIR_Breakpoint: MPIR 1.1, 9.6, knows 0, 1 and 2; the event is ignored");
  starter.set("MPIR_debug_state", -1);
  CHECK_THAT(only<report_problem>(expect(a.at_breakpoint(starter.as_target()))).what.message,
             ContainsSubstring("MPIR_debug_state is -1"));
  starter.set("MPIR_debug_state", 2);
  CHECK_FALSE(only<report_abort>(expect(a.at_breakpoint(starter.as_target()))).reason.has_value());
}

TEST_CASE("the reason of an abort is reported") {
  for (const target_abi& abi : every_abi) {
    INFO(abi_title(abi));
    fake_starter starter(abi);
    starter.define_interface();
    starter.set("MPIR_debug_state", 2);
    starter.variable("MPIR_debug_abort_string", abi.pointer_size);
    acquisition a;
    (void)expect(a.at_entry(starter.as_target()));
    CHECK_FALSE(only<report_abort>(expect(a.at_breakpoint(starter.as_target()))).reason.has_value());  // null

    const auto reason = starter.string("rank 3 called MPI_Abort(17)");
    starter.put_table({});
    starter.set("MPIR_debug_abort_string", static_cast<std::int64_t>(reason.value()));
    CHECK(only<report_abort>(expect(a.at_breakpoint(starter.as_target()))).reason == "rank 3 called MPI_Abort(17)");

    starter.set("MPIR_debug_abort_string", 0x40);
    const auto unreadable = expect(a.at_breakpoint(starter.as_target()));
    REQUIRE(unreadable.size() == 2);
    CHECK_THAT(std::get<report_problem>(unreadable[0]).what.message,
               ContainsSubstring("reading MPIR_debug_abort_string in /usr/lib/libstarter.so: memory at 0x40"));
    CHECK_FALSE(std::get<report_abort>(unreadable[1]).reason.has_value());
  }
}

TEST_CASE("an abort's reason without an end is bounded") {
  fake_starter starter;
  starter.define_interface();
  starter.set("MPIR_debug_state", 2);
  starter.variable("MPIR_debug_abort_string", 8);
  starter.memory.map(target_address{0x200000}, std::string(1 << 20, 'x'));
  starter.set("MPIR_debug_abort_string", 0x200000);
  acquisition a;
  (void)expect(a.at_entry(starter.as_target()));
  const auto todo = expect(a.at_breakpoint(starter.as_target()));
  REQUIRE(todo.size() == 2);
  CHECK(std::get<report_problem>(todo[0]).what.code == error_code::limit);
  CHECK(starter.memory.bytes_read < 40000);
}

TEST_CASE("variables of the wrong size or out of memory are problems") {
  fake_starter starter;
  starter.define_interface();
  acquisition a;
  SECTION("the state is no integer") {
    starter.variable("MPIR_debug_state", 16, 3);
    (void)expect(a.at_entry(starter.as_target()));
    CHECK_THAT(only<report_problem>(expect(a.at_breakpoint(starter.as_target()))).what.message,
               ContainsSubstring("MPIR_debug_state in /usr/lib/libstarter.so has 3 bytes"));
  }
  SECTION("the state is nowhere") {
    starter.symbols.define("MPIR_debug_state", target_address{0x77777000}, 4);
    (void)expect(a.at_entry(starter.as_target()));
    CHECK(only<report_problem>(expect(a.at_breakpoint(starter.as_target()))).what.address ==
          target_address{0x77777000});
  }
  SECTION("the table is no pointer") {
    starter.variable("MPIR_proctable", 240);
    starter.set("MPIR_debug_state", 1);
    starter.set("MPIR_proctable_size", 10);
    (void)expect(a.at_entry(starter.as_target()));
    CHECK(only<report_problem>(expect(a.at_breakpoint(starter.as_target()))).what.message ==
          "MPIR_proctable in /usr/lib/libstarter.so has 240 bytes by its symbol: it should be a pointer of 8");
  }
}

TEST_CASE("a process that has gone is an error of every call that reads") {
  fake_starter starter;
  starter.define_interface();
  acquisition a;
  (void)expect(a.at_entry(starter.as_target()));
  for (const std::int64_t state : {0, 1, 2}) {
    starter.set("MPIR_debug_state", state);
    starter.memory.process_gone = true;
    CHECK(a.at_breakpoint(starter.as_target()).error().code == error_code::process_gone);
    starter.memory.process_gone = false;
  }
  starter.symbols.find_error = error{error_code::process_gone, "gone"};
  CHECK(a.at_entry(starter.as_target()).error().code == error_code::process_gone);
}

TEST_CASE("a reported stop at a breakpoint that is not planted is the caller's error") {
  fake_starter starter;
  acquisition a;
  CHECK(a.at_breakpoint(starter.as_target()).error().code == error_code::invalid_argument);
  (void)expect(a.at_entry(starter.as_target()));
  CHECK(a.at_breakpoint(starter.as_target()).error().code == error_code::invalid_argument);
}

TEST_CASE("before detaching: being_debugged back to 0, the breakpoint removed, once") {
  fake_starter starter;
  starter.define_interface();
  acquisition a;
  CHECK(expect(a.before_detach(starter.as_target())).empty());
  (void)expect(a.at_entry(starter.as_target()));
  starter.set("MPIR_being_debugged", 1);
  const auto todo = expect(a.before_detach(starter.as_target()));
  REQUIRE(todo.size() == 2);
  const auto& write = std::get<write_memory>(todo[0]);
  REQUIRE(starter.memory.write(write.address, write.bytes).has_value());
  CHECK(starter.get("MPIR_being_debugged") == 0);
  CHECK(std::get<lift_breakpoint>(todo[1]).address == target_address{0x12340});
  CHECK(expect(a.before_detach(starter.as_target())).empty());
}

TEST_CASE("an exec restarts the acquisition") {
  fake_starter first;
  first.define_interface();
  const auto name = first.string("n1");
  first.publish({{name, name, 5}});
  first.symbols.layout = first.layout;
  acquisition a;
  (void)expect(a.at_entry(first.as_target()));
  (void)expect(a.at_breakpoint(first.as_target()));
  REQUIRE(a.table() != nullptr);

  fake_starter shell;
  only<watch_modules>(expect(a.at_entry(shell.as_target())));
  CHECK(a.table() == nullptr);
  CHECK(a.layout() == nullptr);
  CHECK_FALSE(a.breakpoint().has_value());
  CHECK_FALSE(a.facts().starter_is_rank);
  CHECK(expect(a.before_detach(shell.as_target())).empty());

  CHECK(expect(a.at_entry(first.as_target())).size() == 2);
  const auto todo = expect(a.at_breakpoint(first.as_target()));
  CHECK(only<report_processes>(todo).table->size() == 1);
}
