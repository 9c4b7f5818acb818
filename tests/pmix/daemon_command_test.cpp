// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The shells that PMIx starts as debugger daemons, run here as PRRTE runs them on a node.
#include "host/daemon_command.hpp"

#include "catch.hpp"
#include "run_command.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

TEST_CASE("a shell that runs the tool's daemon ends with 0, and forwards its output only if that is wanted") {
  const bool forwards = GENERATE(false, true);
  const std::vector<std::string> arguments{"-c", "echo \"$1\"; echo error >&2; kill -9 $$", "sh", "two words'\""};
  const auto run = run_command(pmix::daemon_that_runs("/bin/sh", arguments, forwards));
  CHECK(run.exit_code == 0);
  CHECK(run.out == (forwards ? "two words'\"\n" : ""));
  CHECK((run.err.find("error") != std::string::npos) == forwards);
}

TEST_CASE("a shell that starts a daemon ends with 0, and the daemon has no variables of a rank") {
  const scratch_folder folder;
  command_options rank;
  rank.environment = {{"PMIX_RANK", "3"}, {"PMIX_NAMESPACE", "job@1"}, {"OMPI_COMM_WORLD_RANK", "3"}, {"KEPT", "yes"}};
  const std::string script =
      "echo noise; echo \"$1,$KEPT,$PMIX_RANK$PMIX_NAMESPACE$OMPI_COMM_WORLD_RANK\" > \"$2\"; exit 3";
  const auto run =
      run_command(pmix::daemon_that_starts(
                      "/bin/sh", std::vector<std::string>{"-c", script, "sh", "two words'\"", folder.path("a")}),
                  rank);
  CHECK(run.exit_code == 0);
  CHECK(run.out + run.err == "");
  CHECK(comes_true([&] { return file_contents(folder.path("a")) == "two words'\",yes,\n"; }));
}

TEST_CASE("a shell whose daemon does not exist ends with 0 and without a word") {
  for (const auto& command :
       {pmix::daemon_that_runs("/nowhere/daemon", {}, false), pmix::daemon_that_starts("/nowhere/daemon", {})}) {
    const auto run = run_command(command);
    CHECK(run.exit_code == 0);
    CHECK(run.out + run.err == "");
  }
}
