// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Unexpected messages read from Open MPI's own structures in fake memory, including states that no MPI produces.
#include <random>

#include "catch.hpp"
#include "ob1_process.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// "0/10 tag 7: 100, 1/11 tag 8: 5": rank in the communicator and in the job, tag, bytes.
std::string text_of(const queue_listing& listing) {
  std::string text;
  for (const queue_operation& one : listing.operations) {
    if (!text.empty()) text += ", ";
    text += std::to_string(one.desired.local.value()) + "/" +
            (one.desired.global ? std::to_string(*one.desired.global) : "?") + " tag " +
            std::to_string(one.tag.value()) + ": " + std::to_string(one.length);
  }
  return text;
}

}  // namespace

TEST_CASE("the unexpected messages of Open MPI are listed by senders in the order of their arrival") {
  ob1_process rank;
  rank.arrive(1, 10, 5);
  rank.arrive(0, 7, 100);
  const auto later = rank.arrive(1, 11, 0);
  rank.put(ob1_process::message(later) + 40, 0x42, 1);
  rank.put(ob1_process::message(later) + 56, 1 << 20);
  const auto fetched = rank.arrive(1, -17, 0);
  rank.put(ob1_process::message(fetched) + 40, 0x43, 1);
  rank.put(ob1_process::message(fetched) + 56, 9);
  rank.look();
  CHECK(text_of(rank.found()) == "0/10 tag 7: 100, 1/11 tag 10: 5, 1/11 tag 11: 1048576, 1/11 tag -17: 9");
  CHECK(rank.found().known == queue_knowledge::complete);
  CHECK(rank.found().origin == queue_origin::memory);
  CHECK(rank.found().operations[0].buffer == target_address{0x7f000000100e});
  CHECK(rank.found().operations[0].system_buffer);
  CHECK(rank.found().operations[2].buffer == target_address{});
  CHECK(rank.report.problems.empty());
  for (const auto other : {queue_class::sends, queue_class::receives}) {
    CHECK(rank.report.communicators[0].of(other).origin == queue_origin::library);
  }
}

TEST_CASE("a rank of Open MPI without unexpected messages is known to have none") {
  ob1_process rank;
  SECTION("no sender has an object yet") {
    rank.put(ob1_place::pml + 72, 0);
  }
  SECTION("empty lists") {}
  rank.look();
  CHECK(rank.found().operations.empty());
  CHECK(rank.found().known == queue_knowledge::complete);
  CHECK(rank.found().origin == queue_origin::memory);
}

TEST_CASE("the header of an unexpected message of Open MPI may be padded, and data may be in several segments") {
  ob1_process rank;
  const auto sent = rank.arrive(0, 7, 100);
  SECTION("padded") {
    rank.types.define("mca_pml_ob1_match_hdr_t",
                      {number("hdr_common", 0, 2), number("hdr_src", 4), number("hdr_tag", 8), number("hdr_seq", 12, 2),
                       number("hdr_padding", 14, 2)},
                      16);
    rank.look();
    CHECK(text_of(rank.found()) == "0/10 tag 7: 98");
  }
  SECTION("two segments") {
    rank.put(ob1_process::message(sent) + 80, 2);
    rank.put(ob1_process::message(sent) + 120, 1000);
    rank.look();
    CHECK(text_of(rank.found()) == "0/10 tag 7: 1100");
  }
}

