// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// mpiacq queues on fixture jobs: what their words spell out is what must come out.
#include <csignal>
#include <filesystem>
#include <iterator>
#include <set>
#include <sstream>

#include <sys/ptrace.h>
#include <sys/wait.h>

#include "attached.hpp"
#include "catch.hpp"
#include "queue_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

json queues_of(const queue_job& job, std::vector<std::string> options = {}, int status = 0) {
  options.insert(options.begin(), "--json");
  const auto run = queues(job.pid(), std::move(options));
  INFO(run.err);
  CHECK(run.exit_code == status);
  REQUIRE(!run.out.empty());
  return json::parse(run.out);
}

const json& world(const json& seen, std::size_t rank) {
  return seen.at("ranks").at(rank).at("communicators").at(0);
}

/// "0>1 1>0", marked with "?" where it only may be.
std::string waits_in(const json& seen) {
  std::string text;
  for (const json& wait : seen.at("waits")) {
    text += (text.empty() ? "" : " ") + std::to_string(wait.at("from").get<int>()) + ">" +
            wait.at("to_ranks").get<std::string>() + (wait.at("certain").get<bool>() ? "" : "?");
  }
  return text;
}

/// The line of the fixture's source that calls the MPI function.
long line_of_call() {
  std::istringstream source(file_contents(MPIACQ_QUEUE_CALLS));
  long number = 1;
  for (std::string line; std::getline(source, line); ++number) {
    if (line.find("chosen();") != std::string::npos) return number;
  }
  return 0;
}
/// "MPI_Recv at mpi_calls.c:50".
std::string placed(const std::string& function) {
  return function + " at mpi_calls.c:" + std::to_string(line_of_call());
}

void check_untouched(const queue_job& job) {
  for (const pid_t rank : job.ranks()) CHECK(comes_true([&] { return runs_freely(rank); }));
  CHECK(runs_freely(job.pid()));
  CHECK(job.value_of("MPIR_being_debugged") == 0);
}

}  // namespace

TEST_CASE("queues: two ranks that each wait in a receive for the other are a deadlock") {
  queue_job job(2, words_of_a_deadlock());
  const json seen = queues_of(job);
  INFO(seen.dump(1));
  CHECK(seen.at("schema") == "mpiacq.queues/1");
  CHECK(seen.at("library").at("path") == queue_library("perfect"));
  REQUIRE(seen.at("ranks").size() == 2);
  for (const int rank : {0, 1}) {
    const json& row = seen.at("ranks").at(static_cast<std::size_t>(rank));
    CHECK(row.at("outcome") == "complete");
    CHECK(row.at("pid") == job.ranks()[static_cast<std::size_t>(rank)]);
    CHECK(row.at("call") == "MPI_Recv");
    const json& own = world(seen, static_cast<std::size_t>(rank));
    CHECK(own.at("name") == "MPI_COMM_WORLD");
    CHECK(own.at("group") == json::array({0, 1}));
    CHECK(own.at("local_rank") == rank);
    CHECK(own.at("sends").empty());
    REQUIRE(own.at("receives").size() == 1);
    const json& receive = own.at("receives").at(0);
    CHECK(receive.at("status") == "pending");
    CHECK(receive.at("peer") == json{{"any", false}, {"local", 1 - rank}, {"global", 1 - rank}});
    CHECK(receive.at("tag") == 7 + rank);
    CHECK(receive.at("length") == (rank == 0 ? 64 : 32));
  }
  CHECK(waits_in(seen) == "0>1 1>0");
  CHECK(seen.at("waits").at(0).at("to") == 1);
  CHECK(seen.at("waits").at(0).at("why") ==
        "in " + placed("MPI_Recv") + ": a receive with tag 7 on MPI_COMM_WORLD, and no send for it");
  for (const json& rank : seen.at("ranks")) {
    CHECK(rank.at("at").at("function") == "wait_in_call");
    CHECK(rank.at("at").at("line") == line_of_call());
    CHECK(rank.at("at").at("file").get<std::string>().ends_with("queue_ranks/mpi_calls.c"));
  }
  CHECK(seen.at("cycles") == json::array({json::array({0, 1})}));
  CHECK(seen.at("looks") == 2);
  check_untouched(job);
  CHECK(WEXITSTATUS(job.end()) == 0);
}

