// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Standard streams that are closed.
#include <sys/wait.h>
#include <unistd.h>

#include "attached.hpp"
#include "catch.hpp"
#include "launched.hpp"

using namespace mpiacq::test;

TEST_CASE("standard streams that are closed become /dev/null") {
  running_starter starter({"checked", "--hold"});
  starter.ready();
  const scratch_folder folder;
  command_options how;
  how.in_child = [] {
    for (int stream = 0; stream <= 2; ++stream) ::close(stream);
  };
  const bool to_file = GENERATE(true, false);
  const std::vector<std::string> options = to_file ? std::vector<std::string>{"-o", folder.path("report"), "--stacks"}
                                                   : std::vector<std::string>{"--stacks"};
  const auto run = attach(starter.pid(), options, how);
  CHECK(run.command.exit_code == 0);
  if (to_file) {
    const auto report = nlohmann::json::parse(file_contents(folder.path("report")));
    CHECK(report["processes"].size() == 4);
    for (const auto& rank : report["stacks"]["ranks"]) CHECK(rank["outcome"] == "taken");
  }
  CHECK(runs_freely(starter.pid()));
  CHECK(WEXITSTATUS(starter.end()) == 0);
}
