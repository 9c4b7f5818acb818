// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The messages about ends of ranks and core files. nlohmann_json's reader and writer of CBOR are the oracle.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "sample_messages.hpp"
#include "wire/agent_messages.hpp"

using namespace mpiacq;
using namespace mpiacq::agents;
using document = nlohmann::ordered_json;

namespace {

document document_of(const message& what) {
  std::vector<std::uint8_t> bytes;
  for (const std::byte one : encode(what)) bytes.push_back(std::to_integer<std::uint8_t>(one));
  return document::from_cbor(bytes);
}

result<message> decoded(const document& what) {
  std::vector<std::byte> bytes;
  for (const std::uint8_t one : document::to_cbor(what)) bytes.push_back(std::byte{one});
  return decode(bytes);
}

/// What the other side gets to know of a question, or of an answer.
template <class What>
What question_over_wire(const What& what) {
  auto read = decode(encode(ask{1, 5000, what}));
  REQUIRE(read.has_value());
  return std::get<What>(std::get<ask>(*read).what);
}
template <class Part>
Part answer_over_wire(const Part& part) {
  auto read = decode(encode(answer{1, rank_set(1), {}, part}));
  REQUIRE(read.has_value());
  return std::get<Part>(*std::get<answer>(*read).what);
}

/// The answer with two failed ranks; the first one has registers.
document answered_ends() {
  return document_of(answer{1, rank_set(1), {}, test::some_ends()});
}

document& first_end(document& all) {
  return all["answer"]["what"]["ends"]["failed"][0];
}

/// Why the answer is refused if this member of the first end has this value.
error refusal_with(const char* member, const document& value) {
  document all = answered_ends();
  REQUIRE(first_end(all).contains(member));
  first_end(all)[member] = value;
  const auto read = decoded(all);
  REQUIRE_FALSE(read.has_value());
  return read.error();
}

bool is_accepted_with(const char* member, const document& value) {
  document all = answered_ends();
  REQUIRE(first_end(all).contains(member));
  first_end(all)[member] = value;
  return decoded(all).has_value();
}

}  // namespace

TEST_CASE("messages of ends: questions arrive as they were asked") {
  CHECK(question_over_wire(ask_follow{true}).follow);
  CHECK_FALSE(question_over_wire(ask_follow{false}).follow);
  CHECK_FALSE(question_over_wire(ask_follow{true}).how.continue_stopped);
  CHECK(question_over_wire(ask_follow{true, {.continue_stopped = true}}).how.continue_stopped);
  CHECK(document_of(ask{1, 5000, ask_follow{false}})["ask"]["what"]["follow"]["follow"] == false);
  CHECK(document_of(ask{1, 5000, ask_ends{}})["ask"]["what"].contains("ends"));
  const rank_core_options how{rank_selection::parse("5-6").value(), "/tmp/cores", 4096};
  const rank_core_options there = question_over_wire(ask_cores{how}).how;
  CHECK(there.ranks.contains(entry_index{5}));
  CHECK(there.ranks.contains(entry_index{6}));
  CHECK_FALSE(there.ranks.contains(entry_index{4}));
  CHECK(there.folder == "/tmp/cores");
  CHECK(there.most_bytes == 4096);
}

TEST_CASE("messages of ends: the end of a rank arrives with all members, with and without registers") {
  const group_ends sent = test::some_ends();
  const group_ends read = answer_over_wire(sent);
  REQUIRE(read.failed.size() == 2);
  const rank_end& by_signal = read.failed[0];
  CHECK(by_signal.entry == entry_index{5});
  CHECK(by_signal.pid == process_id{105});
  CHECK(by_signal.status == exit_status{true, 11, false});
  CHECK(by_signal.thread == thread_id{106});
  CHECK(by_signal.signal_code == -6);
  CHECK(by_signal.sender == process_id{42});
  CHECK(by_signal.sender_name == "slurmstepd");
  CHECK(by_signal.fault == target_address{0x10});
  CHECK(by_signal.out_of_memory);
  CHECK(by_signal.phase == mpi_phase::unknown);
  REQUIRE(by_signal.registers.has_value());
  CHECK(by_signal.registers->thread == thread_id{106});
  CHECK(by_signal.registers->count == 17);
  CHECK(by_signal.registers->by_dwarf_number == sent.failed[0].registers->by_dwarf_number);
  CHECK(by_signal.registers->pc == target_address{0x401000});
  CHECK(by_signal.registers->sp == target_address{0x7ffd0000});
  const rank_end& by_exit = read.failed[1];
  CHECK(by_exit.status == exit_status{false, 3, false});
  CHECK(by_exit.phase == mpi_phase::running);
  CHECK_FALSE(by_exit.registers);
  CHECK(read.ended.text() == "7");
  CHECK(read.followed.text() == "0-4");
  REQUIRE(read.refused.size() == 1);
  CHECK(read.refused[0].ranks.text() == "9");
  CHECK(read.refused[0].why.code == error_code::busy);
  CHECK(read.stacks.taken.text() == "0-3");
  CHECK(read.stacks.tree.size() == sent.stacks.tree.size());
}