TEST_CASE("queues: the text report begins with the deadlock and its reasons") {
  queue_job job(2, words_of_a_deadlock());
  const auto run = queues(job.pid());
  INFO(run.out << run.err);
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.out, ContainsSubstring("queues of 2 of 2 ranks, 2 looks"));
  CHECK_THAT(run.out, ContainsSubstring(queue_library("perfect") + " (trusted as it is)"));
  CHECK_THAT(run.out, ContainsSubstring("DEADLOCK: 0 -> 1 -> 0 wait for each other\n"));
  CHECK_THAT(run.out,
             ContainsSubstring("rank 0 waits for rank 1: in " + placed("MPI_Recv") + ": a receive with tag 7"));
  CHECK_THAT(run.out, ContainsSubstring("receive from"));
  CHECK_THAT(run.out, ContainsSubstring("unmatched"));
  CHECK_THAT(run.out, !ContainsSubstring("\x1b["));
}

TEST_CASE("queues: the report pairs sends and receives, and names the ranks behind a deadlock") {
  queue_job job(4, {"@0", "send:world:1:5:100", "@1", "receive:world:any:5:100", "unexpected:world:2:9:8", "@2",
                    "in:MPI_Recv", "receive:world:2:1:4", "@3", "in:MPI_Ssend", "send:world:2:3:10"});
  const json seen = queues_of(job);
  INFO(seen.dump(1));
  REQUIRE(seen.at("pairs").size() == 1);
  CHECK(seen.at("pairs").at(0).at("send").at("rank") == 0);
  CHECK(seen.at("pairs").at(0).at("receive").at("rank") == 1);
  CHECK(world(seen, 1).at("unexpected").size() == 1);
  CHECK(waits_in(seen) == "2>2 3>2");
  CHECK(seen.at("cycles") == json::array({json::array({2})}));
  CHECK(seen.at("deadlocks").at(0).at("behind") == "3");
}

TEST_CASE("queues: a barrier on a communicator of some ranks waits for its missing members") {
  queue_job job(4, {"comm:odd ranks:3,1", "@3", "in:MPI_Barrier", "receive:odd ranks:1:-16:0"});
  const json seen = queues_of(job);
  CHECK(waits_in(seen) == "3>1");
  CHECK(seen.at("waits").at(0).at("why") ==
        "in MPI_Barrier on odd ranks at mpi_calls.c:" + std::to_string(line_of_call()) + ", which it has not come to");
}

TEST_CASE("queues: collective calls that do not match are named below their deadlock") {
  queue_job job(3, {"@0", "in:MPI_Barrier", "@1", "in:MPI_Allreduce", "@2", "in:MPI_Barrier"});
  const json seen = queues_of(job);
  INFO(seen.dump(1));
  REQUIRE(seen.at("deadlocks").size() == 1);
  const json& found = seen.at("deadlocks").at(0).at("mismatches");
  REQUIRE(found.size() == 1);
  CHECK(found.at(0).at("certain") == true);
  CHECK(found.at(0).at("communicator") == "MPI_COMM_WORLD");
  CHECK(found.at(0).at("calls") == json::parse(R"([{"call": "MPI_Barrier", "ranks": "0,2"},
                                                   {"call": "MPI_Allreduce", "ranks": "1"}])"));
  CHECK_THAT(queues(job.pid()).out,
             ContainsSubstring("    the collective calls on MPI_COMM_WORLD do not match: ranks 0,2 are in "
                               "MPI_Barrier, rank 1 is in MPI_Allreduce\n"));
}

TEST_CASE("queues: ranks that are not in the call of most are named if no wait explains the picture") {
  queue_job job(4, {"@0", "in:ncclAllReduce", "@1", "in:ncclAllReduce", "@2", "in:ncclAllReduce"});
  const json seen = queues_of(job);
  INFO(seen.dump(1));
  const json& odd = seen.at("odd");
  CHECK(odd.at("call") == "ncclAllReduce");
  CHECK(odd.at("ranks") == "0-2");
  REQUIRE(odd.at("others").size() == 1);
  CHECK(odd.at("others").at(0).at("ranks") == "3");
  CHECK(odd.at("others").at(0).at("call").is_null());
  const long line = odd.at("others").at(0).at("at").at("line");
  CHECK(line > 0);
  CHECK_THAT(
      queues(job.pid()).out,
      ContainsSubstring("  most ranks are in ncclAllReduce, and these are not:\n    rank 3: in no MPI call, at "));
  check_untouched(job);
}

