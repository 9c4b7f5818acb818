// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Libraries with one habit each, in this program. Libraries that would end this program are not among them.
#include "in_process.hpp"
#include "mpiacq/queues/queue_memory.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

const std::vector<std::string> required{"setup_basic_callbacks", "version_string",
                                        "version_compatibility", "dll_taddr_width",
                                        "dll_error_string",      "setup_image",
                                        "image_has_queues",      "destroy_image_info",
                                        "setup_process",         "process_has_queues",
                                        "destroy_process_info",  "update_communicator_list",
                                        "get_communicator",      "setup_communicator_iterator",
                                        "next_communicator",     "setup_operation_iterator",
                                        "next_operation"};

const std::vector<std::string> of_extension{
    "setup_job",        "destroy_job_info",      "set_process_identity", "setup_new_process_iterator",
    "next_new_process", "spawn_breakpoint_name",
};

queue_report must_read(const std::string& library, fake_small_mpi& mpi, const queue_limits& limits = {}) {
  auto report = read_here(library, mpi, limits);
  INFO(problems_of(report));
  REQUIRE(report);
  return std::move(*report);
}

}  // namespace

TEST_CASE("a library that lacks a function is refused, and the error names the function") {
  auto mpi = busy_rank();
  for (const std::string& entry : required) {
    INFO(entry);
    const auto report = read_here("without_" + entry, mpi);
    REQUIRE_FALSE(report);
    CHECK(report.error().code == error_code::bad_format);
    CHECK_THAT(report.error().message, ContainsSubstring("mqs_" + entry));
    CHECK(report.error().path == library_path("without_" + entry));
  }
}

TEST_CASE("a library may lack the functions that later versions of the interface added") {
  auto mpi = busy_rank();
  const auto report = must_read("without_get_comm_group", mpi);
  check_busy_rank(report);
  CHECK_FALSE(report.communicators[1].group);
  // Without the group, the library's global rank is the only source.
  CHECK(report.communicators[1].of(queue_class::sends).operations[0].desired.global == 3U);
  for (const std::string& entry : of_extension) {
    INFO(entry);
    const auto without = must_read("mpi2_without_" + entry, mpi);
    check_busy_groups(without);
    CHECK(without.communicators[0].of(queue_class::receives).operations.size() == 2);
  }
}

TEST_CASE("a library of another version or width is refused, and the error names its number") {
  auto mpi = busy_rank();
  const std::pair<const char*, const char*> cases[] = {
      {"version_1", "version 1"}, {"version_4", "version 4"}, {"width_4", "4 bytes"}};
  for (const auto& [library, words] : cases) {
    const auto report = read_here(library, mpi);
    REQUIRE_FALSE(report);
    CHECK(report.error().code == error_code::unsupported);
    CHECK_THAT(report.error().message, ContainsSubstring(words));
  }
}

TEST_CASE("a library's version string decides the unit of its lengths") {
  auto mpi = busy_rank();
  CHECK(must_read("bytes", mpi).unit == length_unit::bytes);
  CHECK(must_read("elements", mpi).unit == length_unit::elements);
  CHECK(must_read("perfect", mpi).unit == length_unit::unknown);
}

TEST_CASE("libraries with other structures are decoded correctly") {
  auto mpi = busy_rank();
  for (const char* library : {"sizes_7", "longer_operation", "zero_extends", "leaks"}) {
    INFO(library);
    const auto report = must_read(library, mpi);
    check_busy_rank(report);
    check_busy_groups(report);
    CHECK(report.communicators[0].of(queue_class::receives).operations[0].extra.size() == 1);
    CHECK(report.communicators[1].of(queue_class::sends).operations[0].extra.size() == 1);
  }
}

TEST_CASE("callbacks survive invalid arguments of a library") {
  auto mpi = busy_rank();
  auto report = must_read("misuses_callbacks", mpi);
  REQUIRE(report.problems.size() == 1);
  CHECK_THAT(report.problems[0].message, ContainsSubstring("more than 1073741824 bytes of memory"));
  CHECK_THAT(notes_of(report), ContainsSubstring("freed memory that it had not allocated"));
  report.problems.clear();
  check_busy_rank(report);
  check_busy_groups(report);
}

