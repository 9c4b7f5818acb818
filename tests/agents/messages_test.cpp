// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The messages of agents. nlohmann_json's reader and writer of CBOR are the oracle.
#include <algorithm>
#include <numeric>

#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "sample_messages.hpp"
#include "wire/agent_messages.hpp"
#include "wire/cbor.hpp"
#include "wire/queue_documents.hpp"

using namespace mpiacq;
using namespace mpiacq::agents;
using ordered = nlohmann::ordered_json;

namespace {

std::vector<std::uint8_t> numbers(const std::vector<std::byte>& bytes) {
  std::vector<std::uint8_t> all;
  for (const std::byte b : bytes) all.push_back(std::to_integer<std::uint8_t>(b));
  return all;
}

std::vector<std::byte> bytes_of(const std::vector<std::uint8_t>& numbers) {
  std::vector<std::byte> all;
  for (const std::uint8_t n : numbers) all.push_back(std::byte{n});
  return all;
}

/// The document as another program writes it.
std::vector<std::byte> written_elsewhere(const ordered& document) {
  return bytes_of(ordered::to_cbor(document));
}

ordered read_elsewhere(const message& what) {
  return ordered::from_cbor(numbers(encode(what)));
}

error refusal(const std::vector<std::byte>& bytes) {
  const auto read = decode(bytes);
  REQUIRE_FALSE(read.has_value());
  return read.error();
}

}  // namespace

TEST_CASE("messages: each is decoded to what was encoded, in the form that another CBOR writer uses") {
  for (const message& what : test::sample_messages()) {
    const auto bytes = encode(what);
    CAPTURE(what.index());
    CHECK(ordered::to_cbor(ordered::from_cbor(numbers(bytes))) == numbers(bytes));
    const auto back = decode(bytes);
    REQUIRE(back.has_value());
    CHECK(back->index() == what.index());
    CHECK(encode(*back) == bytes);
  }
}

TEST_CASE("messages: a long one calls for signs of life while it is written, cut off, and read") {
  const std::size_t values = std::size_t{10} * values_between_pulses;
  std::size_t beats = 0;
  const auto beat = [&beats] { ++beats; };
  cbor_writer writer(beat);
  for (std::size_t i = 0; i < values; ++i) writer.put_unsigned(i);
  CHECK(beats == 10);
  const auto bytes = std::move(writer).take();
  cbor_reader reader(bytes, beat);
  for (std::size_t i = 0; i < values; ++i) static_cast<void>(reader.get_unsigned());
  CHECK(reader.finish().has_value());
  CHECK(beats == 20);
  // The rest of a document that is too long takes time, too.
  cbor_writer full(beat);
  full.put_text(std::string(most_written + 1, 'x'));
  for (std::size_t i = 0; i < values; ++i) full.put_unsigned(i);
  CHECK(beats == 30);
}