TEST_CASE("queues: a library that crashes fails only for its rank") {
  queue_job job(3, {"receive:world:any:1:8", "@1", "library:" + queue_library("crash")});
  const json seen = queues_of(job, {}, 1);
  INFO(seen.dump(1));
  CHECK(seen.at("ranks").at(0).at("outcome") == "complete");
  CHECK(seen.at("ranks").at(2).at("outcome") == "complete");
  CHECK(world(seen, 2).at("receives").size() == 1);
  CHECK(seen.at("ranks").at(1).at("outcome") != "complete");
  CHECK_THAT(seen.at("ranks").at(1).at("problems").dump(), ContainsSubstring("SIGSEGV"));
  const auto text = queues(job.pid());
  CHECK(text.exit_code == 1);
  CHECK_THAT(text.out, ContainsSubstring("queues of 2 of 3 ranks"));
  CHECK_THAT(text.out, ContainsSubstring("rank 1: "));
  check_untouched(job);
}

TEST_CASE("queues: the answers of a library that asks for unknown types do not count") {
  queue_job job(2, {"library:" + queue_library("wants_field"), "in:MPI_Recv", "@0", "receive:world:1:7:64", "@1",
                    "receive:world:0:8:32"});
  const json seen = queues_of(job, {}, 1);
  INFO(seen.dump(1));
  CHECK(!seen.at("ranks").at(0).at("missing_types").empty());
  CHECK(world(seen, 0).at("receives").empty());
  CHECK(seen.at("waits").empty());
  CHECK(seen.at("cycles").empty());
  // One cause is on one line.
  const std::string text = queues(job.pid()).out;
  INFO(text);
  const auto cause = text.find("that the message-queue library asks for");
  REQUIRE(cause != std::string::npos);
  CHECK(text.find("that the message-queue library asks for", cause + 1) == std::string::npos);
}

TEST_CASE("queues: a library that other users can write needs --trust-library, and --library chooses one by its path") {
  queue_job job(2, {"library:"});
  const auto lacking = run_command({MPIACQ_COMMAND, "queues", std::to_string(job.pid())});
  CHECK(lacking.exit_code == 1);
  CHECK_THAT(lacking.out, ContainsSubstring("--library"));
  CHECK(lacking.out.find("no pending operation") == std::string::npos);
  CHECK(lacking.out.find("no rank is known to wait") == std::string::npos);

  const scratch_folder folder;
  const std::string copy = folder.path("libqueue.so");
  std::filesystem::copy_file(queue_library("perfect"), copy);
  std::filesystem::permissions(copy, std::filesystem::perms::all);
  const auto refused = run_command({MPIACQ_COMMAND, "queues", "--library", copy, "--json", std::to_string(job.pid())});
  CHECK(refused.exit_code == 1);
  CHECK_THAT(refused.out, ContainsSubstring("written by all users"));
  const json seen = queues_of(job, {"--library", copy});
  CHECK(seen.at("library").at("path") == copy);
  CHECK(seen.at("library").at("chosen") == true);
  CHECK(seen.at("library").at("trusted") == true);
}

