// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The state machine in attach mode: complete tables, incomplete tables, and processes that are not starters.
#include "action_checks.hpp"
#include "mpiacq/mpir/mpir_acquisition.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using namespace mpiacq::mpir;

namespace {

/// A running starter of two ranks that were published without a tool.
struct running_job {
  explicit running_job(const target_abi& abi = lp64_little) : starter(abi) {
    starter.define_interface();
    host = starter.string("n1");
    app = starter.string("/path/a.out");
    starter.publish({{host, app, 41}, {host, app, 42}});
  }
  words attach() { return steps(expect(a.at_attach(starter.as_target()))); }
  words look_again(taking how = taking::when_complete) { return steps(expect(a.look_again(starter.as_target(), how))); }
  words at_breakpoint() { return steps(expect(a.at_breakpoint(starter.as_target()))); }

  fake_starter starter;
  target_address host, app;
  acquisition a;
};

const words taking_hold{"write MPIR_being_debugged", "plant"};

words with(words first, const words& rest) {
  first.insert(first.end(), rest.begin(), rest.end());
  return first;
}

}  // namespace

TEST_CASE("attach: the table, then being_debugged, then the breakpoint (chapter 8, steps 5 to 8)") {
  for (const target_abi& abi : every_abi) {
    INFO(abi_title(abi));
    running_job job(abi);
    const auto todo = expect(job.a.at_attach(job.starter.as_target()));
    CHECK(steps(todo) == with({"report 2"}, taking_hold));
    CHECK(job.a.table()->pid(entry_index{1}) == process_id{42});
    CHECK(job.a.table()->executable_name(entry_index{0}) == "/path/a.out");
    carry_out(job.starter, todo);
    CHECK(job.starter.get("MPIR_being_debugged") == 1);

    const auto letting_go = expect(job.a.before_detach(job.starter.as_target()));
    CHECK(steps(letting_go) == words{"write MPIR_being_debugged", "lift"});
    carry_out(job.starter, letting_go);
    CHECK(job.starter.get("MPIR_being_debugged") == 0);
    CHECK(job.look_again().empty());
  }
}

TEST_CASE("attach: a table is not reported again unless it has grown") {
  running_job job;
  (void)job.attach();
  CHECK(job.look_again().empty());
  CHECK(job.at_breakpoint().empty());
  job.starter.publish({{job.host, job.app, 41}, {job.host, job.app, 42}, {job.host, job.app, 43}});
  CHECK(job.at_breakpoint() == words{"report 3"});
}

TEST_CASE("attach: a second attach finds what the first found") {
  running_job job;
  (void)job.attach();
  (void)expect(job.a.before_detach(job.starter.as_target()));
  CHECK(job.attach() == with({"report 2"}, taking_hold));
}

TEST_CASE("attach: job ids and flags are known with the table") {
  running_job job;
  job.starter.variable("totalview_jobid", 16);
  job.starter.poke((*find_symbols(job.starter.symbols))[known::totalview_jobid]->address(), '7', 1);
  job.starter.symbols.define_absolute("MPIR_partial_attach_ok", 0);
  (void)job.attach();
  CHECK(job.a.facts().job_id == "7");
  CHECK(job.a.facts().partial_attach_ok);
  CHECK_FALSE(job.a.facts().starter_is_rank);
  CHECK(job.a.facts().daemons == daemon_launch::not_asked);
}

TEST_CASE("attach: the acquisition waits for a table by the breakpoint and by looking again") {
  running_job job;
  job.starter.set("MPIR_debug_state", 0);
  job.starter.set("MPIR_proctable_size", GENERATE(0, -1));
  CHECK(job.attach() == with(taking_hold, {"await 0 of 0"}));
  CHECK(job.a.table() == nullptr);
  CHECK(job.look_again() == words{"await 0 of 0"});
  CHECK(job.look_again(taking::as_it_is).empty());
  job.starter.set("MPIR_proctable_size", 2);
  SECTION("the breakpoint comes first") {
    job.starter.set("MPIR_debug_state", 1);
    CHECK(job.at_breakpoint() == words{"report 2"});
    CHECK(job.look_again().empty());
  }
  SECTION("a look comes first, and the breakpoint says nothing new") {
    CHECK(job.look_again() == words{"report 2"});
    job.starter.set("MPIR_debug_state", 1);
    CHECK(job.at_breakpoint().empty());
  }
}