TEST_CASE("messages: groups of many members call for signs of life, although few bytes describe them") {
  std::vector<std::int64_t> members(std::size_t{10} * values_between_pulses);
  group_queues queues;
  rank_report& rank = queues.ranks.emplace_back();
  rank.report = queue_report{};
  for (std::int64_t first : {0, 5}) {
    std::iota(members.begin(), members.end(), first);
    rank.report->communicators.emplace_back().group = members;
  }
  std::size_t beats = 0;
  const auto beat = [&beats] { ++beats; };
  answer whole;
  whole.what = std::move(queues);
  const auto bytes = encode(whole, beat);
  CHECK(bytes.size() < 10'000);
  CHECK(beats == 2);
  CHECK(decode(bytes, beat).has_value());
  CHECK(beats == 4);
}

TEST_CASE("messages: names and words are the same as in the JSON documents") {
  const auto samples = test::sample_messages();
  const ordered hold = read_elsewhere(samples[8]);
  CHECK(hold["schema"] == "mpiacq.agent/6");
  CHECK(hold["answer"]["agents"] == "0-3,7");
  CHECK(hold["answer"]["what"]["hold"]["others"][0]["state"] == "busy");
  CHECK(hold["answer"]["problems"][0]["why"]["code"] == "permission");
  const ordered stacks = read_elsewhere(samples[10])["answer"]["what"]["stacks"];
  CHECK(stacks["tree"]["nodes"][1]["place"]["function"] == "main");
  CHECK(stacks["tree"]["nodes"][1]["ranks"] == "0-1,3");
  CHECK(stacks["refused"][0]["ranks"] == "9");
  CHECK(stacks["calls"][0]["rank"] == 1);
  CHECK(stacks["calls"][0]["doing"]["arguments"][0]["source"] == "instructions");
  const ordered queues = read_elsewhere(samples[11])["answer"]["what"]["queues"];
  CHECK(queues["ranks"][0]["report"]["value"]["communicators"][0]["queues"][0]["known"] == "complete");
  CHECK(queues["ranks"][1]["report"]["error"]["message"] == "has ended");
  CHECK(queues["ranks"][0]["doing"]["call"] == "MPI_Recv");
  CHECK(queues["ranks"][0]["doing"]["arguments"][1]["name"] == "MPI_ANY_SOURCE");
  CHECK(queues["ranks"][0]["doing"]["requests"]["pending"][0]["kind"] == "collective");
  CHECK(queues["ranks"][0]["doing"]["requests"]["unknown"] == 5);
  CHECK(queues["ranks"][0]["doing"]["on"]["by"] == "communicator");
  CHECK(queues["ranks"][0]["doing"]["on"]["facts"]["name"] == "half");
  CHECK(queues["ranks"][0]["doing"]["at"] == ordered({{"function", "solve"}, {"file", "/src/solver.c"}, {"line", 88}}));
}

TEST_CASE("messages: a group that two communicators share is sent once") {
  const auto answers = std::get<answer>(test::sample_messages()[11]);
  const ordered queues = read_elsewhere(answers)["answer"]["what"]["queues"];
  REQUIRE(queues["groups"].size() == 4);   // two of listed communicators, two of the call's
  CHECK(queues["groups"][0].size() == 2);  // 0, 2, 4, 6, and one that nobody can place
  CHECK(queues["groups"][0][0] == ordered({{"first", 0}, {"step", 2}, {"count", 4}}));
  const auto back = decode(encode(answers));
  const auto& seen = std::get<group_queues>(*std::get<answer>(*back).what);
  CHECK(seen.ranks[0].report->communicators[1].group == std::vector<std::int64_t>{0, 2, 4, 6, -1});
  CHECK(seen.ranks[0].report->communicators[1].remote_group == std::vector<std::int64_t>{1, 3});
}

TEST_CASE("messages: the communicator of a call arrives with its groups") {
  const auto answers = std::get<answer>(test::sample_messages()[11]);
  const auto back = decode(encode(answers));
  const auto& seen = std::get<group_queues>(*std::get<answer>(*back).what);
  REQUIRE(seen.ranks[0].doing.on);
  const called_communicator& one = *seen.ranks[0].doing.on;
  CHECK(one.by == mpi_role::communicator);
  CHECK(one.facts.id == 9);
  CHECK(one.facts.local_rank == 1);
  CHECK(one.facts.size == 3);
  CHECK(one.facts.group == group_members{1, 4, 9});
  CHECK(one.facts.remote_group == group_members{0, 2});
  CHECK(one.sources == std::vector<std::int64_t>{0, 2});
  CHECK_FALSE(seen.ranks[1].doing.on);
}

TEST_CASE("messages: groups of a call without a communicator are refused") {
  ordered document = read_elsewhere(std::get<answer>(test::sample_messages()[11]));
  REQUIRE(decode(written_elsewhere(document)).has_value());
  ordered wrong = document;
  wrong["answer"]["what"]["queues"]["called"][1]["group"] = 0;
  CHECK(refusal(written_elsewhere(wrong)).code == error_code::bad_format);
  wrong = document;
  wrong["answer"]["what"]["queues"]["called"][0]["group"] = 4;
  CHECK(refusal(written_elsewhere(wrong)).code == error_code::bad_format);
  wrong = document;
  wrong["answer"]["what"]["queues"]["called"].erase(1);
  CHECK(refusal(written_elsewhere(wrong)).code == error_code::bad_format);
}

TEST_CASE("messages: a decoded call tree merges like a local one") {
  call_tree both, here, there;
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    const std::vector<std::string> calls = {"main", rank % 3 == 0 ? "a" : "b", "wait"};
    test::add_stack(rank < 4 ? here : there, rank, calls);
    test::add_stack(both, rank, calls);
  }
  auto back = decode(encode(answer{1, rank_set(1), {}, group_stacks{there, {}, {}, {}, {}}}));
  REQUIRE(back.has_value());
  here.merge(std::get<group_stacks>(*std::get<answer>(*back).what).tree);
  REQUIRE(here.size() == both.size());
  const auto order = here.in_order(), expected = both.in_order();
  for (std::size_t i = 1; i < order.size(); ++i) {
    CHECK(*here[order[i]].place == *both[expected[i]].place);
    CHECK(here[order[i]].ranks == both[expected[i]].ranks);
    CHECK(here[order[i]].standing == both[expected[i]].standing);
    CHECK(here[order[i]].stacks == both[expected[i]].stacks);
    CHECK_FALSE(here[order[i]].moved());
  }
}

