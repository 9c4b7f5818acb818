// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Judges on made-up observations: a starter that conforms, then one deviation at a time. fixtures_test.cpp has the
// deviations that fixtures can show; this file also has the others.
#include <functional>

#include "catch.hpp"
#include "fake_target.hpp"
#include "mpiacq/check/check.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using check::observations;
using check::verdict;
using mpir::known;

namespace {

std::shared_ptr<const process_table> table_of(const std::vector<std::pair<std::string, std::int64_t>>& processes) {
  fake_starter starter;
  std::vector<fake_entry> entries;
  const target_address program = starter.string("/bin/app");
  for (const auto& [host, pid] : processes) entries.push_back({starter.string(host), program, pid});
  starter.put_table(entries);
  auto table = read_process_table(starter.memory, starter.abi, starter.layout, fake_starter::table, entries.size());
  return std::make_shared<const process_table>(std::move(*table));
}

variable_type type(type_kind kind, std::string type_name, std::uint64_t size, bool is_volatile = false) {
  variable_type t;
  t.kind = kind;
  t.name = std::move(type_name);
  t.size = size;
  t.is_volatile = is_volatile;
  return t;
}

variable_type pointer_to(type_kind kind, std::string name, std::uint64_t size) {
  variable_type t = type(type_kind::pointer, "", 8);
  t.inner_kind = kind;
  t.inner_name = std::move(name);
  t.inner_size = size;
  return t;
}

void define(observations& o, known k, std::uint64_t size, std::optional<variable_type> declared,
            symbol_kind kind = symbol_kind::data) {
  const std::string name(mpir::known_symbols()[static_cast<std::size_t>(k)].name);
  o.defined.symbols[static_cast<std::size_t>(k)] = check::seen_symbol{name, "/bin/mpirun", size, kind, declared};
}
check::seen_symbol& symbol_of(observations& o, known k) {
  return *o.defined.symbols[static_cast<std::size_t>(k)];
}
void undefine(observations& o, known k) {
  o.defined.symbols[static_cast<std::size_t>(k)].reset();
}

/// Two processes of this node, in MPI_Init, that go on with the starter.
observations whole() {
  observations o;
  o.looked = true;
  o.starter = process_id{100};
  o.executable = o.defined.home = "/bin/mpirun";
  o.defined.abi = lp64_little;
  o.defined.descriptor = structure_layout{
      "MPIR_PROCDESC",
      24,
      {{"host_name", 0, 8, true, false}, {"executable_name", 8, 8, true, false}, {"pid", 16, 4, false, true}},
      layout_source::dwarf,
      "/bin/mpirun",
      ""};
  const auto integer = type(type_kind::integer, "int", 4);
  const auto shared_integer = type(type_kind::integer, "int", 4, true);
  define(o, known::breakpoint, 1, std::nullopt, symbol_kind::function);
  define(o, known::debug_state, 4, shared_integer);
  define(o, known::being_debugged, 4, shared_integer);
  define(o, known::proctable, 8, pointer_to(type_kind::structure, "MPIR_PROCDESC", 24));
  define(o, known::proctable_size, 4, integer);
  define(o, known::i_am_starter, 4, integer);
  define(o, known::partial_attach_ok, 4, integer);
  o.initially = {0, 0};

  check::stop_seen stop;
  stop.debug_state = 1;
  stop.being_debugged = 1;
  stop.proctable_size = 2;
  stop.proctable = fake_starter::table;
  stop.table = table_of({{"n1", 201}, {"n1", 202}});
  stop.hosts = stop.executables = {1, 1};
  o.stops.push_back(stop);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    check::rank_seen r;
    r.rank = rank;
    r.pid = process_id{static_cast<std::int64_t>(201 + rank)};
    r.alive = true;
    r.executable = "/bin/app";
    r.runs_what_it_should = true;
    r.at_spawn = check::place::in_mpi_init;
    r.own_rank = static_cast<std::int64_t>(rank);
    r.own_world_size = 2;
    r.own_rank_variable = "PMI_RANK";
    r.defines_i_am_starter = false;
    r.went_on = check::rank_seen::progress::with_starter;
    o.ranks.push_back(r);
  }
  o.ranks_on_node = 2;
  o.hosts = {{"n1", check::host_seen::how::resolved}};
  o.ended = exit_status{false, 0, false};
  return o;
}

