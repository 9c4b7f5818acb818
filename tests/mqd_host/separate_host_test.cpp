// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A queue library in a separate process: its results reach the tool, and its failures stay in the process.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include <sys/wait.h>

#include "mpiacq/queues/queue_memory.hpp"
#include "open_descriptors.hpp"
#include "rank_process.hpp"
#include "run_command.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

const std::vector<std::string> three_queues{"receive:world:1:7:64", "receive:world:any:any:8", "send:world:2:9:32",
                                            "unexpected:world:3:5:16"};

bool has_children() {
  siginfo_t what{};
  return ::waitid(P_ALL, 0, &what, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

queue_host_options with_call_time(std::chrono::milliseconds time) {
  auto options = trusting();
  options.limits.call_time = time;
  return options;
}

}  // namespace

TEST_CASE("the separate process lists the operations that the test gave to the rank") {
  rank_process rank(three_queues);
  const auto report = read_with("perfect", rank);
  REQUIRE(report);
  CHECK(problems_of(report).empty());
  REQUIRE(report->communicators.size() == 1);
  const queue_communicator& world = report->communicators[0];
  CHECK(world.name == "MPI_COMM_WORLD");
  CHECK(world.size == 4);
  CHECK(world.group == std::vector<std::int64_t>{0, 1, 2, 3});
  const auto& receives = world.of(queue_class::receives);
  REQUIRE(receives.operations.size() == 2);
  CHECK(receives.known == queue_knowledge::complete);
  CHECK(receives.operations[0].desired.local == 1);
  CHECK(receives.operations[0].desired.global == 1U);
  CHECK(receives.operations[0].tag == 7);
  CHECK(receives.operations[0].length == 64);
  CHECK(receives.operations[1].desired.any);
  CHECK_FALSE(receives.operations[1].tag);
  REQUIRE(world.of(queue_class::sends).operations.size() == 1);
  CHECK(world.of(queue_class::sends).operations[0].desired.global == 2U);
  REQUIRE(world.of(queue_class::unexpected).operations.size() == 1);
  CHECK(world.of(queue_class::unexpected).operations[0].actual->tag == 5);
}

TEST_CASE("a library finds its dependencies in its own folder") {
  rank_process rank(three_queues);
  const scratch_folder folder;  // its parent is a folder that every user can write
  std::filesystem::create_directory(folder.path("lib"));
  const std::string library = folder.path("lib/library.so"), link = folder.path("link.so");
  const std::string neighbour = "libqueue_neighbour.so";
  std::filesystem::copy_file(library_path("with_neighbour"), library);
  std::filesystem::copy_file(std::string(MPIACQ_QUEUE_LIBRARIES) + "/" + neighbour, folder.path("lib/" + neighbour));
  std::filesystem::create_symlink(library, link);

  const auto refused = queue_host::create(library);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == error_code::permission);
  for (const std::string& path : {library, link}) {
    INFO(path);
    for (const auto isolation : {queue_isolation::separate, queue_isolation::in_process}) {
      auto options = trusting();
      options.isolation = isolation;
      const auto host = queue_host::create(path, options);
      REQUIRE(host);
      const auto report = (*host)->read(rank.subject());
      INFO(problems_of(report));
      REQUIRE(report);
      CHECK(report->library_version == "the version that a neighbour gives");
      CHECK(report->communicators.size() == 1);
    }
  }

  // Without its neighbour the library is not loaded, and the error names the missing file.
  std::filesystem::remove(folder.path("lib/" + neighbour));
  const auto host = queue_host::create(library, trusting());
  REQUIRE(host);
  const auto alone = (*host)->read(rank.subject());
  REQUIRE_FALSE(alone);
  CHECK_THAT(alone.error().message, ContainsSubstring(neighbour));
}

TEST_CASE("a library is loaded from the opened file, even if its path leads to another file by then") {
  rank_process rank(three_queues);
  const scratch_folder folder;
  const std::string library = folder.path("library.so");
  std::filesystem::copy_file(library_path("perfect"), library);
  const auto host = queue_host::create(library, trusting());
  REQUIRE(host);
  std::filesystem::remove(library);
  std::filesystem::copy_file(library_path("crash_on_load"), library);
  const auto report = (*host)->read(rank.subject());
  INFO(problems_of(report));
  REQUIRE(report);
  CHECK(report->communicators.size() == 1);
}