TEST_CASE("queues: --ranks chooses ranks by number and by the name of a communicator") {
  queue_job job(4, {"comm:pair:3,1"});
  CHECK(queues_of(job, {"--ranks", "1-2"}).at("ranks").size() == 2);
  const json members = queues_of(job, {"--ranks", "comm:pair"});
  REQUIRE(members.at("ranks").size() == 2);
  CHECK(members.at("ranks").at(0).at("rank") == 1);
  CHECK(members.at("ranks").at(1).at("rank") == 3);
  const auto none = queues(job.pid(), {"--ranks", "comm:nobody's"});
  CHECK(none.exit_code == 125);
  CHECK_THAT(none.err, ContainsSubstring("no rank of this node has a communicator \"nobody's\""));

  const auto stacks = run_command(
      {MPIACQ_COMMAND, "stacks", "--json", "--trust-library", "--ranks", "comm:pair", std::to_string(job.pid())});
  CHECK(json::parse(stacks.out).at("ranks").size() == 2);
  CHECK(run_command({MPIACQ_COMMAND, "launch", "--ranks", "comm:pair", "--", "true"}).exit_code == 125);

  const attached stopped = attach(job.pid(), {"--then", "stop", "--trust-library", "--ranks", "comm:pair"});
  CHECK(stopped.command.exit_code == 0);
  const auto ranks = job.ranks();
  CHECK(comes_true([&] { return is_left_stopped(ranks[1]) && is_left_stopped(ranks[3]); }));
  CHECK(runs_freely(ranks[0]));
  CHECK(runs_freely(ranks[2]));
  for (const pid_t rank : {ranks[1], ranks[3], job.pid()}) ::kill(rank, SIGCONT);
}

TEST_CASE("queues: the reports of attach and launch contain the queues") {
  queue_job job(2, words_of_a_deadlock());
  const attached seen = attach(job.pid(), {"--queues", "--trust-library"});
  INFO(seen.command.err);
  CHECK(seen.command.exit_code == 0);
  CHECK(seen.report.at("queues").at("cycles") == json::array({json::array({0, 1})}));
  const auto text = run_command({MPIACQ_COMMAND, "attach", "--queues", "--trust-library", std::to_string(job.pid())});
  CHECK_THAT(text.out, ContainsSubstring("DEADLOCK: 0 -> 1 -> 0"));

  const scratch_folder folder;
  std::vector<std::string> line = {MPIACQ_COMMAND,
                                   "launch",
                                   "--json",
                                   "-o",
                                   folder.path("report"),
                                   "--queues",
                                   "--trust-library",
                                   "--",
                                   MPIACQ_STARTERS "/../queue_ranks/queue_job",
                                   "--ranks",
                                   "2",
                                   "library:" + queue_library("perfect")};
  for (const std::string& word : words_of_a_deadlock()) line.push_back(word);
  const auto launched = run_command(line);
  INFO(launched.err);
  CHECK(launched.exit_code == 0);
  const json report = json::parse(file_contents(folder.path("report")));
  CHECK(report.at("queues").at("ranks").size() == 2);
  CHECK(report.at("queues").at("waits").size() == 2);
}

TEST_CASE("queues: the report lists new processes of the MPI-2 extension") {
  queue_job job(2, {"library:" + queue_library("mpi2"), "@1", "spawned:4711:n7:/opt/worker"});
  const json seen = queues_of(job);
  INFO(seen.dump(1));
  CHECK(seen.at("library").at("compatibility") == 3);
  CHECK(seen.at("ranks").at(0).at("new_processes").empty());
  CHECK(seen.at("ranks").at(1).at("new_processes") ==
        json::array({{{"pid", 4711}, {"host", "n7"}, {"executable", "/opt/worker"}}}));
}

TEST_CASE("queues: ranks with the same operation share a line") {
  queue_job job(3, {"in:MPI_Recv", "receive:world:any:7:8"});
  const auto run = queues(job.pid());
  INFO(run.out << run.err);
  CHECK_THAT(run.out, ContainsSubstring("DEADLOCK: 0-2 wait for each other; none of them can continue alone\n"));
  CHECK_THAT(run.out,
             ContainsSubstring("ranks 0-2 wait for any other of 0-2: in " + placed("MPI_Recv") + ": a receive"));
  CHECK_THAT(run.out, ContainsSubstring("\n  0-2    MPI_COMM_WORLD  receive from  any "));
}

TEST_CASE("queues: a thousand operations make a short table") {
  queue_job job(3, {"many:1000"});
  const auto run = queues(job.pid());
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.out, ContainsSubstring("3000 operations"));
  CHECK_THAT(run.out, ContainsSubstring("and 2856 more: see --verbose or --json"));
  CHECK(std::count(run.out.begin(), run.out.end(), '\n') < 100);
  CHECK(world(queues_of(job), 2).at("receives").size() == 1000);
}