TEST_CASE("attach: the acquisition waits for the table when only its size is set") {
  running_job job;
  job.starter.set("MPIR_proctable", 0);
  CHECK(job.attach() == with(taking_hold, {"await 0 of 2"}));
}

TEST_CASE("attach: a table that is being filled is reported when it is complete or declared complete") {
  running_job job;
  const fake_entry none{};
  const bool has_debug_information = GENERATE(false, true);
  if (has_debug_information) job.starter.symbols.layout = job.starter.layout;
  job.starter.publish({{job.host, job.app, 41}, none, {job.host, {}, 43}, none});
  job.starter.set("MPIR_debug_state", 0);
  CHECK(job.attach() == with(taking_hold, {"await 1 of 4"}));
  CHECK(job.a.table() == nullptr);

  job.starter.put_table(
      {{job.host, job.app, 41}, {job.host, job.app, 42}, {job.host, {}, 43}, {job.host, job.app, 44}});
  SECTION("one name is missing and nothing is said") {
    CHECK(job.look_again() == words{"await 3 of 4"});
    CHECK(job.look_again(taking::as_it_is) == words{"report 4"});
    CHECK(job.a.table()->problem_count() == 1);
  }
  SECTION("one name is missing and the state says that this is all") {
    job.starter.set("MPIR_debug_state", 1);
    CHECK(job.look_again() == words{"report 4"});
  }
  SECTION("all is there and the state never says so") {
    job.starter.put_table(
        {{job.host, job.app, 41}, {job.host, job.app, 42}, {job.host, job.app, 43}, {job.host, job.app, 44}});
    CHECK(job.look_again() == words{"report 4"});
    CHECK(job.a.table()->problem_count() == 0);
  }
}

TEST_CASE("attach: a table that claims more entries than memory holds is not complete") {
  running_job job;
  job.starter.set("MPIR_debug_state", 0);
  job.starter.set("MPIR_proctable_size", 3);
  job.starter.symbols.layout = job.starter.layout;
  CHECK(job.attach() == with(taking_hold, {"await 2 of 3"}));
  CHECK(job.look_again(taking::as_it_is) == words{"problem", "report 2"});
}

TEST_CASE("attach: a starter that is aborting") {
  running_job job;
  job.starter.variable("MPIR_debug_abort_string", 8);
  const auto reason = job.starter.string("rank 1 called MPI_Abort");
  job.starter.publish({{job.host, job.app, 41}});
  job.starter.set("MPIR_debug_abort_string", static_cast<std::int64_t>(reason.value()));
  job.starter.set("MPIR_debug_state", 2);
  SECTION("its ranks, then the reason, once") {
    CHECK(job.attach() == with({"report 1", "abort rank 1 called MPI_Abort"}, taking_hold));
    CHECK(job.at_breakpoint().empty());  // the attach fell between the write and the call
    CHECK(job.at_breakpoint() == words{"abort rank 1 called MPI_Abort"});  // a second call is a second event
  }
  SECTION("with another reason at the breakpoint, that is news") {
    (void)job.attach();
    job.starter.set("MPIR_debug_abort_string", 0);
    CHECK(job.at_breakpoint() == words{"abort -"});
  }
  SECTION("without a table there is nothing to wait for") {
    job.starter.set("MPIR_proctable_size", 0);
    CHECK(job.attach() == with({"abort rank 1 called MPI_Abort"}, taking_hold));
    CHECK(job.look_again().empty());
  }
}

