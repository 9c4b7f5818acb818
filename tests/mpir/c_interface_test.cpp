// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The C interface over fake memory: the answers to a correct caller, and the errors for a careless one.
#include <cstring>
#include <functional>
#include <map>
#include <new>
#include <stdexcept>

#include "catch.hpp"
#include "fake_target.hpp"
#include "mpiacq/mpir/mpir.h"

using namespace mpiacq;
using namespace mpiacq::test;

extern "C" void c_user_drives(const mpiacq_mpir_options* options, const mpiacq_target* target, int attach, char* text,
                              size_t size);

namespace {

/// A fake starter behind C functions.
struct c_starter {
  explicit c_starter(const target_abi& abi = lp64_little) : starter(abi) {
    starter.define_interface();
    given.struct_size = sizeof given;
    given.name = "/usr/bin/starter";
    given.pointer_size = abi.pointer_size;
    given.big_endian = abi.order == byte_order::big;
    given.context = this;
    given.read = [](void* self, mpiacq_range* ranges, size_t count) {
      auto& me = *static_cast<c_starter*>(self);
      if (me.before_reading) me.before_reading();
      if (me.reading_gives != MPIACQ_OK) return me.reading_gives;
      for (size_t i = 0; i < count; ++i) {
        memory_range range{target_address{ranges[i].address},
                           {static_cast<std::byte*>(ranges[i].into), ranges[i].size}};
        REQUIRE(me.starter.memory.read_ranges({&range, 1}).has_value());
        ranges[i].got = range.got + (range.got == ranges[i].size ? me.claims_more : 0);
      }
      return 0;
    };
    given.write = [](void* self, uint64_t address, const void* bytes, size_t size) {
      auto& me = *static_cast<c_starter*>(self);
      if (me.writing_gives != MPIACQ_OK) return me.writing_gives;
      const auto* begin = static_cast<const std::byte*>(bytes);
      return me.starter.memory.write(target_address{address}, {begin, size}) ? 0 : int{MPIACQ_UNREADABLE_MEMORY};
    };
    given.find_symbol = [](void* self, const char* name, mpiacq_symbol* into) {
      auto& me = *static_cast<c_starter*>(self);
      ++me.asked[name];
      if (me.finding_gives < 0) return me.finding_gives;
      const auto found = me.starter.symbols.find_symbol(name).value();
      if (!found) return 0;
      *into = {found->address().value(), me.tells_sizes ? found->size : 0};
      return 1;
    };
  }

  void tell_layout() {
    given.descriptor_layout = [](void* self, mpiacq_layout* into) {
      const structure_layout& layout = static_cast<c_starter*>(self)->starter.layout;
      *into = {into->struct_size,
               layout.size,
               layout.find("host_name")->offset,
               layout.find("executable_name")->offset,
               layout.find("pid")->offset,
               layout.find("pid")->size};
      return 1;
    };
  }
  void publish() {
    const auto host = starter.string("n1"), app = starter.string("/a.out");
    starter.publish({{host, app, 41}, {host, app, 42}});
  }

  std::string drive(bool attach = false, const mpiacq_mpir_options* options = nullptr) {
    std::string text(8192, '\0');
    c_user_drives(options, &given, attach ? 1 : 0, text.data(), text.size());
    return text.c_str();
  }

  fake_starter starter;
  mpiacq_target given{};
  std::map<std::string, int> asked;
  std::function<void()> before_reading;
  int reading_gives = MPIACQ_OK;
  int writing_gives = MPIACQ_OK;
  int finding_gives = 0;
  std::size_t claims_more = 0;
  bool tells_sizes = true;
};

struct handle {
  handle() { REQUIRE(mpiacq_mpir_create(nullptr, &m) == MPIACQ_OK); }
  ~handle() { mpiacq_mpir_destroy(m); }
  handle(const handle&) = delete;
  handle& operator=(const handle&) = delete;
  mpiacq_mpir* m = nullptr;
};

const std::string let_go = "write MPIR_being_debugged 4 bytes\nlift 0x12340\n";

}  // namespace

TEST_CASE("C: a launch, in every width and order, with types and without") {
  for (const target_abi& abi : every_abi) {
    INFO(abi_title(abi));
    c_starter c(abi);
    c.publish();
    const std::string begun = "write MPIR_being_debugged 4 bytes\nplant 0x12340\nprocesses\n";
    const std::string table = "rank 0 n1 /a.out 41\nrank 1 n1 /a.out 42\n";
    CHECK(c.drive() == begun + "2 ranks, layout inferred\n" + table + let_go);
    CHECK(c.starter.get("MPIR_being_debugged") == 0);

    c.starter.layout.size += 8;
    c.starter.layout.members[2].offset += 4;
    c.publish();
    c.tell_layout();
    CHECK(c.drive() == begun + "2 ranks, layout dwarf\n" + table + let_go);
  }
}

