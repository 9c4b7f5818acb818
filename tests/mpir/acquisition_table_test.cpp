// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The state machine at MPIR_DEBUG_SPAWNED: the table, its layout, the job's ids.
#include "catch.hpp"
#include "fake_target.hpp"
#include "mpiacq/mpir/mpir_acquisition.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using namespace mpiacq::mpir;

namespace {

/// A starter with two ranks, and an acquisition at its breakpoint.
struct spawned_job {
  explicit spawned_job(const target_abi& abi = lp64_little) : starter(abi) {
    starter.define_interface();
    host = starter.string("n1");
    app = starter.string("/path/a.out");
    starter.publish({{host, app, 41}, {host, app, 42}});
  }
  std::vector<action> at_breakpoint() {
    if (a.symbols() == nullptr) REQUIRE(a.at_entry(starter.as_target()).has_value());
    auto got = a.at_breakpoint(starter.as_target());
    if (!got) FAIL(got.error().message);
    return std::move(*got);
  }
  const process_table& reported() {
    const auto todo = at_breakpoint();
    REQUIRE(todo.size() == 1);
    REQUIRE(std::holds_alternative<report_processes>(todo[0]));
    return *a.table();
  }
  error problem() {
    const auto todo = at_breakpoint();
    REQUIRE(todo.size() == 1);
    REQUIRE(std::holds_alternative<report_problem>(todo[0]));
    return std::get<report_problem>(todo[0]).what;
  }

  fake_starter starter;
  target_address host, app;
  acquisition a;
};

}  // namespace

TEST_CASE("spawned: the table by its own layout from debug information") {
  for (const target_abi& abi : every_abi) {
    INFO(abi_title(abi));
    spawned_job job(abi);
    const std::uint64_t p = abi.pointer_size;
    job.starter.layout.size = 4 * p;
    job.starter.layout.members[0].offset = 3 * p;  // host_name last
    job.starter.publish({{job.host, job.app, 41}, {job.host, job.app, 42}});
    job.starter.symbols.layout = job.starter.layout;
    const process_table& table = job.reported();
    REQUIRE(table.size() == 2);
    CHECK(table.host_name(entry_index{1}) == "n1");
    CHECK(table.executable_name(entry_index{0}) == "/path/a.out");
    CHECK(table.pid(entry_index{1}) == process_id{42});
    CHECK(job.a.layout()->source == layout_source::dwarf);
    CHECK(job.starter.symbols.asked_variable == "MPIR_proctable");
    CHECK(job.starter.symbols.asked_near == "MPIR_Breakpoint");
  }
}

TEST_CASE("spawned: without debug information the layout is inferred and checked") {
  for (const target_abi& abi : every_abi) {
    INFO(abi_title(abi));
    spawned_job job(abi);
    CHECK(job.reported().size() == 2);
    CHECK(job.a.layout()->source == layout_source::inferred);
    CHECK(job.a.layout()->module_path == "/usr/lib/libstarter.so");
  }
}

TEST_CASE("an inferred layout that the data contradict: the error names the entry and the debug file to install") {
  spawned_job job;
  job.starter.layout.size = 32;
  job.starter.publish({{job.host, job.app, 41}, {job.host, job.app, 42}, {job.host, job.app, 43}});
  const error e = job.problem();
  CHECK(e.code == error_code::bad_format);
  CHECK(e.path == "/usr/lib/libstarter.so");
  CHECK_THAT(e.message,
             ContainsSubstring("entry 1 of the process table, at 0x4000018, contradicts") &&
                 ContainsSubstring("/usr/lib/libstarter.so has no debug information for MPIR_proctable") &&
                 ContainsSubstring("install the one for build id abcdef (/usr/lib/debug/.build-id/ab/cdef.debug)"));
  CHECK(job.a.table() == nullptr);
  CHECK(job.a.layout() == nullptr);

  job.starter.symbols.home->build_id.clear();
  CHECK_THAT(
      job.problem().message,
      ContainsSubstring("/usr/lib/libstarter.so has no build id: it takes a build of it with debug information"));
}

TEST_CASE("unreadable debug information is reported, and the layout is inferred") {
  spawned_job job;
  job.starter.symbols.layout_error = error{error_code::bad_format, "libstarter.so: .debug_info ends early"};
  const auto todo = job.at_breakpoint();
  REQUIRE(todo.size() == 2);
  CHECK(std::get<report_problem>(todo[0]).what.message ==
        "looking for the type of MPIR_proctable: libstarter.so: .debug_info ends early");
  CHECK(std::get<report_processes>(todo[1]).table->size() == 2);
  job.starter.symbols.layout_error = error{error_code::process_gone, "gone"};
  CHECK(job.a.at_breakpoint(job.starter.as_target()).error().code == error_code::process_gone);
}

TEST_CASE("debug information that lacks a field is a problem that names the field") {
  spawned_job job;
  job.starter.symbols.layout = job.starter.layout;
  job.starter.symbols.layout->members.pop_back();
  CHECK(job.problem().message ==
        "the process descriptor's structure MPIR_PROCDESC (dwarf, /usr/lib/libstarter.so) has no member pid: MPIR 1.1, "
        "9.2, requires host_name, executable_name and pid");
}