TEST_CASE("messages: a message that is cut or has a changed byte is refused, or means something else") {
  for (const message& what : test::sample_messages()) {
    const auto bytes = encode(what);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      const auto read = decode(std::span(bytes).first(length));
      REQUIRE_FALSE(read.has_value());
      REQUIRE(read.error().code == error_code::bad_format);
    }
    auto longer = bytes;
    longer.push_back(std::byte{0});
    CHECK_THAT(refusal(longer).message, ContainsSubstring("the end is expected there"));
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      auto changed = bytes;
      changed[at] ^= std::byte{1};
      const auto read = decode(changed);
      if (read) CHECK(encode(*decode(encode(*read))) == encode(*read));
    }
  }
}

TEST_CASE("messages: another version is refused, and the reason names it") {
  const error why =
      refusal(written_elsewhere({{"schema", "mpiacq.agent/0"}, {"heartbeat", {{"done", 0}, {"all", 0}}}}));
  CHECK(why.code == error_code::unsupported);
  CHECK_THAT(why.message, ContainsSubstring("mpiacq.agent/0") && ContainsSubstring("mpiacq.agent/6"));
}

TEST_CASE("messages: a well-formed document that is not a message is refused with the wrong byte") {
  const ordered fine = {{"schema", "mpiacq.agent/6"}, {"heartbeat", {{"done", 0}, {"all", 0}}}};
  REQUIRE(decode(written_elsewhere(fine)).has_value());
  ordered other = fine;
  other["heartbeat"]["more"] = 1;
  CHECK(refusal(written_elsewhere(other)).code == error_code::bad_format);
  CHECK_THAT(refusal(written_elsewhere({{"schema", "mpiacq.agent/6"}, {"begin", nullptr}})).message,
             ContainsSubstring("an unknown kind") && ContainsSubstring("byte 29 of 30"));
  other = fine;
  other["heartbeat"]["done"] = -1;
  CHECK(refusal(written_elsewhere(other)).code == error_code::bad_format);
  other["heartbeat"]["done"] = 1.5;
  CHECK(refusal(written_elsewhere(other)).code == error_code::bad_format);
  other["heartbeat"] = ordered::array();
  CHECK(refusal(written_elsewhere(other)).code == error_code::bad_format);
}

TEST_CASE("messages: wrong counts and deep nesting cost no memory") {
  // Nested arrays where an object is expected.
  std::vector<std::byte> nest(1'000'000, std::byte{0x81});
  CHECK(refusal(nest).code == error_code::bad_format);
  // An array of 2^60 problems that consists only of its head.
  cbor_writer writer;
  writer.begin_map(2);
  writer.put_text("schema");
  writer.put_text(schema);
  writer.put_text("answer");
  writer.begin_map(4);
  writer.put_text("number");
  writer.put_unsigned(1);
  writer.put_text("agents");
  writer.put_text("");
  writer.put_text("problems");
  writer.begin_array(std::size_t{1} << 60U);
  CHECK_THAT(refusal(std::move(writer).take()).message, ContainsSubstring("1152921504606846976 elements"));
  CHECK(refusal(std::vector<std::byte>(most_bytes + 1)).code == error_code::limit);
}