check::finding judge_one(const observations& o, std::string_view id) {
  for (const check::judgement& j : check::judge(o)) {
    if (j.rule->id == id) return j.result;
  }
  FAIL("no clause " << id);
  return {};
}

struct variation {
  const char* clause;
  verdict expected;
  const char* saw;
  std::function<void(observations&)> change;
};

void add_fifo(observations& o) {
  define(o, known::attach_fifo, 256, std::nullopt);
  o.fifo = check::fifo_seen{"/run/fifo", true, true, true, true, true, false};
}
void add_abort(observations& o, std::optional<std::string> reason) {
  define(o, known::debug_abort_string, 8, pointer_to(type_kind::integer, "char", 1));
  check::stop_seen stop;
  stop.debug_state = 2;
  stop.being_debugged = 1;
  stop.abort_string = std::move(reason);
  o.stops.push_back(stop);
}
void add_gates(observations& o, check::rank_seen::progress progress) {
  for (check::rank_seen& r : o.ranks) {
    r.gate = check::seen_symbol{"MPIR_debug_gate", "/bin/app", 4, symbol_kind::data, {}};
    r.gate_value = 0;
    r.gate_opened = true;
    r.went_on = progress;
  }
}
void no_types(observations& o) {
  for (auto& s : o.defined.symbols) {
    if (s) s->type.reset();
  }
  o.defined.descriptor.reset();
}