TEST_CASE("messages of ends: core files arrive as they were written") {
  const rank_cores read = answer_over_wire(
      rank_cores{{{entry_index{5}, "n1", "/tmp/cores/core.5.105", std::uint64_t{1} << 40U, 16}},
                 {{rank_set(6), error{error_code::system, "no space"}.with_errno(28).on("/tmp/cores/core.6.106")}}});
  REQUIRE(read.written.size() == 1);
  CHECK(read.written[0].entry == entry_index{5});
  CHECK(read.written[0].host == "n1");
  CHECK(read.written[0].path == "/tmp/cores/core.5.105");
  CHECK(read.written[0].bytes == std::uint64_t{1} << 40U);
  CHECK(read.written[0].unread == 16);
  REQUIRE(read.refused.size() == 1);
  CHECK(read.refused[0].ranks.text() == "6");
  CHECK_THAT(read.refused[0].why.message, ContainsSubstring("no space"));
}

TEST_CASE("messages of ends: a status that no process has is refused") {
  REQUIRE(decoded(answered_ends()).has_value());
  const auto no_status = ContainsSubstring("no process ends with such a status");
  CHECK(is_accepted_with("value", 64));
  for (const std::int64_t signal : {-1, 0, 65, 255}) {
    INFO(signal);
    const error why = refusal_with("value", signal);
    CHECK(why.code == error_code::bad_format);
    CHECK_THAT(why.message, no_status);
  }
  document exited = answered_ends();
  first_end(exited)["signaled"] = false;
  for (const std::int64_t status : {0, 255}) {
    first_end(exited)["value"] = status;
    CHECK(decoded(exited).has_value());
  }
  for (const std::int64_t status : {std::int64_t{-1}, std::int64_t{256}, std::int64_t{1} << 40}) {
    first_end(exited)["value"] = status;
    const auto read = decoded(exited);
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().code == error_code::bad_format);
  }
}

TEST_CASE("messages of ends: more registers than a machine has are refused") {
  const auto with_registers = [](std::size_t count) {
    document all = answered_ends();
    first_end(all)["registers"]["by_number"] = std::vector<std::uint64_t>(count, UINT64_MAX);
    return decoded(all);
  };
  CHECK(with_registers(0).has_value());
  CHECK(with_registers(thread_registers::most).has_value());
  for (const std::size_t count : {thread_registers::most + 1, std::size_t{300}, std::size_t{100'000}}) {
    const auto read = with_registers(count);
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().code == error_code::bad_format);
    CHECK_THAT(read.error().message, ContainsSubstring("too many registers"));
  }
}

TEST_CASE("messages of ends: a name that no process has is refused") {
  CHECK(is_accepted_with("sender_name", std::string(64, 'x')));
  CHECK_THAT(refusal_with("sender_name", std::string(65, 'x')).message, ContainsSubstring("name of a process is too"));
  CHECK_THAT(refusal_with("sender_name", std::string(1'000'000, 'x')).message,
             ContainsSubstring("name of a process is too"));
}

TEST_CASE("messages of ends: other values that an end cannot have are refused") {
  CHECK(refusal_with("phase", "elsewhere").code == error_code::bad_format);
  CHECK(refusal_with("signal_code", std::int64_t{1} << 40).code == error_code::bad_format);
  CHECK(refusal_with("registers", 7).code == error_code::bad_format);
  CHECK(refusal_with("out_of_memory", "yes").code == error_code::bad_format);
  document without = answered_ends();
  first_end(without).erase("thread");
  CHECK_FALSE(decoded(without).has_value());
}
