// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Tests the checker: one fault makes one clause fail. Each fixture breaks one clause and records how its job ended. The
// job must end as it would without the checker.
#include <cstdlib>
#include <set>

#include "broken_starters.hpp"
#include "catch.hpp"
#include "live_process.hpp"
#include "mpiacq/check/check.hpp"
#include "run_command.hpp"
#include "watched_run.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

struct checked {
  std::set<std::string> failed;
  std::string failures;  ///< with what was seen
  std::map<std::string, check::judgement> by_id;
  check::observations seen;
  std::map<std::string, std::string> oracle;

  [[nodiscard]] check::verdict verdict_of(const std::string& id) const { return by_id.at(id).result.what; }
};

using way = broken_starter::way;

checked judged(const check::observations& seen) {
  checked result;
  result.seen = seen;
  for (const check::judgement& j : check::judge(result.seen)) {
    const std::string id(j.rule->id);
    result.by_id.emplace(id, j);
    if (j.result.what != check::verdict::fail) continue;
    result.failed.insert(id);
    result.failures += id + ": " + j.result.saw + "\n";
  }
  return result;
}

checked check_running_fixture(std::vector<std::string> command) {
  const scratch_folder folder;
  ::setenv("MPIACQ_ORACLE", folder.path("oracle").c_str(), 1);
  ::setenv("TMPDIR", folder.path("").c_str(), 1);
  command.front() = MPIACQ_STARTERS "/" + command.front();
  command.emplace_back("--hold");
  live_process starter(command);
  ::unsetenv("MPIACQ_ORACLE");
  ::unsetenv("TMPDIR");
  (void)starter.lines_until_ready();
  check::run_options options;
  options.attached_for = std::chrono::milliseconds(300);
  auto attached = check::run::attach(starter.pid(), options);
  if (!attached) FAIL(attached.error().message);
  watch(**attached);
  checked result = judged((*attached)->seen());
  CHECK(comes_true([&] { return process_state(starter.pid().value()) == 'S'; }));
  attached->reset();
  CHECK(starter.end() == 0);
  result.oracle = read_oracle(folder.path("oracle"));
  CHECK(result.oracle.at("being_debugged_at_end") == "0");
  return result;
}

checked check_fixture(std::vector<std::string> command, way how = way::launched) {
  if (how == way::attached) return check_running_fixture(std::move(command));
  const scratch_folder folder;
  ::setenv("MPIACQ_ORACLE", folder.path("oracle").c_str(), 1);
  ::setenv("TMPDIR", folder.path("").c_str(), 1);
  command.front() = MPIACQ_STARTERS "/" + command.front();
  check::run_options options;
  options.patience_with_flag = std::chrono::seconds(2);
  options.patience_without_flag = std::chrono::milliseconds(700);
  options.patience_with_gate = std::chrono::seconds(1);
  if (how == way::with_daemon) options.daemon = mpir::daemon_request{"/bin/sleep", {"30", "0"}, false};
  auto launched = check::run::launch(command, options);
  ::unsetenv("MPIACQ_ORACLE");
  ::unsetenv("TMPDIR");
  REQUIRE(launched.has_value());

  watch(**launched);
  checked result = judged((*launched)->seen());
  result.oracle = read_oracle(folder.path("oracle"));
  return result;
}

}  // namespace

TEST_CASE("a starter that breaks one clause fails that clause and no other") {
  const auto& starter = GENERATE(from_range(broken_starters()));
  const checked result = check_fixture(starter.command, starter.how);
  INFO(starter.clause << " by " << starter.command.front() << "\n" << result.failures);
  CHECK(result.failed == std::set<std::string>{starter.clause});
  if (starter.how != way::attached) CHECK(result.seen.ended == exit_status{false, 0, false});
  if (starter.command.front() != "no_interface") CHECK(result.oracle.at("exit") == "0");
}

TEST_CASE("a starter that keeps the document fails nothing, and its job ends as it would have") {
  auto command = GENERATE(from_range(keeping_starters()));
  command.insert(command.end(), {"--exit", "3"});
  const checked result = check_fixture(command);
  INFO(command.front() << "\n" << result.failures);
  CHECK(result.failed.empty());
  CHECK(result.seen.ended == exit_status{false, 3, false});
  CHECK(result.oracle.at("exit") == "3");
  CHECK(result.oracle.at("breakpoint_calls") == "1");
  CHECK(result.oracle.at("being_debugged_at_start") == "1");
  for (int rank = command.back() == "--rank-zero" ? 1 : 0; rank < 4; ++rank) {
    const std::string status = "rank." + std::to_string(rank) + ".wait_status";
    if (rank > 0) CHECK(result.oracle.at(status) == "0x0");
  }
  // Nothing that can be seen here is passed over.
  for (const char* id : {"3.2",  "4.1a", "4.1c", "6.1a", "6.2a", "7.1a", "7.2a", "7.2b",  "8",     "9.1",   "9.2a",
                         "9.2b", "9.2c", "9.2d", "9.2e", "9.2f", "9.2g", "9.2h", "9.2i",  "9.2j",  "9.3b",  "9.4b",
                         "9.4c", "9.5b", "9.6b", "9.6c", "9.6d", "9.6e", "9.9b", "9.10a", "9.10c", "9.17b", "dll"}) {
    INFO(id << ": " << result.by_id.at(id).result.saw);
    CHECK(result.verdict_of(id) == check::verdict::pass);
  }
}