const std::vector<variation>& variations() {
  using progress = check::rank_seen::progress;
  using how = check::host_seen::how;
  static const std::vector<variation> all = {
      {"3.2", verdict::not_applicable, "no symbol table",
       [](auto& o) {
         o.defined.symbols = {};
         o.defined.home_has_symbol_table = false;
       }},
      {"4.1a", verdict::fail, "MPIR_proctable_size", [](auto& o) { symbol_of(o, known::proctable_size).type.reset(); }},
      {"4.1a", verdict::not_applicable, "4.1c",
       [](auto& o) {
         no_types(o);
         o.defined.home_has_symbol_table = false;
       }},
      {"4.1c", verdict::fail, "build id abcd",
       [](auto& o) {
         o.defined.home_has_symbol_table = false;
         o.defined.home_build_id = "abcd";
       }},
      {"4.1c", verdict::fail, "/usr/lib/debug/mpirun.debug",
       [](auto& o) {
         auto& declared = *symbol_of(o, known::debug_state).type;
         declared.source = layout_source::debug_file;
         declared.debug_file = "/usr/lib/debug/mpirun.debug";
       }},
      {"4.1c", verdict::not_applicable, "4.1a", no_types},
      {"6.1a", verdict::not_applicable, "9.9b", [](auto& o) { o.stops.clear(); }},
      {"6.1a", verdict::not_applicable, "aborted",
       [](auto& o) {
         o.stops.clear();
         add_abort(o, "why");
       }},
      {"6.2a", verdict::fail, "rank 1:", [](auto& o) { o.ranks[1].at_spawn = check::place::past_init; }},
      {"6.2a", verdict::pass, "1 in MPI_Init, 1 before it",
       [](auto& o) { o.ranks[1].at_spawn = check::place::before_init; }},
      {"6.2a", verdict::not_applicable, "no MPI program",
       [](auto& o) { o.ranks[0].at_spawn = o.ranks[1].at_spawn = check::place::no_mpi; }},
      {"6.2a", verdict::not_applicable, "could not be seen",
       [](auto& o) { o.ranks[0].at_spawn = o.ranks[1].at_spawn = check::place::unknown; }},
      {"6.2a", verdict::not_applicable, "could not be seen", [](auto& o) { o.ranks.clear(); }},
      {"6.2b", verdict::fail, "all 2", [](auto& o) { undefine(o, known::partial_attach_ok); }},
      {"6.2b", verdict::pass, "MPIR_debug_gate",
       [](auto& o) {
         undefine(o, known::partial_attach_ok);
         add_gates(o, progress::with_gate);
       }},
      {"6.2b", verdict::not_applicable, "not gone on",
       [](auto& o) {
         undefine(o, known::partial_attach_ok);
         o.ranks[1].went_on = progress::none;
       }},
      {"6.2c", verdict::not_applicable, "9.13", [](auto& o) { add_gates(o, progress::with_gate); }},
      {"7.1a", verdict::fail, "MPIR_server_arguments is defined without",
       [](auto& o) { define(o, known::server_arguments, 1024, std::nullopt); }},
      {"7.1b", verdict::fail, "no process",
       [](auto& o) {
         o.daemon = check::daemon_seen{"/bin/d", {"-x"}, 0, 0};
       }},
      {"7.1b", verdict::fail, "not with the arguments",
       [](auto& o) {
         o.daemon = check::daemon_seen{"/bin/d", {"-x"}, 1, 0};
       }},
      {"7.1b", verdict::pass, "1 of them",
       [](auto& o) {
         o.daemon = check::daemon_seen{"/bin/d", {"-x"}, 1, 1};
       }},
      {"7.2a", verdict::not_applicable, "could not be seen",
       [](auto& o) {
         add_fifo(o);
         o.fifo->waited_on.reset();
       }},
      {"7.2b", verdict::not_applicable, "had not ended",
       [](auto& o) {
         add_fifo(o);
         o.fifo->left_behind.reset();
       }},
      {"7.2b", verdict::fail, "/run/fifo",
       [](auto& o) {
         add_fifo(o);
         o.fifo->left_behind = true;
       }},
      {"9.17b", verdict::pass, "/run/fifo", add_fifo},
      {"9.17b", verdict::fail, "no such file",
       [](auto& o) {
         add_fifo(o);
         o.fifo->exists = o.fifo->is_fifo = false;
       }},
      {"9.17b", verdict::fail, "does not belong",
       [](auto& o) {
         add_fifo(o);
         o.fifo->owned_by_starters_owner = false;
       }},
      {"9.17b", verdict::fail, "may not write",
       [](auto& o) {
         add_fifo(o);
         o.fifo->writable_by_owner = false;
       }},
      {"9.17b", verdict::not_applicable, "empty", [](auto& o) { define(o, known::attach_fifo, 256, std::nullopt); }},
      {"8", verdict::not_applicable, "could not be read", [](auto& o) { o.initially.proctable_size.reset(); }},
      {"9.1", verdict::not_applicable, "4.1", no_types},
      {"9.1", verdict::fail, "MPIR_debug_gate of rank 0",
       [](auto& o) {
         add_gates(o, progress::with_gate);
         o.ranks[0].gate->type = type(type_kind::integer, "int", 4);
       }},
      {"9.2a", verdict::fail, "void *",
       [](auto& o) {
         symbol_of(o, known::proctable).type = pointer_to(type_kind::other, "", 0);
         o.defined.descriptor.reset();
       }},
      {"9.2b", verdict::fail, "no member pid", [](auto& o) { o.defined.descriptor->members.pop_back(); }},
      {"9.2b", verdict::fail, "host_name is no pointer",
       [](auto& o) { o.defined.descriptor->members[0].is_pointer = false; }},
      {"9.2b", verdict::fail, "pid is a pointer", [](auto& o) { o.defined.descriptor->members[2].is_pointer = true; }},
      {"9.2b", verdict::pass, "pid at 16", [](auto& o) { o.defined.descriptor->members[2].size = 8; }},
      {"9.2c", verdict::fail, "2 bytes", [](auto& o) { o.defined.descriptor->members[2].size = 2; }},
      {"9.2d", verdict::not_applicable, "no table", [](auto& o) { o.stops.clear(); }},
      {"9.2e", verdict::fail, "\"n2\"",
       [](auto& o) {
         o.hosts.push_back({"n2", how::unknown});
       }},
      {"9.2e", verdict::not_applicable, "n2",
       [](auto& o) {
         o.hosts.push_back({"n2", how::no_answer});
       }},
      {"9.2e", verdict::pass, "42",
       [](auto& o) {
         o.hosts = {{"42", how::node_number}};
       }},
      {"9.2h", verdict::fail, "rank 1 (pid 202) runs /bin/sh",
       [](auto& o) {
         o.ranks[1].runs_what_it_should = false;
         o.ranks[1].executable = "/bin/sh";
       }},
      {"9.2h", verdict::pass, "1 of the 2", [](auto& o) { o.ranks[1].runs_what_it_should.reset(); }},
      {"9.2i", verdict::fail, "rank 1", [](auto& o) { o.ranks[1].alive = false; }},
      {"9.2i", verdict::fail, "pid",
       [](auto& o) {
         o.stops[0].table = table_of({{"n1", 201}, {"n1", -1}});
       }},
      {"9.2i", verdict::pass, "none is of this node", [](auto& o) { o.ranks.clear(); }},
      {"9.2j", verdict::fail, "2 strings for 1",
       [](auto& o) {
         o.stops[0].executables = {2, 1};
       }},
      {"9.3a", verdict::not_applicable, "need not", [](auto& o) { undefine(o, known::being_debugged); }},
      {"9.3a", verdict::fail, "8 bytes", [](auto& o) { define(o, known::being_debugged, 8, std::nullopt); }},
      {"9.3a", verdict::pass, "unsigned",
       [](auto& o) { define(o, known::being_debugged, 4, type(type_kind::integer, "unsigned int", 4, true)); }},
      {"9.3b", verdict::fail, "it was 0", [](auto& o) { o.stops[0].being_debugged = 0; }},
      {"9.4a", verdict::fail, "neither /bin/mpirun", [](auto& o) { undefine(o, known::proctable); }},
      {"9.4a", verdict::fail, "char *",
       [](auto& o) { symbol_of(o, known::proctable).type = pointer_to(type_kind::integer, "char", 1); }},
      {"9.4b", verdict::fail, "entry 1 (pid 202) is rank 0 by its own PMI_RANK",
       [](auto& o) { o.ranks[1].own_rank = 0; }},
      {"9.4b", verdict::not_applicable, "environment",
       [](auto& o) { o.ranks[0].own_rank = o.ranks[1].own_rank = std::nullopt; }},
      {"9.4c", verdict::fail, "entries 0 and 2 are the same process (pid 201), and 1 more are",
       [](auto& o) {
         o.stops[0].table = table_of({{"n1", 201}, {"n1", 202}, {"n1", 201}, {"n1", 202}});
       }},
      {"9.4c", verdict::pass, "different",
       [](auto& o) {
         o.stops[0].table = table_of({{"n1", 201}, {"n2", 201}});
       }},
      {"9.5b", verdict::fail, "-4", [](auto& o) { o.stops[0].proctable_size = -4; }},
      {"9.5b", verdict::fail, "told that there are 3", [](auto& o) { o.ranks[1].own_world_size = 3; }},
      {"9.6b", verdict::fail, "it is 1", [](auto& o) { o.initially.debug_state = 1; }},
      {"9.6c", verdict::fail, "could not be read", [](auto& o) { o.stops[0].debug_state.reset(); }},
      {"9.6c", verdict::fail, "-1", [](auto& o) { o.stops[0].debug_state = -1; }},
      {"9.6d", verdict::fail, "null", [](auto& o) { o.stops[0].proctable = target_address{}; }},
      {"9.6d", verdict::fail, "no such page",
       [](auto& o) {
         o.stops[0].table.reset();
         o.stops[0].table_problem = "no such page";
       }},
      {"9.6e", verdict::fail, "lost or changed",
       [](auto& o) {
         o.stops.push_back(o.stops[0]);
         o.stops[1].table = table_of({{"n1", 201}, {"n1", 203}});
       }},
      {"9.6e", verdict::pass, "1, 1",
       [](auto& o) {
         o.stops.push_back(o.stops[0]);
         o.stops[1].table = table_of({{"n1", 201}, {"n1", 202}, {"n2", 1}});
       }},
      {"9.7b", verdict::pass, "\"rank 2 died\"", [](auto& o) { add_abort(o, "rank 2 died"); }},
      {"9.7b", verdict::fail, "null or empty", [](auto& o) { add_abort(o, std::nullopt); }},
      {"9.7b", verdict::fail, "person can read", [](auto& o) { add_abort(o, "\x01\x02"); }},
      {"9.7b", verdict::fail, "not there",
       [](auto& o) {
         add_abort(o, std::nullopt);
         o.stops.back().abort_problem = "memory is not there";
       }},
      {"9.7b", verdict::not_applicable, "need not",
       [](auto& o) {
         add_abort(o, std::nullopt);
         undefine(o, known::debug_abort_string);
       }},
      {"9.8b", verdict::fail, "rank 1",
       [](auto& o) {
         add_gates(o, progress::with_gate);
         o.ranks[1].gate_value = 1;
       }},
      {"9.8c", verdict::fail, "rank 0",
       [](auto& o) {
         add_gates(o, progress::with_gate);
         o.ranks[0].went_on = progress::none;
       }},
      {"9.8c", verdict::pass, "2 processes", [](auto& o) { add_gates(o, progress::with_gate); }},
      {"9.9b", verdict::not_applicable, "exit status 1",
       [](auto& o) {
         o.stops.clear();
         o.ended = exit_status{false, 1, false};
       }},
      {"9.9b", verdict::not_applicable, "signal 9",
       [](auto& o) {
         o.stops.clear();
         o.ended = exit_status{true, 9, false};
       }},
      {"9.9b", verdict::not_applicable, "let the starter go",
       [](auto& o) {
         o.stops.clear();
         o.ended.reset();
       }},
      {"9.9b", verdict::fail, "had not been called", [](auto& o) { o.stops.clear(); }},
      {"9.10a", verdict::fail, "entry 0", [](auto& o) { undefine(o, known::i_am_starter); }},
      {"9.10a", verdict::fail, "entry 0",
       [](auto& o) {
         undefine(o, known::i_am_starter);
         o.starter_in_table = true;
       }},
      {"9.10a", verdict::pass, "rank 0",
       [](auto& o) {
         undefine(o, known::i_am_starter);
         o.starter_in_table = o.starter_is_entry_0 = true;
       }},
      {"9.10b", verdict::fail, "in the table", [](auto& o) { o.starter_in_table = true; }},
      {"9.10c", verdict::not_applicable, "no process",
       [](auto& o) { o.ranks[0].defines_i_am_starter = o.ranks[1].defines_i_am_starter = std::nullopt; }},
      {"9.11", verdict::fail, "ranks 0 and 1", [](auto& o) { define(o, known::acquired_pre_main, 4, std::nullopt); }},
      {"9.11", verdict::pass, "2 processes",
       [](auto& o) {
         define(o, known::acquired_pre_main, 4, std::nullopt);
         o.ranks[0].at_spawn = o.ranks[1].at_spawn = check::place::before_main;
       }},
      {"9.13", verdict::fail, "MPIR_debug_gate", [](auto& o) { add_gates(o, progress::with_gate); }},
      {"9.13", verdict::not_applicable, "not gone on", [](auto& o) { o.ranks[1].went_on = progress::none; }},
      {"9.15", verdict::pass, "the document has 256 bytes",
       [](auto& o) { define(o, known::executable_path, 512, std::nullopt); }},
      {"9.15", verdict::fail, "array of 256 bytes",
       [](auto& o) { define(o, known::executable_path, 128, std::nullopt); }},
      {"dll", verdict::fail, "no name",
       [](auto& o) {
         o.ranks[0].queue_library = check::seen_symbol{"MPIR_dll_name", "/bin/app", 64, symbol_kind::data, {}};
       }},
      {"MPI2DD", verdict::fail, "version 2",
       [](auto& o) { o.defined.mpi2dd = std::vector<std::uint8_t>{'M', 'P', 'I', '2', 0x7f, 2, 1}; }},
      {"MPI2DD", verdict::fail, "cannot be read", [](auto& o) { o.defined.mpi2dd.emplace(); }},
  };
  return all;
}

}  // namespace

