// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Ranks that wait at MPIR_debug_gate (MPIR 1.1, 9.8), and who lets them go (chapter 8, step 18). A rank that nobody
// lets go waits until its alarm, and the job with it.
#include <csignal>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>

#include "attached.hpp"
#include "catch.hpp"
#include "fake_ssh.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

std::string fixture_path(const std::string& name) {
  return MPIACQ_STARTERS "/" + name;
}

/// `mpiacq launch --json` of a gated job, which runs while the test looks at it.
class gated_launch {
 public:
  gated_launch(const std::vector<std::string>& options, const std::vector<std::string>& starter)
      : tool_(command(options, starter), surroundings()) {}
  ~gated_launch() {
    for (int i = 0; said("rank." + std::to_string(i) + ".pid") != ""; ++i) ::kill(rank(i), SIGKILL);
    if (const std::string starter = said("starter_pid"); !starter.empty() && !waited_)
      ::kill(std::stoi(starter), SIGKILL);
  }
  gated_launch(const gated_launch&) = delete;
  gated_launch& operator=(const gated_launch&) = delete;

  [[nodiscard]] std::string said(const std::string& key) const {
    const auto all = read_oracle(folder_.path("oracle"));
    const auto found = all.find(key);
    return found == all.end() ? "" : found->second;
  }
  [[nodiscard]] pid_t rank(int number) const { return std::stoi(said("rank." + std::to_string(number) + ".pid")); }
  [[nodiscard]] int gate(int number) const {
    return int_at(rank(number), said("rank." + std::to_string(number) + ".gate"));
  }
  [[nodiscard]] int being_debugged(int number) const {
    return int_at(rank(number), said("rank." + std::to_string(number) + ".being_debugged"));
  }
  [[nodiscard]] std::string report() const { return file_contents(folder_.path("report")); }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path(name); }
  command_outcome wait() {
    waited_ = true;
    return tool_.wait();
  }
  void check_ranks_ended_well() const {
    for (int i = 0; i < 4; ++i) CHECK(said("rank." + std::to_string(i) + ".wait_status") == "0x0");
  }

 private:
  [[nodiscard]] std::vector<std::string> command(const std::vector<std::string>& options,
                                                 const std::vector<std::string>& starter) const {
    std::vector<std::string> words = {MPIACQ_COMMAND, "launch", "--json", "-o", folder_.path("report")};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", fixture_path(starter.front())});
    words.insert(words.end(), starter.begin() + 1, starter.end());
    // A word that is to be a FIFO of ours.
    for (std::string& word : words) {
      if (word != "FIFO") continue;
      word = folder_.path("fifo");
      REQUIRE(::mkfifo(word.c_str(), 0600) == 0);
    }
    return words;
  }
  [[nodiscard]] command_options surroundings() const {
    command_options how;
    how.environment["MPIACQ_ORACLE"] = folder_.path("oracle");
    how.environment["TMPDIR"] = folder_.path("");
    return how;
  }
  scratch_folder folder_;
  running_command tool_;
  bool waited_ = false;
};

/// Lets everybody go who waits to open this FIFO, until `end`.
void let_open(const std::string& fifo, const std::function<bool()>& end) {
  REQUIRE(comes_true([&] {
    const int writer = ::open(fifo.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (writer >= 0) ::close(writer);
    return end();
  }));
}

}  // namespace

TEST_CASE("gates: launch releases all ranks, wherever their gate is") {
  const auto words =
      GENERATE(values<std::vector<std::string>>({{"checked_gated", "--rank", "checked_rank_gate"},
                                                 {"checked_gated", "--rank", "checked_rank_library"},
                                                 {"checked_gated", "--rank", "checked_rank_gate_long"},
                                                 {"checked_gated", "--rank", "checked_rank_gate_open"}}));
  const std::string then = GENERATE("continue", "detach");
  INFO(words.back() << ", " << then);
  auto starter = words;
  starter.insert(starter.end(), {"--exit", "3"});
  gated_launch launch({"--then", then}, starter);
  const auto run = launch.wait();
  INFO(run.err);
  CHECK_FALSE(run.timed_out);
  CHECK(run.exit_code == 3);
  launch.check_ranks_ended_well();
  CHECK(json::parse(launch.report()).at("facts").at("partial_attach_ok") == false);
}

TEST_CASE("gates: a tool of 64 bits releases ranks of 32 bits") {
#ifdef MPIACQ_HAVE_32_BIT_STARTERS
  gated_launch launch({}, {"checked_gated", "--rank", "checked_rank_gate_32", "--exit", "3"});
  const auto run = launch.wait();
  INFO(run.err);
  CHECK_FALSE(run.timed_out);
  CHECK(run.exit_code == 3);
  launch.check_ranks_ended_well();
#else
  MPIACQ_SKIP("the compiler makes no programs of 32 bits here (libc6-dev-i386), or the kernel runs none");
#endif
}