TEST_CASE("both ways of running a library give the same report") {
  rank_process rank({"comm:half:2,0", "receive:half:0:3:8", "send:world:1:2:4", "spawned:4711:far:/bin/worker"});
  auto options = trusting();
  const auto separate = read_with("mpi2", rank, options);
  options.isolation = queue_isolation::in_process;
  const auto inside = read_with("mpi2", rank, options);
  REQUIRE(separate);
  REQUIRE(inside);
  CHECK(separate->library_version == inside->library_version);
  CHECK(separate->compatibility == inside->compatibility);
  CHECK(separate->spawn_breakpoint == inside->spawn_breakpoint);
  REQUIRE(separate->new_processes.size() == 1);
  REQUIRE(inside->new_processes.size() == 1);
  CHECK(separate->new_processes[0].pid == inside->new_processes[0].pid);
  CHECK(separate->new_processes[0].executable == inside->new_processes[0].executable);
  CHECK(separate->new_processes[0].host == inside->new_processes[0].host);
  REQUIRE(separate->communicators.size() == inside->communicators.size());
  for (std::size_t i = 0; i < inside->communicators.size(); ++i) {
    const auto& ours = separate->communicators[i];
    const auto& theirs = inside->communicators[i];
    CHECK(ours.id == theirs.id);
    CHECK(ours.name == theirs.name);
    CHECK(ours.local_rank == theirs.local_rank);
    CHECK(ours.size == theirs.size);
    CHECK(ours.group == theirs.group);
    for (const queue_class c : all_queue_classes) {
      CHECK(ours.of(c).known == theirs.of(c).known);
      REQUIRE(ours.of(c).operations.size() == theirs.of(c).operations.size());
      for (std::size_t k = 0; k < ours.of(c).operations.size(); ++k) {
        CHECK(ours.of(c).operations[k].tag == theirs.of(c).operations[k].tag);
        CHECK(ours.of(c).operations[k].buffer == theirs.of(c).operations[k].buffer);
        CHECK(ours.of(c).operations[k].extra == theirs.of(c).operations[k].extra);
      }
    }
  }
}

TEST_CASE("ten thousand operations cost one read of each touched page") {
  rank_process rank({"many:10000"});
  const auto report = read_with("perfect", rank);
  REQUIRE(report);
  CHECK(problems_of(report).empty());
  REQUIRE(report->communicators.size() == 1);
  const auto& receives = report->communicators[0].of(queue_class::receives);
  REQUIRE(receives.operations.size() == 10000);
  bool in_order = true;
  for (std::size_t i = 0; i < receives.operations.size(); ++i) {
    in_order = in_order && receives.operations[i].tag == static_cast<std::int64_t>(i);
  }
  CHECK(in_order);
  for (const auto& [page, times] : rank.memory.pages) {
    INFO("page " << page);
    CHECK(times == 1);
  }
  CHECK(rank.memory.calls <= rank.memory.pages.size());
}

TEST_CASE("a library that crashes before its first answer is an error of that rank, with call and signal") {
  rank_process rank({"receive:world:1:7:64"});
  for (const std::string entry : {"setup_basic_callbacks", "version_string", "version_compatibility", "dll_taddr_width",
                                  "setup_image", "image_has_queues", "setup_process", "process_has_queues"}) {
    INFO(entry);
    const auto report = read_with("crash_in_" + entry, rank);
    REQUIRE_FALSE(report);
    CHECK_THAT(report.error().message, ContainsSubstring("crashed in mqs_" + entry) && ContainsSubstring("SIGSEGV"));
    CHECK(report.error().path == library_path("crash_in_" + entry));
  }
  const auto report = read_with("crash_on_load", rank);
  REQUIRE_FALSE(report);
  CHECK_THAT(report.error().message, ContainsSubstring("crashed in dlopen") && ContainsSubstring("SIGSEGV"));
}