TEST_CASE("a request is pending if its completion is the address of a waiting thread's object") {
  auto mpi = busy_rank();
  const auto request = mpi.types.type_named("MPIR_Request", source_language::c);
  structure_layout openmpi = **request;
  openmpi.name = "ompi_request_t";
  openmpi.members = {{"req_complete", (*request)->find("completed")->offset, 8, true, false}};
  mpi.types.define("ompi_request_t", openmpi);
  struct {
    int word;  // the lower half of MPI's pointer
    operation_status status;
  } const cases[] = {{0, operation_status::pending},
                     {1, operation_status::complete},
                     {0x4e92d0, operation_status::pending},
                     {0x4e9200, operation_status::pending},
                     {0x4e92f8, operation_status::pending}};
  for (const auto& [word, status] : cases) {
    INFO(word);
    mpi.receive("MPI_COMM_WORLD", 3, 40, 8);
    mpi.match_last(word, 3, 40, 8);
    const auto report = must_read("pointer_as_bool", mpi);
    CHECK(report.communicators.at(0).of(queue_class::receives).operations.back().status == status);
  }
}

TEST_CASE("a queue without information is not reported as empty") {
  auto mpi = busy_rank();
  const auto none = must_read("no_unexpected", mpi);
  CHECK(none.communicators[0].of(queue_class::unexpected).known == queue_knowledge::none);
  const auto empty = must_read("says_when_empty", mpi);
  check_busy_rank(empty);
  CHECK(empty.communicators[0].of(queue_class::unexpected).known == queue_knowledge::complete);
}

TEST_CASE("the error of a library that refuses a program has the library's own message and the program's name") {
  auto mpi = busy_rank();
  const auto refused = read_here("no_queues", mpi);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == error_code::not_found);
  CHECK_THAT(refused.error().message, ContainsSubstring("not as expected in 'small_program'"));
  CHECK_THAT(refused.error().message, ContainsSubstring("101: a type is not there"));

  const auto percent = read_here("percent_n", mpi);
  REQUIRE_FALSE(percent);
  CHECK_THAT(percent.error().message, ContainsSubstring("%n%nsmall_program%s%s%99999d"));
}

TEST_CASE("a library that disables its queues without a message has not failed") {
  auto mpi = busy_rank();
  const auto report = must_read("no_queues_silently", mpi);
  CHECK(report.communicators.empty());
  CHECK(problems_of(report).empty());
  CHECK_THAT(notes_of(report),
             ContainsSubstring("no message queues of the program") && ContainsSubstring("101: a type is not there"));
}

TEST_CASE("a library without information on communicators has not failed") {
  auto mpi = busy_rank();
  const auto report = must_read("no_communicators", mpi);
  CHECK(report.communicators.empty());
  CHECK(problems_of(report).empty());
  CHECK_THAT(notes_of(report), ContainsSubstring("no information on communicators"));
}

TEST_CASE("the register of a function without a result does not end the list") {
  auto mpi = busy_rank();
  const auto report = must_read("void_update", mpi);
  check_busy_rank(report);
  check_busy_groups(report);
}

TEST_CASE("a library's message on success is a note") {
  auto mpi = busy_rank();
  const auto report = must_read("message_on_success", mpi);
  check_busy_rank(report);
  CHECK_THAT(notes_of(report), ContainsSubstring("no debug information in small_program, 100% sure"));
}

TEST_CASE("a list that fails in the middle is cut short there, and the other lists are complete") {
  auto mpi = busy_rank();
  const auto report = must_read("fails_after_2", mpi);
  REQUIRE(report.communicators.size() == 2);
  const auto& world = report.communicators[0];
  CHECK(world.of(queue_class::sends).known == queue_knowledge::complete);
  CHECK(world.of(queue_class::receives).known == queue_knowledge::cut_short);
  CHECK(world.of(queue_class::receives).operations.size() == 1);
  CHECK(report.communicators[1].of(queue_class::sends).known == queue_knowledge::failed);
  CHECK_THAT(problems_of(report), ContainsSubstring("receives of communicator MPI_COMM_WORLD: mqs_next_operation gave "
                                                    "error 108: the list is broken"));
}