TEST_CASE("attach: an unknown state is a problem, and the table is judged by its entries") {
  running_job job;
  job.starter.set("MPIR_debug_state", 9);
  const auto todo = expect(job.a.at_attach(job.starter.as_target()));
  CHECK(steps(todo) == with({"problem", "report 2"}, taking_hold));
  CHECK(std::get<report_problem>(todo[0]).what.message ==
        "MPIR_debug_state is 9 in the running starter: MPIR 1.1, 9.6, knows 0, 1 and 2");
}

TEST_CASE("attach: a rank that maps the starter's library is recognised, and nothing is written or planted") {
  running_job job;
  job.starter.set("MPIR_debug_state", 0);
  job.starter.set("MPIR_proctable", 0);
  job.starter.set("MPIR_proctable_size", 0);
  SECTION("by what only ranks have") {
    const std::string name = GENERATE("MPIR_debug_gate", "MPIR_debug_typedefs_sizeof", "mpimsgq_dll_locations");
    INFO(name);
    job.starter.variable(name, 4);
    CHECK(job.attach() == words{"await 0 of 0, a rank"});
  }
  SECTION("by the missing mark of a starter that is no rank") {
    job.starter.symbols.remove("MPIR_i_am_starter");
    CHECK(job.attach() == words{"await 0 of 0, a rank"});
  }
  CHECK(expect(job.a.before_detach(job.starter.as_target())).empty());
}

TEST_CASE("attach: look_again treats a process that looked like a rank as a starter") {
  running_job job;
  job.starter.variable("MPIR_debug_gate", 4);
  job.starter.set("MPIR_proctable_size", 0);
  job.starter.set("MPIR_debug_state", 0);
  CHECK(job.attach() == words{"await 0 of 0, a rank"});
  CHECK(job.look_again() == with(taking_hold, {"await 0 of 0"}));
  job.starter.set("MPIR_proctable_size", 2);
  CHECK(job.look_again() == words{"report 2"});
}

TEST_CASE("attach: a starter that is rank 0 has a table, and is acquired") {
  running_job job;
  job.starter.variable("MPIR_debug_gate", 4);
  job.starter.symbols.remove("MPIR_i_am_starter");
  CHECK(job.attach() == with({"report 2"}, taking_hold));
  CHECK(job.a.facts().starter_is_rank);
}

TEST_CASE("attach: nothing is written into a process that lacks a required symbol") {
  running_job job;
  job.starter.symbols.remove("MPIR_Breakpoint");
  CHECK(job.attach() == words{"modules"});
  CHECK(job.look_again().empty());
  CHECK(steps(expect(job.a.modules_changed(job.starter.as_target()))) == words{"modules"});
  job.starter.symbols.define("MPIR_Breakpoint", target_address{0x12340});
  CHECK(steps(expect(job.a.modules_changed(job.starter.as_target()))) == with({"report 2"}, taking_hold));
  CHECK(expect(job.a.modules_changed(job.starter.as_target())).empty());
}

TEST_CASE("attach: unreadable variables are problems, and the acquisition does not wait for them") {
  running_job job;
  SECTION("the state") {
    job.starter.variable("MPIR_debug_state", 16, 3);
  }
  SECTION("the size") {
    job.starter.symbols.define("MPIR_proctable_size", target_address{0x77777000}, 4);
  }
  SECTION("the table") {
    job.starter.variable("MPIR_proctable", 240);
  }
  CHECK(job.attach() == with({"problem"}, taking_hold));
}

TEST_CASE("attach: a layout that the data contradict is a problem if the starter declared the table complete") {
  running_job job;
  job.starter.publish({{target_address{1}, target_address{2}, -3}});
  CHECK(job.attach() == with({"problem"}, taking_hold));
}

