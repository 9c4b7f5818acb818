// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Standard streams that are closed, memory that is short, and what a report of many processes costs.
#include <csignal>

#include <sys/resource.h>
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

TEST_CASE("memory that is too short is an error, and the job goes on") {
#ifdef __SANITIZE_ADDRESS__
  MPIACQ_SKIP("AddressSanitizer needs more address space than the limit leaves");
#endif
  running_starter starter({"big_table", "own", "--hold", "--ranks", "1000000"});
  starter.ready();
  command_options how;
  how.in_child = [] {
    constexpr rlim_t less_than_the_strings = rlim_t{96} << 20;
    const rlimit limit{less_than_the_strings, less_than_the_strings};
    ::setrlimit(RLIMIT_AS, &limit);
  };
  const auto run = attach(starter.pid(), {}, how);
  CHECK(run.command.exit_code == 125);
  CHECK_THAT(run.command.err, ContainsSubstring("out of memory"));
  CHECK(comes_true([&] { return runs_freely(starter.pid()); }));
  CHECK(WEXITSTATUS(starter.end()) == 0);
}

namespace {

/// The most memory that `mpiacq attach` had at a time, in bytes.
long peak_of_attach(const std::vector<std::string>& starter_words, const std::vector<std::string>& options) {
  running_starter starter(starter_words);
  starter.ready();
  std::vector<std::string> words = {MPIACQ_COMMAND, "attach", "-o", "/dev/null"};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(std::to_string(starter.pid()));
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  int status = 0;
  rusage used{};
  REQUIRE(::wait4(child, &status, 0, &used) == child);
  CHECK(WEXITSTATUS(status) == 0);
  return used.ru_maxrss * 1024;
}

}  // namespace

TEST_CASE("a report of many processes costs little memory beside their table") {
#ifdef __SANITIZE_ADDRESS__
  MPIACQ_SKIP("AddressSanitizer's own memory would be measured");
#endif
  const std::string strings = GENERATE(values<std::string>({"own", "shared"}));
  const std::string form = GENERATE(values<std::string>({"--json", ""}));
  INFO(strings << " " << form);
  const std::vector<std::string> options = form.empty() ? std::vector<std::string>{} : std::vector<std::string>{form};
  constexpr long entries = 300000;
  const long few = peak_of_attach({"big_table", strings, "--hold", "--ranks", "1"}, options);
  const long many = peak_of_attach({"big_table", strings, "--hold", "--ranks", std::to_string(entries)}, options);
  // The largest host and executable, with their offsets, for each entry or for all; and 12 bytes of an entry.
  const long strings_of_entry = strings == "own" ? 13 + 35 + 2 * 8 : 0;
  constexpr long constant = 16L << 20;  // buffers whose size does not depend on the job's
  CHECK(many - few < entries * (12 + strings_of_entry) * 3 + constant);
}