TEST_CASE("the report lists the types and fields that a library did not find") {
  auto mpi = busy_rank();
  const auto type = must_read("wants_type", mpi);
  CHECK(type.communicators.empty());
  REQUIRE(type.missing.size() == 1);
  CHECK((type.missing[0].type == "struct MPIR_Nobody_has_it" && type.missing[0].field.empty()));

  const auto field = must_read("wants_field", mpi);
  CHECK(field.communicators.size() == 2);
  REQUIRE(field.missing.size() == 1);
  CHECK((field.missing[0].type == "MPIR_Request" && field.missing[0].field == "nobody_has_it"));
  CHECK_THAT(problems_of(field), ContainsSubstring("report is not reliable"));
}

TEST_CASE("the report of an in-process host stays within its limit") {
  auto mpi = busy_rank();
  for (const char* library : {"endless_operations", "endless_texts", "endless_communicators"}) {
    INFO(library);
    const auto report = must_read(library, mpi);
    CHECK(bytes_held(report) <= most_report_bytes + 4096);  // plus the problem that says that it is full
    CHECK_FALSE(report.communicators.empty());
    CHECK(problems_of(report) == "this rank's queue library reported more than 24 MB; what came before that is kept\n");
  }
}

TEST_CASE("lists without end are cut short at their limit") {
  auto mpi = busy_rank();
  queue_limits limits;
  limits.operations = 1000;
  const auto operations = must_read("endless_operations", mpi, limits);
  REQUIRE(operations.communicators.size() == 1);
  const auto& world = operations.communicators[0];
  CHECK(world.of(queue_class::sends).operations.size() == 1000);
  CHECK(world.of(queue_class::sends).known == queue_knowledge::cut_short);
  CHECK(world.of(queue_class::receives).known == queue_knowledge::failed);
  CHECK_THAT(problems_of(operations), ContainsSubstring("more than 1000 operations"));

  limits.communicators = 50;
  const auto communicators = must_read("endless_communicators", mpi, limits);
  CHECK(communicators.communicators.size() == 50);
  CHECK_THAT(problems_of(communicators), ContainsSubstring("more than 50 communicators"));

  limits.operations = 1'000'000'000;
  limits.process_time = std::chrono::milliseconds(20);
  const auto slow = must_read("endless_operations", mpi, limits);
  REQUIRE(slow.problems.size() == 1);
  CHECK(slow.problems[0].code == error_code::timed_out);
}

TEST_CASE("a library that fills in nothing is not believed") {
  auto mpi = busy_rank();
  const auto report = must_read("fills_nothing", mpi);
  CHECK(report.communicators.empty());
  CHECK_THAT(problems_of(report), ContainsSubstring("does not describe the communicator"));
}

TEST_CASE("a library that writes beyond its buffer is not called again") {
  auto mpi = busy_rank();
  const auto operation = must_read("writes_beyond", mpi);
  CHECK_THAT(problems_of(operation), ContainsSubstring("mqs_next_operation wrote 1992 bytes beyond"));
  REQUIRE(operation.communicators.size() == 1);
  CHECK(operation.communicators[0].of(queue_class::sends).operations.empty());
  const auto group = must_read("group_too_long", mpi);
  CHECK(group.communicators.empty());
  CHECK_THAT(problems_of(group), ContainsSubstring("mqs_get_comm_group wrote 400 bytes beyond"));
}

TEST_CASE("the memory that a library allocates and the memory that it fetches are limited") {
  auto mpi = busy_rank();
  const auto huge = must_read("huge_fetch", mpi);
  check_busy_groups(huge);
  CHECK_THAT(problems_of(huge), ContainsSubstring("requested 67108864 bytes in one fetch"));
  CHECK(notes_of(huge).find("got it all") == std::string::npos);

  queue_limits limits;
  limits.fetched_bytes = 1U << 20U;
  limits.allocated_bytes = 16U << 20U;
  CHECK_THAT(problems_of(must_read("many_fetches", mpi, limits)), ContainsSubstring("more than 1048576 bytes"));
  auto hoards = must_read("hoards", mpi, limits);
  REQUIRE(hoards.problems.size() == 1);
  CHECK(hoards.problems[0].code == error_code::limit);
  CHECK_THAT(hoards.problems[0].message, ContainsSubstring("more than 16777216 bytes of memory"));
  hoards.problems.clear();
  check_busy_rank(hoards);  // the library continued after the refusal
}