TEST_CASE("unexpected messages of Open MPI that have overtaken another one are listed, too") {
  ob1_process rank;
  rank.arrive(1, 1, 1);
  // A ring of two, of which the first one has two followers.
  const auto first = rank.make_message(1, 20, 1), follower = rank.make_message(1, 21, 1);
  const auto second_follower = rank.make_message(1, 22, 1), second = rank.make_message(1, 30, 1);
  const auto link = [&](std::uint64_t from, std::uint64_t to) {
    rank.put(ob1_process::message(from) + 16, ob1_process::at(ob1_process::message(to)));
  };
  link(first, second);
  link(second, first);
  link(follower, second_follower);
  link(second_follower, follower);
  rank.put(ob1_process::message(first) + 88, ob1_process::at(ob1_process::message(follower)));
  rank.put(ob1_process::sender(1) + 24, ob1_process::at(ob1_process::message(first)));
  SECTION("as Open MPI links them") {
    rank.look();
    CHECK(text_of(rank.found()) == "1/11 tag 1: 1, 1/11 tag 20: 1, 1/11 tag 21: 1, 1/11 tag 22: 1, 1/11 tag 30: 1");
    CHECK(rank.found().operations[0].extra.empty());
    CHECK(rank.found().operations[1].extra.size() == 1);
    CHECK(rank.report.problems.empty());
  }
  SECTION("a ring that does not lead back to its beginning") {
    link(second, second);
    rank.look();
    CHECK(rank.found().known == queue_knowledge::cut_short);
    CHECK(rank.found().operations.size() <= most_unexpected_messages);
    CHECK(rank.report.problems.size() == 1);
  }
  SECTION("a ring whose followers are the ring itself") {
    rank.put(ob1_process::message(first) + 88, ob1_process::at(ob1_process::message(first)));
    rank.put(ob1_process::message(second) + 88, ob1_process::at(ob1_process::message(first)));
    rank.look();
    CHECK(rank.found().operations.size() <= 10);
  }
  SECTION("a type without such rings") {
    rank.types.define("mca_pml_ob1_comm_proc_t", {number("unexpected_frags", 32, 64)}, 100);
    rank.look();
    CHECK(text_of(rank.found()) == "1/11 tag 1: 1");
    CHECK(rank.found().known == queue_knowledge::complete);
  }
}

TEST_CASE("bad unexpected messages of Open MPI shorten their list, and one problem says so") {
  ob1_process rank;
  rank.arrive(0, 7, 1);
  const auto bad = rank.arrive(1, 10, 5);
  rank.arrive(1, 11, 5);
  const std::uint64_t here = ob1_process::message(bad);
  std::string why;
  SECTION("a list that leads back into itself") {
    rank.put(here + 16, ob1_process::at(here));
    why = "no end";
  }
  SECTION("a list that leads nowhere") {
    rank.put(here + 16, 0);
    why = "is none";
  }
  SECTION("a list that leads out of memory") {
    rank.put(here + 16, 0x10);
    why = "is none";
  }
  SECTION("another object") {
    rank.put(here, ob1_process::class_at(1));
    why = "is none";
  }
  SECTION("a message of another sender") {
    rank.put(here + 44, 2, 4);
    why = "is none";
  }
  SECTION("a sender below 0") {
    rank.put(here + 44, -1, 4);
    why = "is none";
  }
  SECTION("a header of another kind") {
    rank.put(here + 40, 0x44, 1);
    why = "is none";
  }
  SECTION("more segments than there can be") {
    rank.put(here + 80, 3);
    why = "is none";
  }
  SECTION("no segment") {
    rank.put(here + 80, 0);
    why = "is none";
  }
  SECTION("less data than the header has") {
    rank.put(here + 104, 13);
    why = "is none";
  }
  SECTION("more data than there can be") {
    rank.put(here + 80, 2);
    rank.put(here + 104, INT64_MAX);
    rank.put(here + 120, INT64_MAX);
    why = "is none";
  }
  SECTION("a length below 0") {
    rank.put(here + 40, 0x42, 1);
    rank.put(here + 56, -1);
    why = "is none";
  }
  SECTION("a sender that is no object") {
    rank.put(ob1_process::sender(1), 0x10);
    why = "is none";
  }
  SECTION("a sender out of memory") {
    rank.put(ob1_place::senders + 8, 0x10);
    why = "is none";
  }
  rank.look();
  REQUIRE(rank.report.problems.size() == 1);
  CHECK(rank.report.problems[0].message.find(
            "not all unexpected messages could be read from the memory of the rank: MPI_COMM_WORLD: ") == 0);
  CHECK(rank.report.problems[0].message.find(why) != std::string::npos);
  CHECK(text_of(rank.found()).find("0/10 tag 7: 1") == 0);
  CHECK(rank.found().operations.size() <= 5);
  CHECK(rank.found().known == queue_knowledge::cut_short);
}

