// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The report of a well-behaved library about a process, in this program.
#include <cstring>

#include "in_process.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

TEST_CASE("a library lists a process of any width and byte order") {
  for (const target_abi& abi : every_abi) {
    INFO(abi_title(abi));
    auto mpi = busy_rank(abi);
    const auto report = read_here("perfect", mpi);
    REQUIRE(report);
    check_busy_rank(*report);
    check_busy_groups(*report);
    const auto& unexpected = report->communicators[1].of(queue_class::unexpected);
    REQUIRE(unexpected.operations.size() == 1);
    CHECK(unexpected.operations[0].system_buffer);
    CHECK((unexpected.operations[0].actual->from_or_to.global == 3U && unexpected.operations[0].actual->length == 64));
    CHECK(report->compatibility == 2);
    CHECK(report->library_version == "small MPI's queues, version 1");
    CHECK(report->library_path == library_path("perfect"));
  }
}

TEST_CASE("a library lists a live process by its own symbols and types") {
  rank_process rank({"comm:half:2,0", "receive:half:0:3:8", "receive:world:any:7:24", "send:world:1:2:4"});
  const auto report = read_with("perfect", rank, in_process());
  REQUIRE(report);
  CHECK(problems_of(report).empty());
  REQUIRE(report->communicators.size() == 2);
  const queue_communicator& half = report->communicators[1];
  CHECK((half.name == "half" && half.local_rank == 1 && half.group == std::vector<std::int64_t>{2, 0}));
  const auto& receives = half.of(queue_class::receives).operations;
  REQUIRE(receives.size() == 1);
  CHECK((receives[0].desired.local == 0 && receives[0].desired.global == 2U && receives[0].tag == 3));
  REQUIRE(receives[0].extra.size() == 1);  // lines that were never written are not reported
  CHECK_THAT(receives[0].extra[0], ContainsSubstring("request at 0x"));
}

TEST_CASE("a library that lacks debug information of the process is not believed") {
  rank_process rank({"receive:world:1:3:8"}, "queue_rank_stripped");
  const auto report = read_with("perfect", rank, in_process());
  REQUIRE(report);
  CHECK(report->communicators.empty());
  REQUIRE(report->missing.size() == 1);
  CHECK(report->missing[0].type == "MPIR_Comm_list");
  CHECK_THAT(problems_of(report), ContainsSubstring("a type is not there"));

  const auto made_up = read_with("makes_up", rank, in_process());
  REQUIRE(made_up);
  CHECK(made_up->missing.size() == 4);
  CHECK_THAT(problems_of(made_up), ContainsSubstring("report is not reliable"));
}

TEST_CASE("no state of one process is left when the next one is read") {
  auto host = queue_host::create(library_path("perfect"), in_process());
  REQUIRE(host);
  auto busy = busy_rank();
  fake_small_mpi idle(lp64_big, 0, 2);
  for (int i = 0; i < 3; ++i) {
    const auto first = (*host)->read(busy.subject());
    REQUIRE(first);
    check_busy_rank(*first);
    const auto second = (*host)->read(idle.subject());
    REQUIRE(second);
    REQUIRE(second->communicators.size() == 1);
    for (const auto c : all_queue_classes) {
      CHECK(second->communicators[0].of(c).known == queue_knowledge::complete);
      CHECK(second->communicators[0].of(c).operations.empty());
    }
  }
}

TEST_CASE("a library with the extension names new processes and the function that announces them") {
  for (const char* library : {"mpi2", "mpi2_document"}) {
    INFO(library);
    rank_process rank({"spawned:4711:far:/bin/worker", "spawned:4712:near:/bin/other", "receive:world:1:1:1"});
    const auto report = read_with(library, rank, in_process());
    REQUIRE(report);
    CHECK(problems_of(report).empty());
    CHECK(report->compatibility == 3);
    CHECK(report->spawn_breakpoint == "small_spawn_breakpoint");
    REQUIRE(report->new_processes.size() == 2);
    const new_process& first = report->new_processes[0];
    CHECK((first.pid == process_id{4711} && first.host == "far" && first.executable == "/bin/worker"));
    CHECK(report->new_processes[1].pid == process_id{4712});
    REQUIRE(report->communicators.size() == 1);
    CHECK(report->communicators[0].of(queue_class::receives).operations.size() == 1);
  }
}

TEST_CASE("each page of memory is read once, and each type is looked up once") {
  fake_small_mpi mpi(lp64_little, 0, 2);
  for (int i = 0; i < 10'000; ++i) mpi.receive("MPI_COMM_WORLD", 1, i, 8);
  const auto report = read_here("perfect", mpi);
  REQUIRE(report);
  const auto& operations = report->communicators.at(0).of(queue_class::receives).operations;
  REQUIRE(operations.size() == 10'000);
  CHECK(operations.back().tag == 9'999);
  // A request has 64 bytes, so a page holds 64 requests.
  CHECK(mpi.memory.calls <= 10'000 / 64 + 3);
  for (const auto& [name, times] : mpi.types.asked) {
    INFO(name);
    CHECK(times == 1);
  }
}

TEST_CASE("a process that ends while it is read is an error, or a problem of the report so far") {
  auto mpi = busy_rank();
  auto host = queue_host::create(library_path("perfect"), in_process());
  REQUIRE(host);
  const auto subject = mpi.subject();
  mpi.memory.process_gone = true;
  const auto report = (*host)->read(subject);
  // The symbols were still readable, so the process counts as one with queues.
  if (report) {
    CHECK(report->communicators.empty());
    REQUIRE(report->problems.size() == 1);
    CHECK(report->problems[0].code == error_code::process_gone);
  } else {
    CHECK(report.error().code == error_code::process_gone);
  }
}