TEST_CASE("a starter that conforms fails no clause") {
  for (const check::judgement& j : check::judge(whole())) {
    INFO(j.rule->id << ": " << j.result.saw);
    CHECK(j.result.what != verdict::fail);
    CHECK_FALSE(j.result.saw.empty());
  }
}

TEST_CASE("one deviation makes the clause that covers it fail") {
  const std::size_t which = GENERATE(range(std::size_t{0}, variations().size()));
  const variation& v = variations()[which];
  observations o = whole();
  v.change(o);
  const check::finding found = judge_one(o, v.clause);
  INFO(v.clause << ": " << found.saw);
  CHECK(found.what == v.expected);
  CHECK_THAT(found.saw, ContainsSubstring(v.saw));
}

TEST_CASE("clauses that need a launch are not judged for an attached starter") {
  observations o = whole();
  o.how = check::mode::attach;
  o.initially = {1, 2};
  for (const char* id : {"6.1a", "6.2a", "8", "9.6b", "9.9b", "9.11", "9.13"}) {
    const check::finding found = judge_one(o, id);
    CHECK(found.what == verdict::not_applicable);
    CHECK_THAT(found.saw, ContainsSubstring("launch"));
  }
  CHECK(judge_one(o, "9.2i").what == verdict::pass);
}