TEST_CASE("queues: the report names a rank that another tracer holds, a stopped rank, and ranks of other nodes") {
  queue_job job(3, {});
  const pid_t traced = job.ranks().at(1), stopped = job.ranks().at(2);
  ::kill(stopped, SIGSTOP);
  REQUIRE(comes_true([&] { return is_left_stopped(stopped); }));
  REQUIRE(::ptrace(PTRACE_SEIZE, traced, nullptr, nullptr) == 0);
  const json seen = queues_of(job, {}, 1);
  ::ptrace(PTRACE_INTERRUPT, traced, nullptr, nullptr);
  REQUIRE(::waitpid(traced, nullptr, __WALL) == traced);
  ::ptrace(PTRACE_DETACH, traced, nullptr, nullptr);
  CHECK(seen.at("ranks").at(0).at("outcome") == "complete");
  CHECK(seen.at("ranks").at(1).at("outcome") == "busy");
  CHECK(seen.at("ranks").at(2).at("outcome") == "complete");
  CHECK(comes_to_be_left_stopped(stopped));
  ::kill(stopped, SIGCONT);

  queue_job elsewhere(2, {}, {"--host", "n17.elsewhere"});
  const auto run = queues(elsewhere.pid(), {"--agents", "none"});
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.out, ContainsSubstring("on other nodes, and not looked at: ranks 0-1"));
}

TEST_CASE("queues: a command that is killed leaves the job running and no process behind") {
  queue_job job(2, {"receive:world:any:1:8", "library:" + queue_library("hang")});
  std::set<pid_t> left;
  {
    running_command tool({MPIACQ_COMMAND, "queues", "--trust-library", std::to_string(job.pid())});
    const pid_t rank = job.ranks().at(0);
    const std::string task = "/proc/" + std::to_string(tool.pid()) + "/task/" + std::to_string(tool.pid());
    const auto children = [&] {
      std::istringstream list(file_contents(task + "/children"));
      return std::set<pid_t>(std::istream_iterator<pid_t>(list), {});
    };
    // The tracing process, and at least one that runs a library.
    REQUIRE(comes_true([&] { return !runs_freely(rank) && children().size() >= 1; }));
    for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(tool.pid()) + "/task")) {
      std::istringstream list(file_contents(entry.path() / "children"));
      left.insert(std::istream_iterator<pid_t>(list), {});
    }
    ::kill(tool.pid(), SIGKILL);
    (void)tool.wait();
  }
  check_untouched(job);
  for (const pid_t process : left) {
    INFO(process);
    CHECK(comes_true([&] { return ::kill(process, 0) != 0; }));
  }
  CHECK(WEXITSTATUS(job.end()) == 0);
}

TEST_CASE("queues: a job that cannot be examined ends the command in 125") {
  CHECK(queues(999999999).exit_code == 125);
  CHECK(run_command({MPIACQ_COMMAND, "queues", "no-number"}).exit_code == 125);
  CHECK(run_command({MPIACQ_COMMAND, "queues", "--ranks", "comm:", "1"}).exit_code == 125);
}

namespace {

/// The lines of a report that contain a word, in order.
std::vector<std::string> lines_with(const std::string& text, const std::string& word) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(word) != std::string::npos) found.push_back(line);
  }
  return found;
}

/// Where the first line stands that has both words.
std::size_t place_of(const std::vector<std::string>& lines, const std::string& ranks, const std::string& word) {
  const auto found = std::find_if(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.starts_with("  " + ranks + " ") && line.find(word) != std::string::npos;
  });
  return static_cast<std::size_t>(found - lines.begin());
}

}  // namespace