TEST_CASE("a communicator whose senders cannot be read has failed") {
  ob1_process rank;
  rank.arrive(0, 7, 1);
  SECTION("no object of the PML") {
    rank.put(ob1_place::world + 40, 0);
  }
  SECTION("another object") {
    rank.put(ob1_place::pml, ob1_process::class_at(2));
  }
  SECTION("another number of senders than ranks") {
    rank.put(ob1_place::pml + 80, 5);
  }
  SECTION("senders out of memory") {
    rank.put(ob1_place::pml + 72, 0x10);
  }
  SECTION("more senders than are looked at") {
    rank.report.communicators[0].is_inter.reset();
    rank.put(ob1_place::pml + 80, INT64_MAX);
  }
  rank.look();
  CHECK(rank.found().known == queue_knowledge::failed);
  CHECK(rank.found().operations.empty());
  CHECK(rank.report.problems.size() == 1);
}

TEST_CASE("the report says nothing of unexpected messages without the types of the PML") {
  ob1_process rank;
  rank.arrive(0, 7, 1);
  SECTION("no debug information") {
    rank.types.forget("mca_pml_ob1_comm_t");
  }
  SECTION("a build with other lists") {
    rank.types.define("mca_pml_ob1_comm_proc_t", {number("frags_cant_match", 24, 8)}, 100);
  }
  SECTION("types of another build") {
    rank.types.define("mca_pml_ob1_comm_t", {number("procs", 72, 8), number("num_procs", 80, 8)}, 104);
  }
  SECTION("segments of which no whole number fits") {
    rank.types.define("mca_btl_base_segment_t", {number("seg_addr", 0, 8), number("seg_len", 8, 8)}, 24);
  }
  SECTION("another PML") {
    rank.process.symbols.remove("mca_pml_ob1_comm_t_class");
  }
  rank.look();
  CHECK(rank.found().known == queue_knowledge::none);
  CHECK(rank.found().origin == queue_origin::library);
  CHECK(rank.found().operations.empty());
  CHECK(rank.report.problems.empty());
}

TEST_CASE("an endless list of unexpected messages is read up to a limit") {
  ob1_process rank;
  const auto sent = rank.arrive(0, 7, 1);
  rank.put(ob1_process::message(sent) + 16, ob1_process::at(ob1_process::message(sent)));
  rank.put(ob1_process::sender(0) + 32 + 56, INT64_MAX);
  rank.look();
  CHECK(rank.found().operations.size() == most_unexpected_messages);
  CHECK(rank.found().known == queue_knowledge::cut_short);
  CHECK(rank.report.problems.size() == 1);
}

TEST_CASE("MPI_COMM_NULL has no unexpected messages, and no object of the PML") {
  ob1_process rank;
  rank.report.communicators[0].size = 0;
  rank.put(ob1_place::world + 40, 0);
  rank.look();
  CHECK(rank.found().known == queue_knowledge::complete);
  CHECK(rank.found().origin == queue_origin::memory);
  CHECK(rank.report.problems.empty());
}

TEST_CASE("unexpected messages from the other side of an intercommunicator have its ranks") {
  ob1_process rank;
  rank.arrive(1, 7, 1);
  make_inter(rank.report.communicators[0], std::vector<std::int64_t>{20, 21, 22, 23});
  rank.look();
  CHECK(text_of(rank.found()) == "1/21 tag 7: 1");
}

TEST_CASE("arbitrary bytes of an Open MPI process give no unexpected messages beyond the limits") {
  std::mt19937 source(9);  // NOLINT: the same numbers in every run
  for (int round = 0; round < 2000; ++round) {
    ob1_process rank;
    for (int i = 0; i < 6; ++i) rank.arrive(i % 2, i, 5);
    for (auto changes = source() % 8; changes > 0; --changes) {
      const std::uint64_t where = source() % 0xe00;
      rank.put(where, source() % 2 == 0 ? static_cast<std::int64_t>(source()) : ob1_process::at(source() % 0x1000));
    }
    rank.look();
    CHECK(rank.found().operations.size() <= most_unexpected_messages);
    for (const queue_operation& one : rank.found().operations) {
      CHECK(one.length >= 0);
      CHECK(one.desired.local.value() >= 0);
    }
    if (rank.found().known != queue_knowledge::complete && rank.found().origin == queue_origin::memory) {
      CHECK(rank.report.problems.size() == 1);
    }
  }
}
