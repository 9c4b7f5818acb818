// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What a person mistypes, and the files that are no starters.
#include <fstream>

#include <sys/stat.h>

#include "catch.hpp"
#include "launched.hpp"

using namespace mpiacq::test;

namespace {

command_outcome mpiacq_command(std::vector<std::string> arguments, const command_options& how = {}) {
  arguments.insert(arguments.begin(), MPIACQ_COMMAND);
  return run_command(arguments, how);
}

void check_sentence(const command_outcome& run, int status, const std::string& part) {
  INFO(run.err);
  CHECK(run.exit_code == status);
  CHECK(run.err.rfind("mpiacq: ", 0) == 0);
  CHECK_THAT(run.err, ContainsSubstring(part));
  CHECK(run.out.empty());
}

void write_file(const std::string& path, const std::string& bytes, mode_t mode = 0755) {
  std::ofstream(path, std::ios::binary) << bytes;
  ::chmod(path.c_str(), mode);
}

}  // namespace

TEST_CASE("help and version are answers, not failures") {
  for (const char* question : {"--help", "--version"}) {
    const auto run = mpiacq_command({question});
    CHECK(run.exit_code == 0);
    CHECK_THAT(run.out, ContainsSubstring("mpiacq"));
  }
  const auto launch = mpiacq_command({"launch", "--help"});
  CHECK(launch.exit_code == 0);
  CHECK_THAT(launch.out, ContainsSubstring("mpiacq launch [OPTIONS] -- STARTER ARG..."));
  CHECK_THAT(launch.out, ContainsSubstring("--then"));
  CHECK(mpiacq_command({"inspect", "--help"}).exit_code == 0);
}

TEST_CASE("no command, an unknown one, or a wrong option ends in 125 with a hint") {
  CHECK(mpiacq_command({}).exit_code == 125);
  CHECK_THAT(mpiacq_command({}).err, ContainsSubstring("Usage"));
  check_sentence(mpiacq_command({"launch"}), 125, "no starter was given");
  check_sentence(mpiacq_command({"launch", "--"}), 125, "no starter was given");
  check_sentence(mpiacq_command({"inspect"}), 125, "no program was given");
  check_sentence(mpiacq_command({"launch", "--then", "fly", "--", "true"}), 125, "--then");
  check_sentence(mpiacq_command({"launch", "--timeout", "-3", "--", "true"}), 125, "--timeout");
  check_sentence(mpiacq_command({"launch", "-o", "/no/such/folder/x", "--", "true"}), 125, "/no/such/folder/x");
}

TEST_CASE("the starter's own options are the starter's") {
  const auto run = mpiacq_command({"launch", fixture("starter_pie"), "--exit", "12", "--json"});
  CHECK(run.exit_code == 12);
  CHECK(run.err.find('{') == std::string::npos);
}

TEST_CASE("what cannot be run: the sentence, and 126 or 127 as env has them") {
  const scratch_folder folder;
  write_file(folder.path("empty"), "");
  write_file(folder.path("not-executable"), "#!/bin/sh\n", 0644);
  write_file(folder.path("no-interpreter"), "#!/no/such/interpreter\n");
  // The ELF header of a machine that this one is not (EM_VAX), and one that breaks off.
  std::string foreign(
      "\x7f"
      "ELF\x02\x01\x01",
      7);
  foreign.resize(64, '\0');
  foreign[16] = 2;
  foreign[18] = 75;
  foreign[20] = 1;
  write_file(folder.path("foreign"), foreign);
  write_file(folder.path("truncated"), file_contents(fixture("starter_pie")).substr(0, 100));

  check_sentence(mpiacq_command({"launch", "--", folder.path("missing")}), 127, "missing");
  check_sentence(mpiacq_command({"launch", "--", "no-such-program-anywhere"}), 127, "PATH");
  check_sentence(mpiacq_command({"launch", "--", folder.path("")}), 126, "directory");
  check_sentence(mpiacq_command({"launch", "--", folder.path("not-executable")}), 126, "not-executable");
  check_sentence(mpiacq_command({"launch", "--", folder.path("no-interpreter")}), 126, "/no/such/interpreter");
  check_sentence(mpiacq_command({"launch", "--", folder.path("empty")}), 126, "empty");
  check_sentence(mpiacq_command({"launch", "--", folder.path("foreign")}), 126, "foreign");
  check_sentence(mpiacq_command({"launch", "--", folder.path("truncated")}), 126, "truncated");
}

TEST_CASE("without root's rights: what may not be run or read is said, and what may be run only goes on") {
  const scratch_folder folder;
  ::chmod(folder.path("").c_str(), 0755);
  write_file(folder.path("forbidden"), file_contents(fixture("starter_pie")), 0);
  write_file(folder.path("unreadable"), file_contents(fixture("starter_pie")), 0111);
  command_options how;
  how.as_nobody = true;
  check_sentence(mpiacq_command({"launch", "--", folder.path("forbidden")}, how), 126, "Permission denied");
  check_sentence(mpiacq_command({"inspect", folder.path("unreadable")}, how), 125, "Permission denied");

  const auto run = mpiacq_command({"launch", "--", folder.path("unreadable"), "--exit", "4"}, how);
  INFO(run.err);
  CHECK(run.exit_code == 4);
  CHECK_THAT(run.out, ContainsSubstring("rank 3 pid"));
  CHECK_THAT(run.err, ContainsSubstring("may be run but not read"));
  CHECK_THAT(run.err, ContainsSubstring(folder.path("unreadable") + " ended (exit status 4)"));

  const auto ordinary = mpiacq_command({"launch", "--", fixture("starter_pie"), "--exit", "3"}, how);
  CHECK(ordinary.exit_code == 3);
  CHECK_THAT(ordinary.err, ContainsSubstring("has spawned 4 processes"));
}

TEST_CASE("what cannot be inspected: the sentence says what the file is") {
  const scratch_folder folder;
  write_file(folder.path("empty"), "");
  write_file(folder.path("script"), "#!/bin/sh\nexec mpirun \"$@\"\n");
  write_file(folder.path("text"), "no program\n");
  write_file(folder.path("truncated"), file_contents(fixture("starter_pie")).substr(0, 100));
  check_sentence(mpiacq_command({"inspect", folder.path("missing")}), 125, "missing");
  check_sentence(mpiacq_command({"inspect", folder.path("")}), 125, "directory");
  check_sentence(mpiacq_command({"inspect", folder.path("empty")}), 125, "empty");
  check_sentence(mpiacq_command({"inspect", folder.path("script")}), 125, "/bin/sh");
  check_sentence(mpiacq_command({"inspect", folder.path("text")}), 125, "ELF");
  check_sentence(mpiacq_command({"inspect", folder.path("truncated")}), 125, "truncated");
  check_sentence(mpiacq_command({"inspect", "999999999"}), 125, "999999999");
}