TEST_CASE("C: symbols without sizes, as gdb has them for a stripped program") {
  c_starter c;
  c.tells_sizes = false;
  c.publish();
  CHECK_THAT(c.drive(), ContainsSubstring("rank 1 n1 /a.out 42"));
}

TEST_CASE("C: attach, with daemons") {
  c_starter c;
  c.publish();
  c.starter.variable("MPIR_executable_path", 256);
  c.starter.variable("MPIR_server_arguments", 1024);
  const auto fifo = c.starter.variable("MPIR_attach_fifo", 256);
  for (std::size_t i = 0; i < 5; ++i) c.starter.poke(fifo + i, "/fifo"[i], 1);
  const char* arguments[] = {"-a", "b c"};
  mpiacq_mpir_options options{};
  options.struct_size = sizeof options;
  options.daemon_path = "/opt/daemon";
  options.daemon_arguments = arguments;
  options.daemon_argument_count = 2;
  CHECK(c.drive(true, &options) ==
        "processes\nwrite MPIR_executable_path 12 bytes\nwrite MPIR_server_arguments 8 bytes\n"
        "write MPIR_being_debugged 4 bytes\nplant 0x12340\nkick /fifo\ndaemons\n"
        "2 ranks, layout inferred\nrank 0 n1 /a.out 41\nrank 1 n1 /a.out 42\n"
        "write MPIR_being_debugged 4 bytes\nwrite MPIR_server_arguments 8 bytes\n"
        "write MPIR_executable_path 12 bytes\nlift 0x12340\n");

  options.daemon_argument_count = 1;
  arguments[0] = nullptr;
  CHECK_THAT(c.drive(true, &options), ContainsSubstring("problem 1 the daemon's argument 1 is empty"));
}

TEST_CASE("C: an abort, a table with faults, a core file") {
  c_starter c;
  c.starter.variable("MPIR_debug_abort_string", 8);
  const auto why = c.starter.string("it ends");
  const auto host = c.starter.string("n1");
  c.starter.publish({{host, host, 41}, {host, {}, -5}, {host, host, 43}});
  c.starter.set("MPIR_debug_abort_string", static_cast<std::int64_t>(why.value()));
  c.starter.set("MPIR_debug_state", 2);
  c.given.write = nullptr;
  CHECK(c.drive(true) ==
        "processes\nabort it ends\n3 ranks, layout inferred\nrank 0 n1 n1 41\nrank 1 n1 ? -5\nrank 2 n1 n1 43\n"
        "of rank 1: executable_name of rank 1: the pointer is null\n"
        "of rank 1: pid of rank 1: -5 is no process id\n");
}

TEST_CASE("C: a rank gets the writes of the state machine") {
  c_starter c;
  c.starter.variable("MPIR_debug_gate", 4);
  const handle h;
  REQUIRE(mpiacq_mpir_at_attach(h.m, &c.given) == MPIACQ_OK);
  mpiacq_action action{};
  action.struct_size = sizeof action;
  REQUIRE(mpiacq_mpir_action(h.m, 0, &action) == MPIACQ_OK);
  CHECK(action.kind == MPIACQ_AWAIT_TABLE);
  CHECK(action.looks_like_rank == 1);
  CHECK(mpiacq_mpir_action(h.m, 1, &action) == MPIACQ_NOT_FOUND);

  REQUIRE(mpiacq_mpir_rank_attached(h.m, &c.given) == MPIACQ_OK);
  REQUIRE(mpiacq_mpir_carry_out_writes(h.m, &c.given) == MPIACQ_OK);
  CHECK(c.starter.get("MPIR_being_debugged") == 1);
  REQUIRE(mpiacq_mpir_rank_release(h.m, &c.given) == MPIACQ_OK);
  REQUIRE(mpiacq_mpir_carry_out_writes(h.m, &c.given) == MPIACQ_OK);
  CHECK(c.starter.get("MPIR_debug_gate") == 1);
  REQUIRE(mpiacq_mpir_rank_before_detach(h.m, &c.given) == MPIACQ_OK);
  REQUIRE(mpiacq_mpir_carry_out_writes(h.m, &c.given) == MPIACQ_OK);
  CHECK(c.starter.get("MPIR_being_debugged") == 0);
}

TEST_CASE("C: each symbol is looked up once in a look") {
  c_starter c;
  const handle h;
  REQUIRE(mpiacq_mpir_at_entry(h.m, &c.given) == MPIACQ_OK);
  CHECK(c.asked.contains("MPIR_I_am_starter"));
  for (const auto& [name, times] : c.asked) {
    INFO(name);
    CHECK(times == 1);
  }
}

