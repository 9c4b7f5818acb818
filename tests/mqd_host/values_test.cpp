// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Decoding of single answers of libraries, and answers to a library's callbacks.
#include <cstring>

#include "fake_small_mpi.hpp"
#include "library/callbacks.hpp"
#include "library/filled_area.hpp"
#include "library/mqs_abi.hpp"
#include "library/mqs_decoding.hpp"
#include "library/printable_text.hpp"
#include "library/report_sink.hpp"
#include "library/target_answers.hpp"

using namespace mpiacq;
using namespace mpiacq::mqd_host;
using namespace mpiacq::test;

namespace {

queue_communicator communicator_of(std::vector<std::int64_t> group) {
  queue_communicator c;
  c.name = "c";
  c.size = static_cast<std::int64_t>(group.size());
  c.group = std::move(group);
  return c;
}

/// An operation area as a library leaves it after it set the members that `fill` sets.
template <class Fill>
filled_area operation_area(Fill fill) {
  filled_area area(sizeof(abi::operation));
  area.prefill();
  fill(*static_cast<abi::operation*>(area.data()));
  return area;
}

queue_operation decoded(const filled_area& area, queue_class which, const queue_communicator& of) {
  auto op = decode_operation(area, which, is_longer_operation(area, which), of);
  REQUIRE(op);
  return std::move(*op);
}

void fill_send(abi::operation& op, long rank, long tag) {
  op.status = 0;
  op.desired_local_rank = op.actual_local_rank = rank;
  op.desired_global_rank = op.actual_global_rank = -1;
  op.desired_tag = op.actual_tag = tag;
  op.desired_length = op.actual_length = 8;
  op.system_buffer = 0;
  op.buffer = 0x1000;
}

}  // namespace

TEST_CASE("a library's text is made printable") {
  CHECK(printable("plain", 64) == "plain");
  CHECK(printable("two\nlines\tand a tab\n", 64) == "two lines and a tab");
  CHECK(printable(std::string_view("cut\0here", 8), 64) == "cut");
  CHECK(printable("\x1b[31mred\x7f", 64) == "?[31mred?");
  CHECK(printable("gr\xc3\xbc\xc3\x9f", 64) == "gr\xc3\xbc\xc3\x9f");
  CHECK(printable("\xc3", 64) == "?");
  CHECK(printable("\xc0\xaf", 64) == "??");       // overlong encoding
  CHECK(printable("\xed\xa0\x80", 64) == "???");  // half a surrogate pair
  CHECK(printable("\xf0\x9f\x98\x80", 64) == "\xf0\x9f\x98\x80");
  CHECK(printable("\xf4\x90\x80\x80", 64) == "????");  // past the last character
  CHECK(printable("\xc2\x9b"
                  "31m",
                  64) == "??31m");            // a control character of two bytes
  CHECK(printable("ab\xc3\xbc", 3) == "ab");  // no half of a character
  CHECK(printable_c_string(nullptr, 8).empty());
  const char endless[] = {'a', 'b', 'c', 'd'};
  CHECK(printable_c_string(endless, sizeof endless) == "abcd");
}

TEST_CASE("ranks and tags keep their sign in each width that libraries use") {
  const auto row = communicator_of({4, 2, 7});
  const auto area = operation_area([](abi::operation& op) {
    fill_send(op, 4294967295, 3);
    op.tag_wild = 1;
    op.desired_tag = 4294967295;
    op.extra_text[0][0] = 0;
  });
  const auto op = decoded(area, queue_class::receives, row);
  CHECK((op.desired.any && !op.tag && !op.desired.local && !op.desired.global && !op.actual));
  // A send has no wildcard source; its wildcard flag means nothing.
  const auto send = decoded(area, queue_class::sends, row);
  CHECK((!send.desired.any && !send.desired.local && send.tag == -1));
}

TEST_CASE("an operation with a rank beyond the group makes its communicator an intercommunicator") {
  mpiacq::mqd_host::report_builder builder("library");
  const auto told = [&](std::initializer_list<std::int64_t> ranks) {
    builder.communicator(communicator_of({4, 2}));
    builder.queue_begins(queue_class::receives);
    for (const std::int64_t rank : ranks) {
      queue_operation op;
      op.desired.local = rank;
      op.desired.global = 4;  // from the local group
      builder.operation(std::move(op));
    }
    builder.queue_ends(queue_class::receives, queue_knowledge::complete);
  };
  told({0, 2});
  told({0});
  const auto report = builder.finish({});
  REQUIRE(report);
  const auto& between = report->communicators.at(0);
  CHECK(between.is_inter == true);
  for (const auto& op : between.of(queue_class::receives).operations) CHECK_FALSE(op.desired.global);
  CHECK_FALSE(report->communicators.at(1).is_inter);
  CHECK(report->communicators.at(1).of(queue_class::receives).operations.at(0).desired.global == 4U);
}

