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
  // Each bit is a stream. What the command opens first gets the lowest number that is free.
  const int closed = GENERATE(0b111, 0b001, 0b010, 0b100, 0b011, 0b101, 0b110);
  CAPTURE(closed);
  how.in_child = [closed] {
    for (int stream = 0; stream <= 2; ++stream) {
      if ((closed >> stream & 1) != 0) ::close(stream);
    }
  };
  const bool to_file = GENERATE(true, false);
  const std::vector<std::string> options = to_file ? std::vector<std::string>{"-o", folder.path("report"), "--stacks"}
                                                   : std::vector<std::string>{"--stacks"};
  const auto run = attach(starter.pid(), options, how);
  CHECK(run.command.exit_code == 0);
  const bool out_is_open = (closed >> STDOUT_FILENO & 1) == 0;
  CHECK(run.command.out.empty() == (to_file || !out_is_open));
  if (to_file || out_is_open) {
    const auto report = to_file ? nlohmann::json::parse(file_contents(folder.path("report"))) : run.report;
    CHECK(report["processes"].size() == 4);
    for (const auto& rank : report["stacks"]["ranks"]) CHECK(rank["outcome"] == "taken");
  }
  CHECK(runs_freely(starter.pid()));
  CHECK(WEXITSTATUS(starter.end()) == 0);
}
