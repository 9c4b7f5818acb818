// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The ranks' side: being_debugged, the gate, and the ranks that must be released (chapter 8, step 18).
#include "action_checks.hpp"
#include "entries.hpp"
#include "mpiacq/mpir/mpir_ranks.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using namespace mpiacq::mpir;

TEST_CASE("a rank's variables in its own width and order") {
  for (const target_abi& abi : every_abi) {
    INFO(abi_title(abi));
    fake_starter rank(abi);
    rank.variable("MPIR_being_debugged", 4);
    rank.variable("MPIR_debug_gate", 4);
    const auto found = find_rank_symbols(rank.symbols).value();
    CHECK(steps(rank_attached(abi, found)) == words{"write MPIR_being_debugged"});
    CHECK(steps(rank_release(abi, found)) == words{"write MPIR_debug_gate"});
    carry_out(rank, rank_attached(abi, found));
    CHECK(rank.get("MPIR_being_debugged") == 1);
    CHECK(rank.get("MPIR_debug_gate") == 0);
    carry_out(rank, rank_release(abi, found));
    CHECK(rank.get("MPIR_debug_gate") == 1);
    carry_out(rank, rank_before_detach(abi, found));
    CHECK(rank.get("MPIR_being_debugged") == 0);
    CHECK(rank.get("MPIR_debug_gate") == 1);
  }
}

TEST_CASE("a rank without the variables is left as it is") {
  fake_starter rank;
  const auto found = find_rank_symbols(rank.symbols).value();
  CHECK(rank_attached(rank.abi, found).empty());
  CHECK(rank_release(rank.abi, found).empty());
  CHECK(rank_before_detach(rank.abi, found).empty());
}

TEST_CASE("a gate that is no integer is a problem") {
  fake_starter rank;
  rank.variable("MPIR_debug_gate", 16, 12);
  const auto todo = rank_release(rank.abi, find_rank_symbols(rank.symbols).value());
  CHECK_THAT(only<report_problem>(todo).what.message, ContainsSubstring("MPIR_debug_gate"));
}

TEST_CASE("only the file of a rank's MPI library is opened") {
  fake_starter rank;
  SECTION("all is loaded: no file") {
    rank.variable("MPIR_being_debugged", 4);
    rank.variable("MPIR_debug_gate", 4);
    (void)find_rank_symbols(rank.symbols).value();
    REQUIRE(rank.symbols.scopes.size() == 1);
    CHECK(rank.symbols.scopes[0].loaded_only);
  }
  SECTION("an MPI library is loaded: its file alone") {
    rank.symbols.define("MPI_Init", target_address{0x12000}, 0, symbol_kind::function);
    (void)find_rank_symbols(rank.symbols).value();
    REQUIRE(rank.symbols.scopes.size() == 2);
    CHECK(rank.symbols.scopes[1].only_in == rank.symbols.home.get());
  }
  SECTION("nothing is loaded: it may be linked statically") {
    (void)find_rank_symbols(rank.symbols).value();
    REQUIRE(rank.symbols.scopes.size() == 2);
    CHECK(rank.symbols.scopes[1].only_in == nullptr);
    CHECK_FALSE(rank.symbols.scopes[1].loaded_only);
  }
  SECTION("a file that cannot be read is an error") {
    rank.symbols.find_error = error{error_code::bad_format, "libmpi.so: no ELF file"};
    CHECK(find_rank_symbols(rank.symbols).error().message == "libmpi.so: no ELF file");
  }
}

TEST_CASE("the plan of a release names the ranks that must be released (chapter 8, step 18)") {
  const auto wanted = entries({3, 1, 3});
  job_facts facts;
  SECTION("with MPIR_partial_attach_ok the starter alone") {
    facts.partial_attach_ok = true;
    const auto plan = plan_release(facts, 5, wanted).value();
    CHECK(plan.starter_alone);
    CHECK(plan.gates.empty());
    CHECK(plan.only_for_the_gate.empty());
  }
  SECTION("without the flag, every rank, also the ranks that the user did not select") {
    const auto plan = plan_release(facts, 5, wanted).value();
    CHECK_FALSE(plan.starter_alone);
    CHECK(plan.gates == entries({0, 1, 2, 3, 4}));
    CHECK(plan.only_for_the_gate == entries({0, 2, 4}));
  }
  SECTION("all are wanted, or none") {
    const auto all = entries({0, 1});
    CHECK(plan_release(facts, 2, all).value().only_for_the_gate.empty());
    CHECK(plan_release(facts, 2, {}).value().only_for_the_gate.size() == 2);
    CHECK(plan_release(facts, 0, {}).value().gates.empty());
  }
}

TEST_CASE("a release of a rank that the job does not have is refused") {
  const auto wanted = entries({5});
  CHECK(plan_release({}, 5, wanted).error().code == error_code::invalid_argument);
  CHECK(plan_release({}, 5, wanted).error().message == "there is no rank 5: the job has ranks 0 to 4");
  CHECK(plan_release({}, 1, wanted).error().message == "there is no rank 5: the job has rank 0 alone");
  CHECK(plan_release({}, 0, wanted).error().message == "there is no rank 5: the job has none");
}