TEST_CASE("messages: a group that is too large for memory is left out, and its rank has a problem") {
  ordered document = read_elsewhere(test::sample_messages()[11]);
  auto& queues = document["answer"]["what"]["queues"];
  const auto whole = queues;
  // Two runs whose sum has more than 64 bits, and a run that alone is too long.
  for (const std::uint64_t count : {UINT64_MAX - 1, most_group_members(2) + 1}) {
    queues["groups"][0][0]["count"] = count;
    const auto read = decode(written_elsewhere(document));
    INFO((read ? "" : read.error().message));
    REQUIRE(read.has_value());
    const auto& seen = std::get<group_queues>(*std::get<answer>(*read).what);
    REQUIRE(seen.ranks.size() == 2);
    REQUIRE(seen.ranks[0].report.has_value());
    const queue_report& report = *seen.ranks[0].report;
    REQUIRE(report.communicators.size() == 2);
    CHECK_FALSE(report.communicators[0].group);
    CHECK(report.communicators[1].remote_group == std::vector<std::int64_t>{1, 3});
    CHECK(report.communicators[0].of(queue_class::sends).operations.size() == 1);
    REQUIRE(report.problems.size() == 2);
    CHECK(report.problems[1].code == error_code::limit);
    CHECK_THAT(report.problems[1].message, ContainsSubstring("are left out"));
  }
  queues = whole;
  queues["groups"][0][0] = {{"first", std::int64_t{1} << 60}, {"step", 1}, {"count", 2}};
  CHECK(refusal(written_elsewhere(document)).code == error_code::bad_format);
  queues["used"][0][0]["group"] = queues["groups"].size();
  CHECK_THAT(refusal(written_elsewhere(document)).message, ContainsSubstring("group is not there"));
}

TEST_CASE("messages: each node of a call tree is checked") {
  const ordered document = read_elsewhere(test::sample_messages()[10]);
  const auto changed = [&](std::size_t node, const char* key, const ordered& value) {
    ordered other = document;
    other["answer"]["what"]["stacks"]["tree"]["nodes"][node][key] = value;
    return refusal(written_elsewhere(other)).message;
  };
  CHECK_THAT(changed(1, "parent", 1), ContainsSubstring("node 1 of a call tree stands before its parent"));
  CHECK_THAT(changed(2, "ranks", "0-2"), ContainsSubstring("has ranks that its parent has not"));
  CHECK_THAT(changed(2, "standing", "7"), ContainsSubstring("has ranks that are not there"));
  CHECK_THAT(changed(2, "place", nullptr), ContainsSubstring("is neither a frame nor the end of a stack"));
  CHECK_THAT(changed(2, "ranks", "1,0"), ContainsSubstring("not a set of ranks in its usual form"));
  CHECK_THAT(changed(0, "end", "frame-limit"), ContainsSubstring("node 0 of a call tree is no root"));
  CHECK_THAT(changed(2, "end", "never"), ContainsSubstring("an unknown word"));
  // A set of ranks has one form.
  const auto again = ContainsSubstring("lacks its ranks, or repeats known ones");
  CHECK_THAT(changed(0, "ranks", nullptr), again);
  CHECK_THAT(changed(2, "steady", "0-1"), again);
  ordered twice = document;
  auto& nodes = twice["answer"]["what"]["stacks"]["tree"]["nodes"];
  nodes.push_back(nodes[1]);
  CHECK_THAT(refusal(written_elsewhere(twice)).message, ContainsSubstring("is there twice"));
}

TEST_CASE("messages: a text has one encoding, as UTF-8 or as bytes") {
  CHECK(is_utf8("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"));
  for (const char* wrong : {"\xe9", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
                            "\xe2\x82", "\x80"}) {
    CHECK_FALSE(is_utf8(wrong));
  }
  cbor_writer writer;
  writer.put_bytes(std::as_bytes(std::span("plain", 5)));
  const auto bytes = std::move(writer).take();
  cbor_reader reader(bytes);
  CHECK(reader.get_text().empty());
  CHECK_FALSE(reader.finish().has_value());
}