TEST_CASE("C: the missing symbols and the flags are reported") {
  c_starter c;
  const handle h;
  CHECK(std::string(mpiacq_mpir_missing(h.m, 3)) == "MPIR_proctable_size");
  CHECK(mpiacq_mpir_missing(h.m, 4) == nullptr);
  CHECK(mpiacq_mpir_breakpoint(h.m) == 0);
  c.starter.symbols.remove("MPIR_proctable");
  c.starter.symbols.define_absolute("MPIR_partial_attach_ok", 0);
  REQUIRE(mpiacq_mpir_at_entry(h.m, &c.given) == MPIACQ_OK);
  CHECK(std::string(mpiacq_mpir_missing(h.m, 0)) == "MPIR_proctable");
  CHECK(mpiacq_mpir_missing(h.m, 1) == nullptr);
  CHECK(mpiacq_mpir_breakpoint(h.m) == 0x12340);
  mpiacq_facts facts{};
  facts.struct_size = sizeof facts;
  REQUIRE(mpiacq_mpir_facts(h.m, &facts) == MPIACQ_OK);
  CHECK(facts.partial_attach_ok == 1);
  CHECK(facts.force_to_main == 0);
  CHECK(facts.daemons == MPIACQ_DAEMONS_NOT_ASKED);
  CHECK(facts.job_id == nullptr);
}

TEST_CASE("C: structures of older and newer callers are filled as far as both sides know them") {
  c_starter c;
  c.publish();
  const handle h;
  struct {
    mpiacq_target known;
    std::uint64_t later[4];
  } newer{c.given, {1, 2, 3, 4}};
  newer.known.struct_size = sizeof newer;
  REQUIRE(mpiacq_mpir_at_entry(h.m, &newer.known) == MPIACQ_OK);

  mpiacq_action action;
  std::memset(&action, 0x5a, sizeof action);
  action.struct_size = offsetof(mpiacq_action, address);
  REQUIRE(mpiacq_mpir_action(h.m, 1, &action) == MPIACQ_OK);
  CHECK(action.kind == MPIACQ_PLANT_BREAKPOINT);
  CHECK(action.address == 0x5a5a5a5a5a5a5a5a);
  CHECK(action.struct_size == offsetof(mpiacq_action, address));
  action.struct_size = 0;
  CHECK(mpiacq_mpir_action(h.m, 1, &action) == MPIACQ_INVALID_ARGUMENT);

  mpiacq_target older = c.given;
  older.struct_size = offsetof(mpiacq_target, find_symbol);
  CHECK(mpiacq_mpir_at_entry(h.m, &older) == MPIACQ_INVALID_ARGUMENT);
}

TEST_CASE("C: an impossible target is refused with a sentence") {
  c_starter c;
  const handle h;
  std::string says;
  SECTION("no size") {
    c.given.struct_size = 0;
    says = "struct_size";
  }
  SECTION("no width") {
    c.given.pointer_size = 3;
    says = "pointer_size is 3";
  }
  SECTION("no int") {
    c.given.int_size = 5;
    says = "int_size is 5";
  }
  SECTION("no reader") {
    c.given.read = nullptr;
    says = "no function to read memory";
  }
  CHECK(mpiacq_mpir_at_entry(h.m, &c.given) == MPIACQ_INVALID_ARGUMENT);
  CHECK_THAT(mpiacq_mpir_error(h.m), ContainsSubstring(says));
  CHECK(mpiacq_mpir_action_count(h.m) == 0);
  CHECK(mpiacq_mpir_at_entry(h.m, nullptr) == MPIACQ_INVALID_ARGUMENT);
}

TEST_CASE("C: calls without a handle are refused") {
  c_starter c;
  CHECK(mpiacq_mpir_create(nullptr, nullptr) == MPIACQ_INVALID_ARGUMENT);
  CHECK(mpiacq_mpir_at_entry(nullptr, &c.given) == MPIACQ_INVALID_ARGUMENT);
  CHECK(std::string(mpiacq_mpir_error(nullptr)) == "there is no handle");
  CHECK(mpiacq_mpir_rank_count(nullptr) == 0);
  CHECK(mpiacq_mpir_rank(nullptr, 0, nullptr) == MPIACQ_INVALID_ARGUMENT);
  CHECK(mpiacq_mpir_action(nullptr, 0, nullptr) == MPIACQ_INVALID_ARGUMENT);
  CHECK(mpiacq_mpir_layout_source(nullptr) == nullptr);
  mpiacq_mpir_destroy(nullptr);
  mpiacq_mpir_options options{};
  mpiacq_mpir* m = nullptr;
  CHECK(mpiacq_mpir_create(&options, &m) == MPIACQ_INVALID_ARGUMENT);
  CHECK(m == nullptr);
}