TEST_CASE("a library that crashes later leaves its report so far, and a problem") {
  rank_process rank(three_queues);
  for (const std::string entry : {"update_communicator_list", "setup_communicator_iterator", "get_communicator",
                                  "get_comm_group", "setup_operation_iterator", "next_operation", "next_communicator",
                                  "destroy_process_info", "destroy_image_info"}) {
    INFO(entry);
    const auto report = read_with("crash_in_" + entry, rank);
    REQUIRE(report);
    CHECK_THAT(problems_of(report), ContainsSubstring("crashed in mqs_" + entry) && ContainsSubstring("SIGSEGV"));
  }
  const auto late = read_with("crash_in_next_communicator", rank);
  REQUIRE(late);
  REQUIRE(late->communicators.size() == 1);
  CHECK(late->communicators[0].of(queue_class::receives).operations.size() == 2);
  CHECK(late->communicators[0].of(queue_class::receives).known == queue_knowledge::complete);
  const auto early = read_with("crash", rank);
  REQUIRE(early);
  REQUIRE(early->communicators.size() == 1);
  CHECK(early->communicators[0].of(queue_class::sends).known != queue_knowledge::complete);
}

TEST_CASE("a crash in a function of the extension is a problem with call and signal") {
  rank_process rank({"receive:world:1:7:64", "spawned:4711:far:/bin/worker"});
  for (const std::string entry : {"setup_job", "destroy_job_info", "set_process_identity", "setup_new_process_iterator",
                                  "next_new_process", "spawn_breakpoint_name"}) {
    INFO(entry);
    CHECK_THAT(problems_of(read_with("crash_in_" + entry, rank)),
               ContainsSubstring("crashed in mqs_" + entry) && ContainsSubstring("SIGSEGV"));
  }
}

TEST_CASE("a crash does not affect the next read") {
  rank_process rank(three_queues);
  auto host = queue_host::create(library_path("crash_in_setup_image"), trusting());
  REQUIRE(host);
  CHECK_FALSE((*host)->read(rank.subject()));
  CHECK_FALSE((*host)->read(rank.subject()));
  CHECK(read_with("perfect", rank));
}

TEST_CASE("a library that does not return is ended, and the problem names the call") {
  rank_process rank(three_queues);
  const auto begun = std::chrono::steady_clock::now();
  const auto report = read_with("hang", rank, with_call_time(std::chrono::milliseconds{300}));
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds{20});
  REQUIRE(report);
  CHECK_THAT(problems_of(report), ContainsSubstring("was still in mqs_next_operation after 300 ms"));
  CHECK(report->problems.back().code == error_code::timed_out);
  const auto loading = read_with("hang_on_load", rank, with_call_time(std::chrono::milliseconds{300}));
  REQUIRE_FALSE(loading);
  CHECK(loading.error().code == error_code::timed_out);
  CHECK_THAT(loading.error().message, ContainsSubstring("in dlopen"));
}

TEST_CASE("a library that ends its process is reported with its exit status") {
  rank_process rank(three_queues);
  CHECK_THAT(problems_of(read_with("end", rank)),
             ContainsSubstring("ended its process with status 0 in mqs_next_operation"));
  const auto loading = read_with("end_on_load", rank);
  REQUIRE_FALSE(loading);
  CHECK_THAT(loading.error().message, ContainsSubstring("ended its process with status 0 in dlopen"));
}

TEST_CASE("a library that runs out of stack crashes there") {
  rank_process rank(three_queues);
  CHECK_THAT(problems_of(read_with("recurse", rank)), ContainsSubstring("crashed in mqs_next_operation (SIGSEGV)"));
}

TEST_CASE("a library's output becomes a note and never reaches the tool's own output") {
  rank_process rank(three_queues);
  const auto report = read_with("chatter", rank);
  REQUIRE(report);
  CHECK(problems_of(report).empty());
  CHECK_THAT(notes_of(*report), ContainsSubstring("to standard output") && ContainsSubstring("to standard error"));
  const auto loading = read_with("chatter_on_load", rank);
  REQUIRE(loading);
  CHECK_THAT(notes_of(*loading), ContainsSubstring("to standard output"));
}

TEST_CASE("the report keeps the beginning of a flood of output and counts the rest") {
  rank_process rank(three_queues);
  auto options = trusting();
  options.limits.output_bytes = 1000;
  const auto report = read_with("flood", rank, options);
  REQUIRE(report);
  CHECK(problems_of(report).empty());
  // 65,536 lines of 1,024 bytes at each call for an operation.
  CHECK_THAT(notes_of(*report),
             ContainsSubstring(std::string(1000, '#') + " ... and ") && ContainsSubstring("bytes more"));
}