TEST_CASE("messages: the account of a remote process unfolds to what was read there") {
  const auto samples = test::sample_messages();
  const ordered said = read_elsewhere(samples[15])["answer"]["what"]["visits"]["of"][0]["said"][0];
  CHECK(said["state"] == "read");
  CHECK(said["info"]["block"]["meta_pid"] == 42);
  // 100, 101, 102, and -1 by itself.
  CHECK(said["processes"]["entries"]["pids"] == ordered({100, 1, 3, -1, 1, 1}));
  const auto back = decode(encode(samples[15]));
  REQUIRE(back.has_value());
  account_maker accounts;
  const auto& there = std::get<visits_part>(*std::get<answer>(*back).what).of.at(0);
  const mpi2dd::process_account made = accounts.make(there.said.at(0));
  const mpi2dd::process_account meant = test::some_account();
  REQUIRE(made.processes.entries.has_value());
  const auto& read = *made.processes.entries;
  const auto& expected = *meant.processes.entries;
  CHECK(std::ranges::equal(read.hosts(), expected.hosts()));
  CHECK(std::ranges::equal(read.worlds(), expected.worlds()));
  CHECK(std::ranges::equal(read.spawns(), expected.spawns()));
  CHECK(std::ranges::equal(read.pids(), expected.pids()));
  CHECK(std::ranges::equal(read.ranks(), expected.ranks()));
  CHECK(read.string(4) == "caf\xe9");
  CHECK(read.spawn_descriptions()[0].parent_world == 3);
  CHECK(read.facts().problems[0].sentence() == expected.facts().problems[0].sentence());
  CHECK(read.facts().shortfall->message == "the last entry is not there");
  CHECK(made.info->block == meant.info->block);
  CHECK(made.directories.entries->stride().why == "by its entries");
  CHECK(made.metadirectories.failure->address == target_address{1});
  CHECK(made.own_names == meant.own_names);
  CHECK(accounts.make(there.said.at(1)).failure->code == error_code::process_gone);
}

TEST_CASE("messages: impossible tables of a process are that process's failure") {
  const ordered document = read_elsewhere(test::sample_messages()[15]);
  const auto failure = [&](const std::string& pointer, const ordered& value) {
    ordered other = document;
    other["answer"]["what"]["visits"]["of"][0]["said"][0][ordered::json_pointer(pointer)] = value;
    const auto read = decode(written_elsewhere(other));
    REQUIRE(read.has_value());
    account_maker accounts;
    const auto& there = std::get<visits_part>(*std::get<answer>(*read).what).of.at(0);
    const mpi2dd::process_account made = accounts.make(there.said.at(0));
    CHECK(made.state == mpi2dd::visit_state::unreachable);
    CHECK(accounts.make(there.said.at(1)).failure->message == "there is no process 7");
    REQUIRE(made.failure.has_value());
    return made.failure->message;
  };
  CHECK_THAT(failure("/processes/entries/pids", {100, 1, 3}), ContainsSubstring("columns of different lengths"));
  CHECK_THAT(failure("/processes/entries/pids", {100, 1, 4, 7}), ContainsSubstring("ends within a run"));
  CHECK_THAT(failure("/processes/entries/pids", {0, 1, std::int64_t{1} << 40}), ContainsSubstring("too many entries"));
  CHECK_THAT(failure("/processes/entries/pids", {0, 1, -1}), ContainsSubstring("too many entries"));
  CHECK_THAT(failure("/processes/entries/ranks", {INT32_MAX, 1, 4}), ContainsSubstring("out of range"));
  CHECK_THAT(failure("/processes/entries/ranks", {0, INT64_MAX, 4}), ContainsSubstring("out of range"));
  CHECK_THAT(failure("/processes/entries/hosts", {5, 0, 4}), ContainsSubstring("a string that is not there"));
  CHECK_THAT(failure("/processes/entries/spawns", {1, 0, 4}), ContainsSubstring("a spawn that is not there"));
  CHECK_THAT(failure("/processes/entries/spawned_by/worlds", {9, 0, 1}),
             ContainsSubstring("a world that is not there"));
  CHECK_THAT(failure("/processes/entries/strings/1", "n1"), ContainsSubstring("a string twice"));
  CHECK_THAT(failure("/processes/entries/facts/problems/0/entry", 4), ContainsSubstring("a problem of no entry"));
  CHECK_THAT(failure("/directories/entries/hosts", {1, 0, 1}), ContainsSubstring("a string that is not there"));
  CHECK_THAT(failure("/state", "waiting"), ContainsSubstring("contradicts the rest"));
  CHECK_THAT(failure("/info", nullptr), ContainsSubstring("contradicts the rest"));
}
