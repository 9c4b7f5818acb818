// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the tool and the tracing process send each other comes out as it went in, and nothing else is taken for it.
#include <fcntl.h>
#include <sys/socket.h>

#include "catch.hpp"
#include "wire/channel.hpp"
#include "wire/tracer_messages.hpp"

using namespace mpiacq;
using namespace mpiacq::tracing;
using base::wire_writer;

namespace {

std::vector<request_message> requests() {
  launch_command launch;
  launch.request = {{"mpirun", "-n", "4", ""}, std::vector<std::string>{"A=b", "C=\n"}, true, true};
  launch.surroundings = {"/bin:", 0x8000'0000'0000'0001, 2, 77, 022, {0, 1, 2, 40}};
  const process_id process{1234};
  const target_address address{0xffff'ffff'0000'0010};
  return {{1, begin_command{"0.1.0", std::chrono::milliseconds{5000}, std::chrono::milliseconds{60}}},
          {2, launch},
          {3, attach_command{process, {.follow_children = true}}},
          {3, resume_command{process}},
          {4, interrupt_command{process}},
          {5, detach_command{process, leave::stopped}},
          {6, kill_command{process}},
          {7, insert_breakpoint_command{process, address, breakpoint_kind::software}},
          {8, remove_breakpoint_command{process, address}},
          {9, insert_watchpoint_command{process, address, 4}},
          {9, remove_watchpoint_command{process, address}},
          {9, restore_on_exit_command{process, address, {std::byte{0}, std::byte{7}}}},
          {9, follow_children_command{process, true}},
          {10, threads_command{process}},
          {11, is_idle_command{}},
          {12, attach_all_command{{{process, 77}, {process_id{5}, {}}}, {.follow_children = true, .report_end = true}}},
          {13, detach_all_command{{process, process_id{5}}, leave::stopped}},
          {15, registers_command{{process, process_id{5}}, which_threads::first, register_sets::with_floating_point}},
          {15, keep_held_command{}}};
}

}  // namespace

TEST_CASE("every command is decoded as it was encoded, and no part of one is taken for a whole one") {
  CHECK(requests().size() == std::variant_size_v<command>);
  for (const request_message& request : requests()) {
    INFO("command " << request.what.index());
    const auto bytes = encode(request);
    const auto back = decode<request_message>(bytes);
    REQUIRE(back.has_value());
    CHECK(back->events_taken == request.events_taken);
    CHECK(back->what.index() == request.what.index());
    CHECK(encode(*back) == bytes);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      CHECK_FALSE(decode<request_message>(std::span{bytes}.first(length)).has_value());
    }
    auto more = bytes;
    more.push_back(std::byte{0});
    CHECK_FALSE(decode<request_message>(more).has_value());
  }
}

TEST_CASE("every member of a message arrives in its place") {
  const auto back = decode<request_message>(encode(requests()[1]));
  REQUIRE(back.has_value());
  const auto& launch = std::get<launch_command>(back->what);
  CHECK(launch.request.arguments == std::vector<std::string>{"mpirun", "-n", "4", ""});
  CHECK(launch.request.environment == std::vector<std::string>{"A=b", "C=\n"});
  CHECK(launch.request.kill_with_tool);
  CHECK(launch.surroundings.search_path == "/bin:");
  CHECK(launch.surroundings.blocked_signals == 0x8000'0000'0000'0001);
  CHECK(launch.surroundings.ignored_signals == 2);
  CHECK(launch.surroundings.process_group == 77);
  CHECK(launch.surroundings.file_mode_mask == 022U);
  CHECK(launch.surroundings.descriptors == std::vector<int>{0, 1, 2, 40});
}

TEST_CASE("answers and errors are decoded as they were encoded") {
  const auto threads = result<std::vector<thread_id>>{{thread_id{5}, thread_id{6}}};
  CHECK(decode<result<std::vector<thread_id>>>(encode(threads)).value().value() == *threads);
  const result<void> failed =
      fail(error{error_code::permission, "attach to 7"}.with_errno(EPERM).at(target_address{9}).on("/proc/7"));
  const auto back = decode<result<void>>(encode(failed));
  REQUIRE(back.has_value());
  REQUIRE_FALSE(back->has_value());
  CHECK(back->error().code == error_code::permission);
  CHECK(back->error().system_errno == EPERM);
  CHECK(back->error().address == target_address{9});
  CHECK(back->error().path == "/proc/7");
  CHECK(back->error().message == failed.error().message);
}

TEST_CASE("registers keep their numbers, and a message with more registers than exist is refused") {
  thread_registers sent;
  sent.thread = thread_id{12};
  sent.count = 3;
  sent.by_dwarf_number = {1, UINT64_MAX, 3, 4};
  sent.pc = target_address{5};
  sent.sp = target_address{6};
  sent.prstatus_registers = {std::byte{7}, std::byte{0}, std::byte{8}};
  sent.floating_point = {std::byte{9}};
  auto bytes = encode(sent);
  const auto back = decode<thread_registers>(bytes);
  REQUIRE(back.has_value());
  CHECK(back->thread == sent.thread);
  CHECK(back->count == 3);
  CHECK(std::vector(back->by_dwarf_number.begin(), back->by_dwarf_number.begin() + 4) ==
        std::vector<std::uint64_t>{1, UINT64_MAX, 3, 0});
  CHECK(back->pc == sent.pc);
  CHECK(back->sp == sent.sp);
  CHECK(back->prstatus_registers == sent.prstatus_registers);
  CHECK(back->floating_point == sent.floating_point);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CHECK_FALSE(decode<thread_registers>(std::span{bytes}.first(length)).has_value());
  }
  bytes[24] = std::byte{200};
  bytes.resize(4000);
  CHECK_FALSE(decode<thread_registers>(bytes).has_value());
}

TEST_CASE("a register set of an impossible length is refused") {
  for (const auto set : {&thread_registers::prstatus_registers, &thread_registers::floating_point}) {
    thread_registers sent;
    for (const std::size_t length : {std::size_t{0}, thread_registers::most_set_bytes}) {
      (sent.*set).assign(length, std::byte{1});
      CHECK(decode<thread_registers>(encode(sent)).has_value());
    }
    (sent.*set).push_back(std::byte{1});
    CHECK_FALSE(decode<thread_registers>(encode(sent)).has_value());
  }
}

TEST_CASE("an event arrives with every member in its place") {
  const process_ending sent{
      {.signaled = true, .value = 11, .core_dumped = true}, thread_id{5}, 2, process_id{6}, target_address{7}};
  const auto bytes = encode(process_event{process_id{4}, sent});
  const auto back = decode<process_event>(bytes);
  REQUIRE(back.has_value());
  CHECK(back->process == process_id{4});
  REQUIRE(std::holds_alternative<process_ending>(back->what));
  const auto& got = std::get<process_ending>(back->what);
  CHECK(got.status == sent.status);
  CHECK(got.thread == sent.thread);
  CHECK(got.signal_code == 2);
  CHECK(got.sender == sent.sender);
  CHECK(got.fault == sent.fault);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CHECK_FALSE(decode<process_event>(std::span{bytes}.first(length)).has_value());
  }
}