TEST_CASE("C: errors of the caller's functions are passed on") {
  c_starter c;
  c.publish();
  const handle h;
  REQUIRE(mpiacq_mpir_at_entry(h.m, &c.given) == MPIACQ_OK);
  SECTION("the process has gone") {
    c.reading_gives = MPIACQ_PROCESS_GONE;
    CHECK(mpiacq_mpir_at_breakpoint(h.m, &c.given) == MPIACQ_PROCESS_GONE);
  }
  SECTION("what is not said to be anything is that too") {
    c.reading_gives = -1;
    CHECK(mpiacq_mpir_at_breakpoint(h.m, &c.given) == MPIACQ_PROCESS_GONE);
    CHECK_THAT(mpiacq_mpir_error(h.m), ContainsSubstring("the debugger's function for reading memory gave -1"));
  }
  SECTION("it may not be read") {
    c.reading_gives = MPIACQ_PERMISSION;
    CHECK(mpiacq_mpir_at_breakpoint(h.m, &c.given) == MPIACQ_PERMISSION);
  }
  SECTION("a write") {
    c.writing_gives = MPIACQ_UNREADABLE_MEMORY;
    CHECK(mpiacq_mpir_carry_out_writes(h.m, &c.given) == MPIACQ_UNREADABLE_MEMORY);
    CHECK_THAT(mpiacq_mpir_error(h.m), ContainsSubstring("MPIR_being_debugged: the debugger's function for writing 4"));
    c.given.write = nullptr;
    CHECK(mpiacq_mpir_carry_out_writes(h.m, &c.given) == MPIACQ_INVALID_ARGUMENT);
  }
  SECTION("a symbol table") {
    c.finding_gives = -7;
    CHECK(mpiacq_mpir_at_entry(h.m, &c.given) == MPIACQ_SYSTEM);
    CHECK_THAT(mpiacq_mpir_error(h.m), ContainsSubstring("finding MPIR_Breakpoint gave -7"));
  }
  SECTION("an exception") {
    c.before_reading = [] { throw std::runtime_error("from the debugger"); };
    CHECK(mpiacq_mpir_at_breakpoint(h.m, &c.given) == MPIACQ_INTERNAL);
    CHECK_THAT(mpiacq_mpir_error(h.m), ContainsSubstring("exception"));
  }
  SECTION("no memory") {
    c.before_reading = [] { throw std::bad_alloc(); };
    CHECK(mpiacq_mpir_at_breakpoint(h.m, &c.given) == MPIACQ_NO_MEMORY);
    CHECK(std::string(mpiacq_mpir_error(h.m)) == "there is not enough memory");
  }
  CHECK(mpiacq_mpir_rank_count(h.m) == 0);
  c.reading_gives = MPIACQ_OK;
  c.before_reading = nullptr;
  c.finding_gives = 0;
  REQUIRE(mpiacq_mpir_at_entry(h.m, &c.given) == MPIACQ_OK);
  CHECK(std::string(mpiacq_mpir_error(h.m)).empty());
  REQUIRE(mpiacq_mpir_at_breakpoint(h.m, &c.given) == MPIACQ_OK);
  CHECK(mpiacq_mpir_rank_count(h.m) == 2);
}

TEST_CASE("C: a read function that claims more bytes than requested does no harm") {
  c_starter c;
  c.publish();
  c.claims_more = 100000;
  CHECK_THAT(c.drive(), ContainsSubstring("rank 1 n1 /a.out 42"));
}

TEST_CASE("C: a table's strings are valid until another table is reported") {
  c_starter c;
  c.publish();
  const handle h;
  mpiacq_rank rank{};
  rank.struct_size = sizeof rank;
  REQUIRE(mpiacq_mpir_at_entry(h.m, &c.given) == MPIACQ_OK);
  CHECK(mpiacq_mpir_rank(h.m, 0, &rank) == MPIACQ_NOT_FOUND);
  REQUIRE(mpiacq_mpir_at_breakpoint(h.m, &c.given) == MPIACQ_OK);
  REQUIRE(mpiacq_mpir_rank(h.m, 1, &rank) == MPIACQ_OK);
  const char* host = rank.host;
  REQUIRE(mpiacq_mpir_at_breakpoint(h.m, &c.given) == MPIACQ_OK);
  REQUIRE(mpiacq_mpir_rank(h.m, 0, &rank) == MPIACQ_OK);
  CHECK(rank.host == host);  // shared, as in the starter (9.2)
  CHECK(std::string(host) == "n1");
}