TEST_CASE("attach: a process that has gone is an error") {
  running_job job;
  job.starter.memory.process_gone = true;
  CHECK(job.a.at_attach(job.starter.as_target()).error().code == error_code::process_gone);
  job.starter.memory.process_gone = false;
  job.starter.set("MPIR_proctable_size", 0);
  (void)job.attach();
  job.starter.memory.process_gone = true;
  CHECK(job.a.look_again(job.starter.as_target()).error().code == error_code::process_gone);
}

TEST_CASE("attach: a core file is read, and no action is requested") {
  running_job job;
  target core = job.starter.as_target();
  core.writer = nullptr;
  SECTION("with a table, however unfinished") {
    job.starter.set("MPIR_debug_state", 0);
    job.starter.publish({{job.host, job.app, 41}, {job.host, {}, 42}});
    CHECK(steps(expect(job.a.at_attach(core))) == words{"report 2"});
  }
  SECTION("without a table") {
    job.starter.set("MPIR_proctable", 0);
    const auto todo = expect(job.a.at_attach(core));
    CHECK(only<report_problem>(todo).what.code == error_code::not_found);
  }
  SECTION("aborted") {
    job.starter.set("MPIR_debug_state", 2);
    CHECK(steps(expect(job.a.at_attach(core))) == words{"report 2", "abort -"});
  }
  SECTION("without the symbols") {
    job.starter.symbols.remove("MPIR_proctable");
    CHECK(expect(job.a.at_attach(core)).empty());
    CHECK(job.a.symbols()->missing() == std::vector<std::string_view>{"MPIR_proctable"});
  }
  CHECK(expect(job.a.before_detach(core)).empty());
}

TEST_CASE("an exec of an attached starter restarts the acquisition as a launch") {
  running_job job;
  (void)job.attach();
  job.starter.set("MPIR_proctable_size", 0);
  CHECK(steps(expect(job.a.at_entry(job.starter.as_target()))) == taking_hold);
  CHECK(job.a.table() == nullptr);
}

TEST_CASE("a watch of MPIR_debug_state replaces a breakpoint that is never reached") {
  running_job job;
  job.starter.set("MPIR_debug_state", 0);
  job.starter.set("MPIR_proctable_size", 0);
  job.a = acquisition({{}, {}, true});
  const auto state_at = (*find_symbols(job.starter.symbols))[known::debug_state]->address();
  const auto written = [&] { return steps(expect(job.a.at_state_written(job.starter.as_target()))); };
  CHECK(job.a.at_state_written(job.starter.as_target()).error().code == error_code::invalid_argument);

  const auto todo = expect(job.a.at_entry(job.starter.as_target()));
  CHECK(steps(todo) == with(taking_hold, {"watch"}));
  CHECK(std::get<watch_variable>(todo[2]).address == state_at);
  CHECK(std::get<watch_variable>(todo[2]).length == 4);
  CHECK(written().empty());  // state 0

  job.starter.set("MPIR_debug_state", 1);
  SECTION("the table is there: it is reported, and not again at the breakpoint") {
    job.starter.set("MPIR_proctable_size", 2);
    CHECK(written() == words{"report 2"});
    CHECK(job.at_breakpoint().empty());
    CHECK(written().empty());
  }
  SECTION("the table comes after the state") {
    CHECK(written() == words{"await 0 of 0"});
    job.starter.set("MPIR_proctable_size", 2);
    CHECK(job.look_again() == words{"report 2"});
  }
  SECTION("it grows") {
    job.starter.set("MPIR_proctable_size", 1);
    CHECK(written() == words{"report 1"});
    job.starter.set("MPIR_proctable_size", 2);
    CHECK(written() == words{"report 2"});
  }
  SECTION("an abort is told once") {
    job.starter.set("MPIR_debug_state", 2);
    CHECK(written() == words{"abort -"});
    CHECK(job.at_breakpoint().empty());
  }
  const auto letting_go = expect(job.a.before_detach(job.starter.as_target()));
  CHECK(steps(letting_go) == words{"write MPIR_being_debugged", "unwatch", "lift"});
  CHECK(std::get<unwatch_variable>(letting_go[1]).address == state_at);
}