TEST_CASE("impossible lengths and kinds are refused before memory is taken for them") {
  wire_writer list;
  list.put(std::uint64_t{1} << 40);
  CHECK_FALSE(decode<std::vector<std::string>>(list.bytes()).has_value());
  CHECK_FALSE(decode<std::string>(list.bytes()).has_value());
  wire_writer kind;
  kind.put(std::uint64_t{0});
  kind.put(std::uint8_t{200});
  CHECK_FALSE(decode<request_message>(kind.bytes()).has_value());
}

TEST_CASE("a frame brings its descriptors, also many of them, and a frame that is cut off is refused") {
  auto sockets = make_socket_pair(SOCK_STREAM);
  REQUIRE(sockets.has_value());
  const unique_fd null{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  const std::vector<int> many(600, null.get());
  const std::vector<std::byte> bytes(1000, std::byte{7});
  REQUIRE(send_frame(sockets->ours.get(), bytes, many));
  const auto whole = receive_frame(sockets->theirs.get());
  REQUIRE(whole.has_value());
  CHECK(whole->bytes == bytes);
  CHECK(whole->descriptors.size() == many.size());
  for (const unique_fd& fd : whole->descriptors) CHECK((::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC) != 0);
  const std::uint32_t head[2] = {100, 0};
  REQUIRE(::send(sockets->ours.get(), head, sizeof head, 0) == sizeof head);
  sockets->ours.reset();
  CHECK_FALSE(receive_frame(sockets->theirs.get()).has_value());
}