TEST_CASE("a running starter that keeps the document fails nothing, and goes on as without the checker") {
  auto command = GENERATE(from_range(keeping_starters()));
  const checked result = check_fixture(command, way::attached);
  INFO(command.front() << "\n" << result.failures);
  CHECK(result.failed.empty());
  CHECK(result.oracle.at("exit") == "0");
  CHECK(result.oracle.at("breakpoint_calls") == "1");
  for (const char* id :
       {"3.2", "4.1a", "6.1b", "7.2a", "9.2e", "9.2h", "9.2i", "9.3b", "9.4b", "9.5b", "9.6c", "9.17b"}) {
    INFO(id << ": " << result.by_id.at(id).result.saw);
    CHECK(result.verdict_of(id) == check::verdict::pass);
  }
}

TEST_CASE("a tool daemon is requested and observed, with its arguments") {
  const checked result = check_fixture({"checked"}, way::with_daemon);
  INFO(result.failures << result.by_id.at("7.1b").result.saw);
  CHECK(result.failed.empty());
  CHECK(result.oracle.contains("daemon"));
  CHECK(result.verdict_of("7.1b") == check::verdict::pass);
}

TEST_CASE("processes beyond the limit are not observed, but their gates are opened") {
  const scratch_folder folder;
  ::setenv("MPIACQ_ORACLE", folder.path("oracle").c_str(), 1);
  ::setenv("TMPDIR", folder.path("").c_str(), 1);
  check::run_options options;
  options.max_ranks = 1;
  options.patience_without_flag = std::chrono::milliseconds(300);
  auto launched = check::run::launch({MPIACQ_STARTERS "/checked_gated", "--rank", "checked_rank_gate"}, options);
  ::unsetenv("MPIACQ_ORACLE");
  ::unsetenv("TMPDIR");
  REQUIRE(launched.has_value());
  watch(**launched);
  CHECK((*launched)->seen().ranks.size() == 1);
  CHECK((*launched)->seen().ranks_on_node == 4);
  const auto oracle = read_oracle(folder.path("oracle"));
  for (int rank = 0; rank < 4; ++rank) CHECK(oracle.at("rank." + std::to_string(rank) + ".wait_status") == "0x0");
}

TEST_CASE("a rank without a symbol MPI_Init is released at its gate") {
  const scratch_folder folder;
  ::setenv("MPIACQ_ORACLE", folder.path("oracle").c_str(), 1);
  ::setenv("TMPDIR", folder.path("").c_str(), 1);
  check::run_options options;
  options.patience_without_flag = std::chrono::milliseconds(300);
  auto launched =
      check::run::launch({MPIACQ_STARTERS "/checked_gated", "--rank", "checked_rank_gate_unnamed"}, options);
  ::unsetenv("MPIACQ_ORACLE");
  ::unsetenv("TMPDIR");
  REQUIRE(launched.has_value());
  watch(**launched);
  const auto oracle = read_oracle(folder.path("oracle"));
  for (int rank = 0; rank < 4; ++rank) CHECK(oracle.at("rank." + std::to_string(rank) + ".wait_status") == "0x0");
}

TEST_CASE("some clauses pass only with one permitted way of launching") {
  const checked gated = check_fixture({"checked_gated", "--rank", "checked_rank_gate"});
  for (const char* id : {"6.2b", "9.8a", "9.8b", "9.8c"}) {
    INFO(id << ": " << gated.by_id.at(id).result.saw);
    CHECK(gated.verdict_of(id) == check::verdict::pass);
  }
  const checked before_main = check_fixture({"checked_pre_main", "--rank", "checked_rank_before_main"});
  CHECK(before_main.verdict_of("9.11") == check::verdict::pass);
  CHECK(before_main.verdict_of("9.13") == check::verdict::pass);
  const checked rank_zero = check_fixture({"checked_unmarked", "--rank-zero"});
  CHECK(rank_zero.verdict_of("9.10b") == check::verdict::pass);
  CHECK_THAT(rank_zero.by_id.at("9.10a").result.saw, ContainsSubstring("the starter is rank 0"));
}

TEST_CASE("every clause that can fail has a fixture that makes it fail") {
  std::set<std::string> with_fixture;
  for (const broken_starter& starter : broken_starters()) with_fixture.insert(starter.clause);
  // These two flags ask something of the tool alone: no starter can break them.
  const std::set<std::string> unbreakable = {"9.12", "9.14"};
  for (const check::clause& rule : check::clauses()) {
    if (rule.id.starts_with("MPI2DD")) continue;  // mpi2dd_test.cpp fails each of them
    INFO(rule.id);
    CHECK(with_fixture.contains(std::string(rule.id)) != unbreakable.contains(std::string(rule.id)));
  }
}