TEST_CASE("the remote group of an intercommunicator gives its peers their numbers in the job") {
  queue_communicator one = communicator_of({4, 2});
  for (const std::int64_t rank : {0, 1, 2, 3}) {
    queue_operation op;
    op.desired.local = rank;
    op.desired.global = 4;
    op.actual = queue_message{op.desired, 0, 0};
    one.of(queue_class::sends).operations.push_back(op);
  }
  make_inter(one, std::vector<std::int64_t>{7, -1, 9});
  const auto& operations = one.of(queue_class::sends).operations;
  CHECK(operations[0].desired.global == 7U);
  CHECK_FALSE(operations[1].desired.global);
  CHECK(operations[2].actual->from_or_to.global == 9U);
  CHECK_FALSE(operations[3].desired.global);
}

TEST_CASE("the group decides the world rank of a peer") {
  const auto row = communicator_of({4, 2, -1});
  const auto numbers = [&](long local, long global) {
    const auto area = operation_area([&](abi::operation& op) {
      fill_send(op, local, 0);
      op.desired_global_rank = global;
      op.extra_text[0][0] = 0;
    });
    return decoded(area, queue_class::sends, row).desired;
  };
  CHECK((numbers(1, 1).local == 1 && numbers(1, 1).global == 2U));
  CHECK((numbers(1, -1).global == 2U));
  CHECK((numbers(2, 2).local == 2 && !numbers(2, 2).global));  // a rank that is unknown to the library
  CHECK((numbers(9, 9).local == 9 && !numbers(9, 9).global));  // a rank of an intercommunicator's remote group
  CHECK((numbers(-1, 4).local == 0 && numbers(-1, 4).global == 4U));
  queue_communicator without = row;
  without.group.reset();
  const auto area = operation_area([](abi::operation& op) {
    fill_send(op, 1, 0);
    op.desired_global_rank = 12;
  });
  CHECK(decoded(area, queue_class::sends, without).desired.global == 12U);
}

TEST_CASE("an operation is longer only if the library shows it") {
  const auto row = communicator_of({0, 1});
  const auto sent = [](auto extra) {
    return operation_area([&](abi::operation& op) {
      fill_send(op, 1, 5);
      extra(op);
    });
  };
  const auto is_longer = [](const filled_area& area) { return is_longer_operation(area, queue_class::sends); };
  CHECK_FALSE(is_longer(sent([](abi::operation&) {})));
  CHECK_FALSE(is_longer(sent([](abi::operation& op) { op.extra_text[0][0] = 0; })));
  CHECK_FALSE(is_longer(sent([](abi::operation& op) { std::strcpy(op.extra_text[0], "Non-blocking send"); })));
  CHECK_FALSE(is_longer(sent([](abi::operation& op) { std::strcpy(op.extra_text[0], "Send"); })));
  CHECK_FALSE(is_longer(sent([](abi::operation& op) {
    std::strncpy(op.extra_text[0], "Send", sizeof op.extra_text[0]);  // pads with zeros
    op.extra_text[1][0] = 0;
  })));
  CHECK_FALSE(is_longer(sent([](abi::operation& op) { std::memset(op.extra_text, 0, sizeof op.extra_text); })));

  struct longer_operation {
    int status;
    long desired[2];
    int tag_wild;
    long desired_tag, desired_length;
    int system_buffer;
    unsigned long buffer, more;
    long actual[4];
    char extra_text[5][64];
  };
  static_assert(sizeof(longer_operation) == sizeof(abi::operation) + abi::longer_operation_by);
  filled_area area(sizeof(abi::operation));
  auto& op = *static_cast<longer_operation*>(area.data());
  op = {0, {1, 1}, 0, 5, 8, 0, 0x1000, 99, {1, 1, 5, 8}, {"text"}};
  CHECK(is_longer(area));
  area.prefill();
  // A library that sets only its members.
  op.status = op.tag_wild = op.system_buffer = 0;
  op.desired[0] = op.desired[1] = op.actual[0] = op.actual[1] = 1;
  op.desired_tag = op.actual[2] = 5;
  op.desired_length = op.actual[3] = 8;
  op.buffer = op.more = 0x1000;
  std::strcpy(op.extra_text[0], "text");
  op.extra_text[1][0] = 0;
  CHECK(is_longer(area));
  const auto value = decoded(area, queue_class::sends, row);
  REQUIRE(value.actual);
  CHECK((value.actual->tag == 5 && value.actual->length == 8 && value.actual->from_or_to.local == 1));
  CHECK(value.extra == std::vector<std::string>{"text"});
}

