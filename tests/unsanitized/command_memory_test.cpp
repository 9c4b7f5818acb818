// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The command with too little memory, and the cost of a report of many processes.
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attached.hpp"
#include "catch.hpp"
#include "queue_job.hpp"
#include "run_command.hpp"
#include "running_starter.hpp"

using namespace mpiacq::test;

TEST_CASE("too little memory is an error, and the job continues") {
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

/// The largest resident memory of the command, or of a process that it waited for, in bytes.
long peak_of(std::vector<std::string> words, int expected_status) {
  words.insert(words.begin(), MPIACQ_COMMAND);
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
  CHECK(WEXITSTATUS(status) == expected_status);
  return used.ru_maxrss * 1024;
}

/// The resident memory of one `mpiacq attach`, and the starter's memory for its table, in bytes.
struct attach_memory {
  long peak = 0;
  long table = 0;
};

attach_memory memory_of_attach(const std::vector<std::string>& starter_words, const std::vector<std::string>& options) {
  running_starter starter(starter_words);
  starter.ready();
  attach_memory seen;
  for (const char* part : {"table_bytes", "hosts_bytes", "executables_bytes"}) {
    seen.table += std::stol(starter.said(part));
  }
  std::vector<std::string> words = {"attach", "-o", "/dev/null"};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(std::to_string(starter.pid()));
  seen.peak = peak_of(words, 0);
  return seen;
}

}  // namespace

TEST_CASE("a report of many processes costs little memory beside their table") {
  const std::string strings = GENERATE(values<std::string>({"own", "shared"}));
  const std::string form = GENERATE(values<std::string>({"--json", ""}));
  INFO(strings << " " << form);
  const std::vector<std::string> options = form.empty() ? std::vector<std::string>{} : std::vector<std::string>{form};
  const auto few = memory_of_attach({"big_table", strings, "--hold", "--ranks", "1"}, options);
  const auto many = memory_of_attach({"big_table", strings, "--hold", "--ranks", "300000"}, options);
  // Three buffers for the table (1.5 MB), three for pages with strings (3 MB), and the rest of a block of text (at most
  // 4 MB).
  constexpr long constant = 8L << 20;
  CHECK(many.peak - few.peak < many.table + many.table / 2 + constant);
}

TEST_CASE("queues: the command's memory is limited even if queue libraries report without end") {
  constexpr int ranks = 12;
  const queue_job job(ranks, {"library:" + queue_library("endless_groups"), "in:MPI_Recv"});
  const scratch_folder folder;
  const std::string report = folder.path("report");
  const long peak = peak_of({"queues", "--trust-library", "-o", report, std::to_string(job.pid())}, 1);
  CAPTURE(peak);
  CHECK(peak < 400L << 20);
  CHECK_THAT(file_contents(report), ContainsSubstring("reported more than 24 MB"));
}