TEST_CASE("a table is reported once, and again when it has grown or changed") {
  spawned_job job;
  CHECK(job.reported().size() == 2);
  CHECK(job.at_breakpoint().empty());
  job.starter.publish({{job.host, job.app, 41}, {job.host, job.app, 42}, {job.host, job.app, 43}});
  CHECK(job.reported().size() == 3);
  job.starter.publish({{job.host, job.app, 41}, {job.host, job.app, 42}, {job.host, job.app, 99}});
  CHECK(job.reported().pid(entry_index{2}) == process_id{99});
  CHECK(job.at_breakpoint().empty());
  job.starter.publish({{job.host, job.app, 41}, {job.host, job.app, 42}, {job.host, job.app, 99}},
                      target_address{0x6000000});  // moved by realloc: the same processes
  CHECK(job.at_breakpoint().empty());
  job.starter.set("MPIR_debug_state", 0);
  CHECK(job.at_breakpoint().empty());
}

TEST_CASE("a size of 0 is an empty table, a negative one also a problem") {
  spawned_job job;
  job.starter.set("MPIR_proctable_size", 0);
  CHECK(job.reported().empty());
  CHECK(job.at_breakpoint().empty());
  job.starter.set("MPIR_proctable_size", -3);
  const error e = job.problem();
  CHECK(e.code == error_code::bad_format);
  CHECK(e.message == "MPIR_proctable_size is -3 at the spawn event: the table counts as empty");
  job.starter.set("MPIR_proctable_size", 2);
  CHECK(job.reported().size() == 2);

  spawned_job negative;
  negative.starter.set("MPIR_proctable_size", INT32_MIN);
  const auto todo = negative.at_breakpoint();
  REQUIRE(todo.size() == 2);
  CHECK(std::holds_alternative<report_problem>(todo[0]));
  CHECK(std::get<report_processes>(todo[1]).table->empty());
}

TEST_CASE("a null table with a size, and a table at an unmapped address, are problems") {
  spawned_job job;
  job.starter.set("MPIR_proctable", 0);
  CHECK(job.problem().message == "MPIR_proctable is null at the spawn event, though MPIR_proctable_size is 2");
  job.starter.set("MPIR_proctable", 0x7000);
  CHECK(job.problem().code == error_code::unreadable_memory);
  CHECK(job.problem().address == target_address{0x7000});
}

TEST_CASE("a size larger than memory: the readable entries and the shortfall are reported") {
  spawned_job job;
  job.starter.set("MPIR_proctable_size", INT32_MAX);
  const auto todo = job.at_breakpoint();
  REQUIRE(todo.size() == 2);
  CHECK_THAT(std::get<report_problem>(todo[0]).what.message, ContainsSubstring("claims 2147483647 entries"));
  CHECK(std::get<report_processes>(todo[1]).table->size() == 2);
}

TEST_CASE("a size beyond the limit is a problem that names the limit") {
  spawned_job job;
  table_limits limits;
  limits.max_entries = 1;
  job.a = acquisition({limits, {}, false});
  const auto todo = job.at_breakpoint();
  REQUIRE(todo.size() == 2);
  CHECK_THAT(std::get<report_problem>(todo[0]).what.message, ContainsSubstring("table_limits::max_entries"));
  CHECK(std::get<report_processes>(todo[1]).table->size() == 1);
}

TEST_CASE("variables of 8 bytes and of unknown size") {
  spawned_job job(lp64_big);
  job.starter.variable("MPIR_debug_state", 8);
  job.starter.variable("MPIR_proctable_size", 8);
  job.starter.variable("MPIR_proctable", 8, 0);
  job.starter.publish({{job.host, job.app, 41}});
  CHECK(job.reported().size() == 1);
}

TEST_CASE("job and step ids, as pointers and as arrays") {
  for (const target_abi& abi : every_abi) {
    INFO(abi_title(abi));
    spawned_job job(abi);
    const auto id = job.starter.string("4711");
    job.starter.variable("totalview_jobid", abi.pointer_size);
    job.starter.set("totalview_jobid", static_cast<std::int64_t>(id.value()));
    const auto step = job.starter.variable("totalview_stepid", 20);
    REQUIRE(job.starter.memory.write(step, std::as_bytes(std::span("12", 3))).has_value());
    job.starter.publish({{job.host, job.app, 41}});
    REQUIRE(job.a.at_entry(job.starter.as_target()).has_value());
    CHECK_FALSE(job.a.facts().job_id.has_value());
    (void)job.reported();
    CHECK(job.a.facts().job_id == "4711");
    CHECK(job.a.facts().step_id == "12");
  }
}

TEST_CASE("job ids that are null, full arrays, or unreadable") {
  spawned_job job;
  job.starter.variable("totalview_stepid", 8);  // null: none
  const auto full = job.starter.variable("totalview_jobid", 4);
  REQUIRE(job.starter.memory.write(full, std::as_bytes(std::span("1234", 4))).has_value());
  (void)job.reported();
  CHECK(job.a.facts().job_id == "1234");
  CHECK_FALSE(job.a.facts().step_id.has_value());

  job.starter.set("totalview_stepid", 0x30);
  job.starter.publish({{job.host, job.app, 50}});
  const auto todo = job.at_breakpoint();
  REQUIRE(todo.size() == 2);
  CHECK_THAT(std::get<report_problem>(todo[0]).what.message, ContainsSubstring("reading totalview_stepid"));
  CHECK(std::get<report_processes>(todo[1]).table->pid(entry_index{0}) == process_id{50});
}

TEST_CASE("bad fields of a table are the table's own, not the event's") {
  spawned_job job;
  job.starter.publish({{job.host, job.app, 41}, {target_address{0x10}, job.app, 42}, {job.host, job.app, 43}});
  CHECK(job.reported().problem_count() == 1);
}