TEST_CASE("an invalid operation is an error") {
  const auto row = communicator_of({0, 1});
  const auto untouched = operation_area([](abi::operation&) {});
  CHECK_FALSE(decode_operation(untouched, queue_class::sends, false, row));
  for (const auto spoil :
       {+[](abi::operation& op) { op.status = 77; }, +[](abi::operation& op) { op.status = -1; },
        +[](abi::operation& op) { op.desired_local_rank = 1L << 40; },
        +[](abi::operation& op) { op.desired_tag = 1L << 40; }, +[](abi::operation& op) { op.desired_length = -5; }}) {
    const auto area = operation_area([&](abi::operation& op) {
      fill_send(op, 1, 1);
      spoil(op);
    });
    const auto op = decode_operation(area, queue_class::sends, false, row);
    REQUIRE_FALSE(op);
    CHECK(op.error().code == error_code::bad_format);
  }
}

TEST_CASE("a communicator's name may fill all of its 64 bytes") {
  filled_area area(sizeof(abi::communicator));
  auto& c = *static_cast<abi::communicator*>(area.data());
  c.unique_id = 3;
  c.local_rank = 4294967295;  // not a member
  c.size = 2;
  std::memset(c.name, 'n', sizeof c.name);
  const auto value = decode_communicator(area);
  REQUIRE(value);
  CHECK((value->name == std::string(64, 'n') && value->local_rank == -1 && value->id == 3));
  CHECK(area.written_past(sizeof c) == 0);
  c.size = -3;
  CHECK_FALSE(decode_communicator(area));
}

TEST_CASE("a report keeps the results before the end, and marks all others as unknown") {
  report_builder builder("/lib.so");
  builder.library({"version", 2, length_unit::bytes});
  builder.has_queues();
  builder.communicator(communicator_of({0, 1}));
  for (const auto c : all_queue_classes) {
    builder.queue_begins(c);
    builder.operation({});
    builder.queue_ends(c, queue_knowledge::complete);
  }
  builder.communicator(communicator_of({1, 0}));
  builder.queue_begins(queue_class::sends);
  builder.operation({});
  const auto report = builder.finish(fail(error_code::system, "it crashed"));
  REQUIRE(report);
  REQUIRE(report->communicators.size() == 2);
  CHECK(report->communicators[0].of(queue_class::unexpected).known == queue_knowledge::complete);
  CHECK(report->communicators[1].of(queue_class::sends).known == queue_knowledge::cut_short);
  CHECK(report->communicators[1].of(queue_class::sends).operations.size() == 1);
  CHECK(report->communicators[1].of(queue_class::receives).known == queue_knowledge::failed);
  CHECK(report->problems.size() == 1);

  report_builder early("/lib.so");
  early.library({"version", 2, length_unit::bytes});
  CHECK_FALSE(early.finish(fail(error_code::system, "it crashed")));
}

TEST_CASE("names are looked up in the forms that compilers make, and once") {
  fake_small_mpi mpi(lp64_little, 0, 2);
  mpi.symbols.define("mpi_wait_", target_address{0x11000}, 4, symbol_kind::function);
  mpi.symbols.define("with_score__", target_address{0x12000}, 4, symbol_kind::function);
  const auto subject = mpi.subject();
  target_answers answers(subject);
  CHECK(answers.find_function("MPI_WAIT", source_language::fortran).value() == 0x11000U);
  CHECK(answers.find_function("With_Score", source_language::fortran).value() == 0x12000U);
  CHECK_FALSE(answers.find_function("MPI_WAIT", source_language::c).value());
  const std::size_t looked_up = mpi.symbols.scopes.size();
  CHECK(answers.find_function("MPI_WAIT", source_language::fortran).value() == 0x11000U);
  CHECK_FALSE(answers.find_function("MPI_WAIT", source_language::c).value());
  CHECK(mpi.symbols.scopes.size() == looked_up);

  const auto type = answers.find_type("struct MPIR_Comm", source_language::c).value();
  REQUIRE(type);
  CHECK(answers.field_offset(*type, "comm_next").value() == 0);
  CHECK(answers.field_offset(*type, "nobody").value() == -1);
  CHECK(answers.field_offset(*type + 1, "comm_next").value() == -1);
  CHECK(answers.type_size(*type + 1).value() == 0);
  std::byte bytes[16];
  CHECK(answers.fetch(0x100000, bytes).value());
  CHECK_FALSE(answers.fetch(0x10, bytes).value());
}

TEST_CASE("callbacks accept only handles that they gave out") {
  CHECK(type_of_handle(type_handle(0)) == type_number{0});
  CHECK(type_of_handle(type_handle(4'000'000'000U)) == type_number{4'000'000'000U});
  CHECK_FALSE(type_of_handle(nullptr));
  CHECK_FALSE(type_of_handle(reinterpret_cast<abi::type*>(process_handle())));
  CHECK_FALSE(type_of_handle(reinterpret_cast<abi::type*>(std::uintptr_t{0xffffffff})));
  // Outside of a session no callback is answered.
  CHECK(basic_callback_table().malloc(16) == nullptr);
  CHECK(process_callback_table().fetch_data(process_handle(), 0, 1, nullptr) != abi::ok);
}