TEST_CASE("endless lists end at their limits") {
  rank_process rank(three_queues);
  auto options = trusting();
  options.limits.operations = 5000;
  options.limits.communicators = 50;
  const auto operations = read_with("endless_operations", rank, options);
  REQUIRE(operations);
  CHECK_THAT(problems_of(operations), ContainsSubstring("5000 operations"));
  CHECK(operations->communicators.at(0).of(queue_class::sends).operations.size() == 5000);
  CHECK(operations->communicators.at(0).of(queue_class::sends).known == queue_knowledge::cut_short);
  const auto communicators = read_with("endless_communicators", rank, options);
  REQUIRE(communicators);
  CHECK_THAT(problems_of(communicators), ContainsSubstring("50 communicators"));
  CHECK(communicators->communicators.size() == 50);
}

TEST_CASE("a report stays within its limit, and keeps what came before") {
  rank_process rank(three_queues);
  for (const std::string library : {"endless_operations", "endless_texts", "endless_communicators", "endless_groups"}) {
    INFO(library);
    const auto report = read_with(library, rank);
    REQUIRE(report);
    CHECK(problems_of(report) == "this rank's queue library reported more than 24 MB; what came before that is kept\n");
    CHECK(bytes_held(*report) <= most_report_bytes + 4096);  // plus the problem that says that it is full
    // One group of 2^20 ranks has 8 MB, and one operation with its text less than 1 KB.
    CHECK(report->communicators.size() >= (library == "endless_groups" ? 2U : 1U));
    const auto& sends = report->communicators.front().of(queue_class::sends);
    if (library == "endless_operations" || library == "endless_texts") {
      CHECK(sends.operations.size() > 24000);
      CHECK(sends.known == queue_knowledge::cut_short);
    }
  }
}

TEST_CASE("the memory that a library fetches is limited") {
  rank_process rank(three_queues);
  const auto huge = read_with("huge_fetch", rank);
  REQUIRE(huge);
  CHECK_THAT(notes_of(*huge), !ContainsSubstring("got it all"));
  CHECK(huge->communicators.size() == 1);
}

TEST_CASE("reading a rank that has ended is an error and crashes nothing") {
  rank_process rank(three_queues);
  auto host = queue_host::create(library_path("perfect"), trusting());
  REQUIRE(host);
  auto subject = rank.subject();
  rank.end();
  const auto report = (*host)->read(subject);
  CHECK((!report || !report->problems.empty()));
}

TEST_CASE("hosts work at the same time, and one host's failing library does not affect the others") {
  std::vector<std::unique_ptr<rank_process>> ranks;
  std::vector<int> good(8);
  for (std::size_t i = 0; i < good.size(); ++i) {
    ranks.push_back(std::make_unique<rank_process>(std::vector<std::string>{"many:" + std::to_string(100 + i)}));
  }
  std::vector<std::thread> workers;
  for (std::size_t i = 0; i < good.size(); ++i) {
    workers.emplace_back([&, i] {
      for (int round = 0; round < 5; ++round) {
        const auto report = read_with(i % 2 == 0 ? "perfect" : "crash_in_destroy_process_info", *ranks[i]);
        if (!report || report->communicators.size() != 1) continue;
        if (report->communicators[0].of(queue_class::receives).operations.size() == 100 + i) ++good[i];
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  CHECK(good == std::vector<int>(8, 5));
}

TEST_CASE("two hundred reads leave no descriptor open and no child behind") {
  rank_process rank(three_queues);
  auto good = queue_host::create(library_path("perfect"), trusting());
  auto bad = queue_host::create(library_path("crash"), trusting());
  REQUIRE(good);
  REQUIRE(bad);
  REQUIRE((*good)->read(rank.subject()));
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 100; ++i) {
    CHECK((*good)->read(rank.subject()));
    CHECK((*bad)->read(rank.subject()));
  }
  CHECK(open_descriptors() == before);
  rank.end();
  CHECK_FALSE(has_children());
}

TEST_CASE("a missing helper program is an error that names the places searched") {
  rank_process rank(three_queues);
  auto options = trusting();
  options.helper = "/nowhere/mqd-host";
  const auto report = read_with("perfect", rank, options);
  REQUIRE_FALSE(report);
  CHECK(report.error().code == error_code::not_found);
  CHECK_THAT(report.error().message, ContainsSubstring("/nowhere/mqd-host"));
  options.helper = "/bin/true";
  const auto strange = read_with("perfect", rank, options);
  REQUIRE_FALSE(strange);
  CHECK_THAT(strange.error().message, ContainsSubstring("could not be set up"));
}
