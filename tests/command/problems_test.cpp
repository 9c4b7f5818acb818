// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Where a person reads of a problem of the job: once, in the report, or on standard error if no report shows it. The
// problem is that ranks are missing, as the variables of those that are there say.
#include <string>
#include <vector>

#include "catch.hpp"
#include "variables_job.hpp"

using namespace mpiacq::test;

namespace {

/// The words of `mpiacq launch` for a shell that starts ranks 0 and 1 of `size`, and says that `here` of them run on
/// this node.
std::vector<std::string> launch_words(int size, int here, const std::vector<std::string>& options) {
  std::vector<std::string> words = {MPIACQ_COMMAND, "launch"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(),
               {"--", "sh", "-c",
                "export MASTER_ADDR=n1 MASTER_PORT=$$ WORLD_SIZE=" + std::to_string(size) +
                    " LOCAL_WORLD_SIZE=" + std::to_string(here) + "; RANK=0 sh -c : & RANK=1 sh -c : & wait"});
  return words;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

const std::string absent_ranks = "ranks 2-7 are not among the processes of this node";

}  // namespace

TEST_CASE("problems of a launch: the report on standard error has each once") {
  const auto run = run_command(launch_words(8, 2, {}));
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK(count(run.err, absent_ranks) == 1);
  CHECK_THAT(run.err, ContainsSubstring("  problem: " + absent_ranks));
}

TEST_CASE("problems of a launch: standard error does not repeat those of a report elsewhere") {
  const scratch_folder folder;
  const std::string file = folder.path("report");
  const bool is_file = GENERATE(false, true);
  const auto run = run_command(launch_words(8, 2, {"-o", is_file ? file : "-"}));
  CHECK(run.exit_code == 0);
  CHECK(run.err == "");
  CHECK(count(run.out + file_contents(file), absent_ranks) == 1);
}

TEST_CASE("problems of a launch: standard error has those that no report shows") {
  const auto run = run_command(launch_words(3, 3, {}));
  INFO(run.err);
  CHECK(count(run.err, "ended before all ranks had appeared") == 1);
  CHECK(count(run.err, "  problem: ") == 0);
}

TEST_CASE("problems of a launch: standard error has those of a JSON document, too") {
  const scratch_folder folder;
  const auto run = run_command(launch_words(8, 2, {"--json", "-o", folder.path("report")}));
  CHECK(count(run.err, absent_ranks) == 1);
  CHECK(count(file_contents(folder.path("report")), absent_ranks) == 1);
}

TEST_CASE("problems of an attach: the report alone has them") {
  const variables_job job(2, "n1", 8);
  const auto run = run_command({MPIACQ_COMMAND, "attach", "--agents", "none", std::to_string(job.pid())});
  INFO(run.out);
  CHECK(run.exit_code == 0);
  CHECK(run.err == "");
  CHECK(count(run.out, absent_ranks) == 1);
}