TEST_CASE("queues: the text report keeps each rank's operations in the library's order") {
  // Rank 1 has the two receives of rank 0 the other way round, and one of them twice.
  queue_job job(2, {"@0", "receive:world:1:70:8", "receive:world:1:80:8", "@1", "receive:world:1:80:8",
                    "receive:world:1:70:8", "receive:world:1:70:8"});
  const auto run = queues(job.pid());
  INFO(run.out << run.err);
  const auto lines = lines_with(run.out, "receive from");
  CHECK_THAT(run.out, ContainsSubstring("5 operations"));
  // One line is shared; each of the others is of one rank.
  REQUIRE(lines.size() == 4);
  const auto count = [&](const std::string& ranks) {
    return std::count_if(lines.begin(), lines.end(),
                         [&](const std::string& line) { return line.starts_with("  " + ranks + " "); });
  };
  REQUIRE(count("0-1") == 1);
  CHECK(count("0") == 1);
  CHECK(count("1") == 2);
  const std::string shared = lines[place_of(lines, "0-1", "receive")].find(" 80 ") != std::string::npos ? "80" : "70";
  const std::size_t middle = place_of(lines, "0-1", "receive");
  if (shared == "80") {
    CHECK(place_of(lines, "0", " 70 ") < middle);
    CHECK(place_of(lines, "1", " 70 ") > middle);
  } else {
    CHECK(place_of(lines, "0", " 80 ") > middle);
    CHECK(place_of(lines, "1", " 80 ") < middle);
  }
}

TEST_CASE("queues: --verbose shows all that the library says of each operation") {
  queue_job job(2, {"@0", "receive:world:1:70:8", "send:world:1:5:100", "@1", "unexpected:world:0:9:16"});
  const auto run = queues(job.pid(), {"--verbose"});
  INFO(run.out << run.err);
  const json seen = queues_of(job);
  const json& receive = world(seen, 0).at("receives").at(0);
  const json& send = world(seen, 0).at("sends").at(0);
  CHECK_THAT(run.out, ContainsSubstring("  rank 0:\n    MPI_COMM_WORLD (id 0x0), rank 0 of 2\n"));
  CHECK_THAT(run.out, ContainsSubstring("receive from 1, tag 70, 8, status pending, unmatched, user buffer " +
                                        receive.at("buffer").get<std::string>() + "\n        " +
                                        receive.at("extra").at(0).get<std::string>() + "\n"));
  CHECK_THAT(run.out,
             ContainsSubstring("send to 1, tag 5, 100, status pending, unmatched, user buffer " +
                               send.at("buffer").get<std::string>() + "\n        actual: rank 1, tag 5, 100\n"));
  CHECK_THAT(run.out, ContainsSubstring("  rank 1:\n"));
  CHECK_THAT(run.out, ContainsSubstring("message from 0, tag 9, 16") && ContainsSubstring("system buffer"));
  CHECK_THAT(run.out, ContainsSubstring("actual: rank 0, tag 9, 16\n"));
}

TEST_CASE("stacks: with --args JSON has the call of each rank and its place, and the ranks run on") {
  const queue_job job(3, {"in:MPI_Recv", "@2", "in:MPI_Barrier"});
  const auto run = run_command({MPIACQ_COMMAND, "stacks", "--args", "--json", std::to_string(job.pid())});
  INFO(run.err << run.out);
  CHECK(run.exit_code == 0);
  const json seen = json::parse(run.out);
  REQUIRE(seen.at("ranks").size() == 3);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    const json& row = seen.at("ranks").at(rank);
    CHECK(row.at("outcome") == "taken");
    CHECK(row.at("call") == (rank == 2 ? "MPI_Barrier" : "MPI_Recv"));
    CHECK(row.at("at").at("line") == line_of_call());
    // The fixture has functions of these names without parameters.
    REQUIRE(row.at("arguments").is_array());
    for (const json& one : row.at("arguments")) CHECK(one.at("source") != "unknown");
  }
  check_untouched(job);
  const auto without = run_command({MPIACQ_COMMAND, "stacks", "--json", std::to_string(job.pid())});
  const json unasked = json::parse(without.out);
  for (const json& row : unasked.at("ranks")) {
    CHECK(row.at("call").is_null());
    CHECK(row.at("arguments").is_null());
    CHECK(row.at("at").is_null());
  }
}

TEST_CASE("stacks: --args is of one moment and of the tree alone") {
  const std::vector<std::string> other =
      GENERATE(std::vector<std::string>{"--samples", "2"}, std::vector<std::string>{"--folded"},
               std::vector<std::string>{"--dot"});
  std::vector<std::string> words = {MPIACQ_COMMAND, "stacks", "--args"};
  words.insert(words.end(), other.begin(), other.end());
  const auto run = run_command(words);
  CHECK(run.exit_code == 125);
  CHECK_THAT(run.err, ContainsSubstring("--args") && ContainsSubstring(other.front()));
}
