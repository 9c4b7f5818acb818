// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The messages between the tool and the separate process. Each side is tested alone, with anything the other may send.
#include <thread>

#include <sys/socket.h>

#include "catch.hpp"
#include "fake_target.hpp"
#include "framing/frames.hpp"
#include "host/answer_server.hpp"
#include "host/report_record_reader.hpp"
#include "library/call_clock.hpp"
#include "separate/remote_answers.hpp"
#include "separate/shared_report.hpp"

using namespace mpiacq;
using namespace mpiacq::base;
using namespace mpiacq::mqd_host;
using namespace mpiacq::test;
using namespace std::chrono_literals;

namespace {

class no_types final : public type_source {
 public:
  result<std::optional<structure_layout>> type_named(std::string_view name, source_language /*language*/) override {
    ++asked;
    if (name != "pair") return std::nullopt;
    return structure_layout{
        "pair", 16, {{"first", 0, 8, false, true}, {"second", 8, 8, false, true}}, layout_source::fixed, "", ""};
  }
  int asked = 0;
};

/// Finds the name "here" and no other.
class few_names final : public process_answers {
 public:
  const target_abi& abi() const override { return lp64_little; }
  result<std::optional<std::uint64_t>> find_function(std::string_view name, source_language /*language*/) override {
    ++asked;
    return name == "here" ? std::optional<std::uint64_t>{0x1234} : std::nullopt;
  }
  result<std::optional<std::uint64_t>> find_symbol(std::string_view name) override {
    return find_function(name, source_language::c);
  }
  result<std::optional<type_number>> find_type(std::string_view /*name*/, source_language /*language*/) override {
    return std::nullopt;
  }
  result<std::int64_t> field_offset(type_number /*type*/, std::string_view /*field*/) override { return -1; }
  result<std::uint64_t> type_size(type_number /*type*/) override { return 0; }
  result<bool> fetch(std::uint64_t /*address*/, std::span<std::byte> /*into*/) override { return false; }
  int asked = 0;
};

/// A tool that answers on its own thread until its end of the socket is shut down.
class answering_tool {
 public:
  answering_tool() {
    int pair[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    ours_ = base::unique_fd{pair[0]};
    theirs_ = base::unique_fd{pair[1]};
    auto made = shared_memory::create();
    REQUIRE(made);
    area_.emplace(std::move(*made));
    thread_ = std::thread([this] { serve(); });
  }
  ~answering_tool() {
    ::shutdown(theirs_.get(), SHUT_RDWR);
    thread_.join();
  }

  fake_memory memory;
  fake_symbols symbols;
  few_names names;
  no_types types;
  queue_limits limits;
  int memory_requests = 0;

  [[nodiscard]] int socket() const { return theirs_.get(); }
  [[nodiscard]] shared_area& area() { return **area_; }

 private:
  void serve() {
    target process{memory, nullptr, lp64_little, symbols};
    const queue_subject subject{process, types, 0, ""};
    answer_server server(subject, names, limits);
    while (const auto frame = receive_frame(ours_.get(), longest_request)) {
      const auto what = decode<request>(*frame);
      if (!what) return;
      result<std::vector<std::byte>> bytes;
      if (const auto* name = std::get_if<look_up_request>(&*what)) bytes = server.answer(*name);
      if (const auto* type = std::get_if<type_request>(&*what)) bytes = server.answer(*type);
      if (const auto* pages = std::get_if<memory_request>(&*what)) {
        ++memory_requests;
        bytes = server.answer(*pages, area());
      }
      if (!bytes || !send_frame(ours_.get(), *bytes)) {
        ::shutdown(ours_.get(), SHUT_RDWR);
        return;
      }
    }
  }

  base::unique_fd ours_;
  base::unique_fd theirs_;
  std::optional<shared_memory> area_;
  std::thread thread_;
};

std::vector<std::byte> records(std::initializer_list<record> all) {
  std::vector<std::byte> bytes;
  for (const record& one : all) {
    const auto frame = as_frame(encode(one));
    bytes.insert(bytes.end(), frame.begin(), frame.end());
  }
  return bytes;
}

std::vector<std::byte> pattern(std::size_t length) {
  std::vector<std::byte> bytes(length);
  for (std::size_t i = 0; i < length; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 4096);
  return bytes;
}

}  // namespace

TEST_CASE("frames are whole, however their bytes arrive") {
  std::vector<std::byte> stream;
  for (const std::size_t length : {0U, 1U, 100U, 5000U}) {
    const auto frame = as_frame(pattern(length));
    stream.insert(stream.end(), frame.begin(), frame.end());
  }
  for (const std::size_t step : {1U, 3U, 4096U, 100'000U}) {
    frame_splitter splitter(longest_request);
    std::vector<std::size_t> lengths;
    for (std::size_t at = 0; at < stream.size();) {
      const std::size_t some = std::min(step, stream.size() - at);
      std::copy_n(stream.begin() + static_cast<std::ptrdiff_t>(at), some, splitter.room(step).begin());
      splitter.came(some);
      at += some;
      while (const auto frame = splitter.next()) {
        lengths.push_back(frame->size());
        const auto want = pattern(frame->size());
        CHECK(std::equal(frame->begin(), frame->end(), want.begin(), want.end()));
      }
    }
    CHECK(lengths == std::vector<std::size_t>{0, 1, 100, 5000});
    CHECK_FALSE(splitter.broken());
  }
}

TEST_CASE("the announced length of a frame that is too long ends the stream") {
  frame_splitter splitter(100);
  const auto frame = as_frame(pattern(101));
  std::copy_n(frame.begin(), 4, splitter.room(4).begin());
  splitter.came(4);
  CHECK_FALSE(splitter.next());
  CHECK(splitter.broken());
}

TEST_CASE("each page is requested once, together with some following pages") {
  answering_tool tool;
  const auto bytes = pattern(40 * read_page_size);
  tool.memory.map(target_address{0x10000}, bytes);
  const tool_link link(tool.socket());
  remote_memory memory(link, tool.area());
  std::vector<std::byte> got(8);
  for (std::uint64_t at = 0; at + 8 <= bytes.size(); at += 509) {
    REQUIRE(memory.read(0x10000 + at, got).value());
    REQUIRE(std::equal(got.begin(), got.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at)));
  }
  CHECK(tool.memory_requests <= 6);
  CHECK(tool.memory.bytes_read == bytes.size());
  // One read across all pages.
  std::vector<std::byte> all(bytes.size());
  REQUIRE(memory.read(0x10000, all).value());
  CHECK(all == bytes);
  CHECK(tool.memory.bytes_read == bytes.size());
}

TEST_CASE("unreadable memory costs one request, and its neighbours can be read") {
  answering_tool tool;
  tool.memory.map(target_address{0x10000}, pattern(read_page_size));
  tool.memory.map(target_address{0x12000}, pattern(read_page_size));
  const tool_link link(tool.socket());
  remote_memory memory(link, tool.area());
  std::vector<std::byte> got(16);
  CHECK(memory.read(0x10ff0, got).value());
  for (int i = 0; i < 5; ++i) CHECK_FALSE(memory.read(0x10ff8, got).value());
  CHECK_FALSE(memory.read(0x11000, got).value());
  CHECK(memory.read(0x12000, got).value());
  CHECK(tool.memory_requests == 2);
  // Memory that ends within a page, as in a core file.
  tool.memory.map(target_address{0x20000}, pattern(read_page_size + 100));
  CHECK(memory.read(0x20000 + read_page_size + 84, got).value());
  CHECK_FALSE(memory.read(0x20000 + read_page_size + 85, got).value());
  CHECK_FALSE(memory.read(UINT64_MAX - 4, got).value());
  CHECK_FALSE(memory.read(UINT64_MAX - 15, std::span{got}.first(15)).value());
}

TEST_CASE("names and types are requested once, types with all their fields") {
  answering_tool tool;
  const tool_link link(tool.socket());
  remote_answers answers(link, tool.area(), lp64_little);
  for (int i = 0; i < 3; ++i) {
    CHECK(answers.find_symbol("here").value() == 0x1234U);
    CHECK_FALSE(answers.find_symbol("nowhere").value());
    const auto pair = answers.find_type("pair", source_language::c).value();
    REQUIRE(pair);
    CHECK(answers.type_size(*pair).value() == 16);
    CHECK(answers.field_offset(*pair, "second").value() == 8);
    CHECK(answers.field_offset(*pair, "third").value() == -1);
    CHECK(answers.field_offset(*pair + 1, "first").value() == -1);
    CHECK(answers.type_size(77).value() == 0);
    CHECK_FALSE(answers.find_type("nothing", source_language::c).value());
  }
  CHECK(tool.names.asked == 2);
  CHECK(tool.types.asked == 2);
}

TEST_CASE("the limit of fetched memory ends the session") {
  answering_tool tool;
  tool.limits.fetched_bytes = 10 * read_page_size;
  tool.memory.map(target_address{0x10000}, pattern(40 * read_page_size));
  const tool_link link(tool.socket());
  remote_memory memory(link, tool.area());
  std::vector<std::byte> all(40 * read_page_size);
  CHECK_FALSE(memory.read(0x10000, all));
}

TEST_CASE("a report crosses the shared memory unchanged, even with a group that needs many records") {
  auto made = shared_memory::create();
  REQUIRE(made);
  const tool_link nobody(-1);
  shared_report said(nobody, **made);
  queue_communicator c;
  c.id = 7;
  c.name = "a \xc3\xa9 b";
  c.local_rank = 3;
  c.size = 5000;
  std::vector<std::int64_t> members(5000);
  for (std::size_t i = 0; i < 5000; ++i) members[i] = static_cast<std::int64_t>(4999 - i);
  c.group = std::move(members);
  said.library({"version", 3, length_unit::elements});
  said.has_queues();
  said.communicator(queue_communicator(c));
  said.queue_begins(queue_class::receives);
  queue_operation op;
  op.status = operation_status::matched;
  op.desired.any = true;
  op.tag = -7;
  op.buffer = target_address{0xffff'ffff'0000'0000};
  op.actual = queue_operation::message{{false, 2, 4U}, 9, 64};
  op.extra = {"one", "two"};
  said.operation(queue_operation(op));
  said.queue_ends(queue_class::receives, queue_knowledge::complete);
  said.missing({"type", "field"});
  said.problem(error{error_code::limit, "too much"});

  report_builder builder("/lib.so");
  const queue_limits limits;
  record_reader reader(builder, limits);
  const shared_area& area = **made;
  REQUIRE(reader.take(std::span{area.report}.first(area.said)));
  reader.finish();
  const auto report = builder.finish({});
  REQUIRE(report);
  CHECK(report->compatibility == 3);
  CHECK(report->unit == length_unit::elements);
  REQUIRE(report->communicators.size() == 1);
  CHECK(report->communicators[0].group == c.group);
  CHECK(report->communicators[0].name == c.name);
  const auto& receives = report->communicators[0].of(queue_class::receives);
  REQUIRE(receives.operations.size() == 1);
  CHECK(receives.known == queue_knowledge::complete);
  CHECK(receives.operations[0].status == operation_status::matched);
  CHECK(receives.operations[0].desired.any);
  CHECK(receives.operations[0].tag == -7);
  CHECK(receives.operations[0].buffer == op.buffer);
  CHECK(receives.operations[0].actual->from_or_to.global == 4U);
  CHECK(receives.operations[0].extra == op.extra);
  CHECK(report->missing.at(0).field == "field");
  CHECK(report->problems.at(0).code == error_code::limit);
}

TEST_CASE("invalid records are not passed on") {
  const queue_limits limits;
  const auto taken = [&](std::initializer_list<record> all) {
    report_builder builder("/lib.so");
    record_reader reader(builder, limits);
    return reader.take(records(all)).has_value();
  };
  const communicator_record world{1, "world", 0, 4, std::nullopt};
  CHECK(taken({world, queue_begins_record{queue_class::sends}, queue_operation{}}));
  CHECK_FALSE(taken({queue_operation{}}));
  CHECK_FALSE(taken({world, queue_operation{}}));
  CHECK_FALSE(taken({queue_begins_record{queue_class::sends}}));
  CHECK_FALSE(taken({world, queue_begins_record{static_cast<queue_class>(3)}}));
  CHECK_FALSE(taken({world, queue_ends_record{queue_class::sends, queue_knowledge::complete}}));
  CHECK_FALSE(taken({world, queue_begins_record{queue_class::sends},
                     queue_ends_record{queue_class::sends, static_cast<queue_knowledge>(9)}}));
  CHECK_FALSE(taken({world, group_record{{1, 2}}}));
  CHECK_FALSE(taken({communicator_record{1, "", 0, 4, UINT64_MAX}}));
  CHECK_FALSE(taken({error{static_cast<error_code>(200), "strange"}}));
  CHECK_FALSE(taken({library_facts{"", 2, static_cast<length_unit>(17)}}));
  queue_operation odd;
  odd.status = static_cast<operation_status>(3);
  CHECK_FALSE(taken({world, queue_begins_record{queue_class::sends}, odd}));
}

TEST_CASE("an incomplete group is dropped, and the numbers of a group are ranks or -1") {
  const queue_limits limits;
  report_builder builder("/lib.so");
  record_reader reader(builder, limits);
  REQUIRE(reader.take(records({has_queues_record{}, communicator_record{1, "half", 0, 4, 4U}, group_record{{0, 1}},
                               communicator_record{2, "odd", 0, 3, 3U}, group_record{{-77, 1, INT64_MAX}}})));
  reader.finish();
  const auto report = builder.finish({});
  REQUIRE(report);
  CHECK_FALSE(report->communicators.at(0).group);
  CHECK(report->communicators.at(1).group == std::vector<std::int64_t>{-1, 1, -1});
}

TEST_CASE("the time of a call begins when the clock first sees it, and the tool's own time does not count") {
  queue_limits limits;
  limits.call_time = 100ms;
  limits.process_time = 1000ms;
  const call_clock::time start{};
  using enum call_clock::verdict;
  call_clock clock(limits, start);
  CHECK(clock.look(0, start + 99ms) == in_time);
  CHECK(clock.look(0, start + 100ms) == call_too_long);
  CHECK(clock.look(1, start + 150ms) == in_time);
  CHECK(clock.look(1, start + 249ms) == in_time);
  CHECK(clock.look(1, start + 250ms) == call_too_long);
  clock.pause(50ms);
  CHECK(clock.look(1, start + 299ms) == in_time);
  for (int i = 2; i < 20; ++i) CHECK(clock.look(static_cast<std::uint64_t>(i), start + i * 50ms) == in_time);
  CHECK(clock.look(20, start + 1050ms) == process_too_long);
  CHECK(clock.milliseconds_to_look(start + 2000ms) == 1);
  CHECK(call_clock(limits, start).milliseconds_to_look(start) == 25);
}
