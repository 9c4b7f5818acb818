// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Which processes run the same program, so that the symbols of one are those of all.
#include "starter/searched_programs.hpp"

#include "catch.hpp"
#include "live_process.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// A shell that waits. It has said so, so that its program is loaded.
class waiting_shell {
 public:
  explicit waiting_shell(const std::string& shell) : process_({shell, "-c", "echo ready; read line"}) {
    REQUIRE(process_.next_line() == "ready");
  }
  [[nodiscard]] process_id pid() const { return process_.pid(); }

 private:
  live_process process_;
};

process_facts facts_of(const waiting_shell& process) {
  auto facts = process_facts::open(process.pid());
  REQUIRE(facts);
  return std::move(*facts);
}

}  // namespace

TEST_CASE("searched programs: two processes that run the same files are one program, and others are not") {
  const waiting_shell first("bash"), second("bash"), other("dash");
  const auto program = searched_programs::program_of(facts_of(first));
  REQUIRE(program);
  CHECK(searched_programs::program_of(facts_of(second)) == program);
  CHECK(searched_programs::program_of(facts_of(other)) != program);

  searched_programs searched;
  CHECK_FALSE(searched.lacks_symbols(program));
  searched.note_lack(facts_of(first), program);
  CHECK(searched.lacks_symbols(program));
  CHECK_FALSE(searched.lacks_symbols(searched_programs::program_of(facts_of(other))));
}

TEST_CASE("searched programs: nothing is kept of a process that runs another program after the search than before it") {
  const waiting_shell before("bash"), after("dash");
  const auto program = searched_programs::program_of(facts_of(before));
  searched_programs searched;
  searched.note_lack(facts_of(after), program);
  CHECK_FALSE(searched.lacks_symbols(program));
  searched.note_lack(facts_of(after), std::nullopt);
  CHECK_FALSE(searched.lacks_symbols(std::nullopt));
}