TEST_CASE("gates: ranks that load their program or its libraries late are released when they have loaded them") {
  const std::string slowness = GENERATE("--exec-after", "--preload");
  const std::string rank = GENERATE("checked_rank_gate", "checked_rank_library");
  INFO(slowness << ", " << rank);
  gated_launch launch({}, {"checked_gated", "--rank", rank, "--early", slowness, "FIFO", "--exit", "3"});
  REQUIRE(comes_true([&] { return launch.said("announcement.1.returned") == "1"; }));
  // The ranks have been looked at several times, and had nothing to show.
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  CHECK(launch.said("rank.0.gate").empty());
  let_open(launch.path("fifo"), [&] { return launch.said("exit") == "3"; });
  const auto run = launch.wait();
  INFO(run.err);
  CHECK(run.exit_code == 3);
  launch.check_ranks_ended_well();
}

TEST_CASE("gates: ranks that then stop keeps stopped keep their gates closed, and the next tool releases them") {
  gated_launch launch({"--then", "stop", "--ranks", "0,2"},
                      {"checked_gated", "--rank", "checked_rank_library", "--exit", "3"});
  REQUIRE(comes_true([&] { return launch.said("rank.3.pid") != "" && is_left_stopped(launch.rank(0)); }));
  const pid_t starter = std::stoi(launch.said("starter_pid"));
  REQUIRE(comes_true([&] { return is_left_stopped(starter) && is_left_stopped(launch.rank(2)); }));
  for (const int rank : {0, 2}) {
    INFO(rank);
    CHECK(launch.gate(rank) == 0);
    CHECK(launch.being_debugged(rank) == 0);
  }
  for (const int rank : {1, 3}) {
    INFO(rank);
    CHECK(launch.gate(rank) == 1);
    CHECK(runs_freely(launch.rank(rank)));
  }
  const attached next = attach(starter);
  INFO(next.command.err);
  CHECK(next.command.exit_code == 0);
  for (int rank = 0; rank < 4; ++rank) CHECK(launch.gate(rank) == 1);
  for (const int rank : {0, 2}) ::kill(launch.rank(rank), SIGCONT);
  ::kill(starter, SIGCONT);
  const auto run = launch.wait();
  CHECK(run.exit_code == 3);
  CHECK_THAT(run.err, ContainsSubstring("mpiacq attach " + std::to_string(starter)));
  CHECK_THAT(run.err, ContainsSubstring("MPIR_debug_gate need the attach first"));
  launch.check_ranks_ended_well();
}

TEST_CASE("gates: attach opens them only if the starter alone would not release the ranks") {
  const auto [name, opened] = GENERATE(table<std::string, int>({{"checked", 0}, {"checked_gated", 1}}));
  INFO(name);
  running_starter starter({name, "--rank", "checked_rank_debugged", "--hold", "--exit", "3"});
  starter.ready();
  const attached seen = attach(starter.pid());
  INFO(seen.command.err);
  CHECK(seen.command.exit_code == 0);
  CHECK(seen.report.at("facts").at("partial_attach_ok") == (opened == 0));
  const auto ranks = starter.ranks();
  REQUIRE(ranks.size() == 4);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const std::string rank = "rank." + std::to_string(i);
    CHECK(int_at(ranks[i], starter.said(rank + ".gate")) == opened);
    CHECK(int_at(ranks[i], starter.said(rank + ".being_debugged")) == 0);
  }
  CHECK(WEXITSTATUS(starter.end()) == 3);
}

TEST_CASE("gates: agents open the gates of other nodes, wherever they are") {
  const fake_ssh ssh;
  const std::string rank = GENERATE("checked_rank_gate", "checked_rank_library");
  const std::string then = GENERATE("continue", "detach");
  INFO(rank << ", " << then);
  gated_launch launch({"--agents", "ssh", "--then", then},
                      {"checked_gated", "--host", "n1", "--rank", rank, "--exit", "3"});
  const auto run = launch.wait();
  INFO(run.err);
  CHECK_FALSE(run.timed_out);
  CHECK(run.exit_code == 3);
  launch.check_ranks_ended_well();
  CHECK(json::parse(launch.report()).at("problems").empty());
}

TEST_CASE("gates: without agents the report names the ranks of other nodes and what to do") {
  const std::string way = GENERATE("none", "automatic");
  gated_launch launch({"--agents", way}, {"checked_gated", "--host", "n1", "--rank", "checked_rank", "--exit", "3"});
  const auto run = launch.wait();
  INFO(run.err);
  CHECK(run.exit_code == 3);
  const std::string problems = json::parse(launch.report()).at("problems").dump();
  CHECK_THAT(problems, ContainsSubstring("ranks 0-3 are on other nodes"));
  CHECK_THAT(problems, ContainsSubstring("--agents ssh, slurm or mpir"));
}
