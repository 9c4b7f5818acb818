// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Jobs out of core files that are built by hand: every width and byte order, and starters that died at a bad moment.
#include <elf.h>

#include "catch.hpp"
#include "core_job.hpp"
#include "elf_writer.hpp"
#include "mpiacq/job/core_table.hpp"
#include "run_command.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

core_table read(const core_job& job) {
  const scratch_folder folder;
  job.core().write_to(folder.path("core"));
  auto table = read_core(folder.path("core"), {{}, {{}, false}, {}});
  if (!table) FAIL(table.error().message);
  return std::move(*table);
}

}  // namespace

TEST_CASE("a core's table is read in every width and byte order") {
  for (const target_abi& abi : elf_abis) {
    INFO("machine " << abi.elf_machine);
    const core_table job = read(core_job{abi});
    for (const error& problem : job.problems) UNSCOPED_INFO(problem.message);
    CHECK(job.problems.empty());
    CHECK_FALSE(job.missing_symbols.has_value());
    CHECK(job.abi == abi);
    CHECK(job.starter.pid == process_id{4242});
    CHECK(job.starter.executable == "starter");
    CHECK_FALSE(job.starter.launched);
    CHECK_FALSE(job.starter.is_rank);
    CHECK(job.signal == 6);
    CHECK_FALSE(job.aborting);
    REQUIRE(job.processes);
    REQUIRE(job.processes->size() == 2);
    CHECK(job.processes->layout().source == layout_source::inferred);
    for (std::size_t i = 0; i < 2; ++i) {
      CHECK(job.processes->pid(entry_index{i}) == process_id{4001 + static_cast<std::int64_t>(i)});
      CHECK(job.processes->host_name(entry_index{i}) == "node7");
      CHECK(job.processes->executable_name(entry_index{i}) == "/opt/app");
      CHECK(job.states[i] == rank_state::remote);
      CHECK_FALSE(job.locality.is_local(entry_index{i}));
    }
  }
}

TEST_CASE("a core of a starter that died during an abort gives the job and the reason") {
  core_job made{elf_abis[3]};
  made.state = 2;
  made.abort_reason = "out of nodes";
  const core_table job = read(made);
  CHECK(job.aborting);
  CHECK(job.abort_reason == "out of nodes");
  REQUIRE(job.processes);
  CHECK(job.processes->size() == 2);
}

TEST_CASE("a core of a starter that died before it announced its table gives the entries that are filled") {
  core_job made{elf_abis[2]};
  made.state = 0;
  const core_table job = read(made);
  REQUIRE(job.processes);
  CHECK(job.processes->size() == 2);
}

TEST_CASE("a core of a starter without a table gives no table, and a problem says so") {
  core_job made{elf_abis[0]};
  made.state = 0;
  made.claimed = 0;
  const core_table job = read(made);
  CHECK_FALSE(job.processes);
  REQUIRE(job.problems.size() == 1);
  CHECK_THAT(job.problems[0].message, ContainsSubstring("had published no process table"));
}

TEST_CASE("a table that claims more than the core holds is read as far as it goes") {
  core_job made{elf_abis[1]};
  made.claimed = 1000000;
  const core_table job = read(made);
  REQUIRE(job.processes);
  CHECK(job.processes->size() == 2);
  REQUIRE(job.problems.size() == 1);
  CHECK_THAT(job.problems[0].message, ContainsSubstring("the first 2 were read"));
}

TEST_CASE("an entry whose pid now belongs to another program is gone") {
  core_job made{elf_abis[0]};
  made.host = "localhost";
  made.pids = {1, 4194303};
  const core_table job = read(made);
  REQUIRE(job.processes);
  CHECK(job.locality.is_local(entry_index{0}));
  CHECK(job.states[0] == rank_state::gone);
  CHECK(job.states[1] == rank_state::gone);
}
