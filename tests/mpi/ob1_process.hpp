// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A rank of Open MPI with unexpected messages in fake memory. The layouts are made up; those of a real Open MPI are
// tested with its debug information (tests/real).
#pragma once

#include <cstdint>
#include <vector>

#include "fake_target.hpp"
#include "made_types.hpp"
#include "openmpi_unexpected.hpp"

namespace mpiacq::test {

/// Where the parts are, behind the beginning of the memory.
namespace ob1_place {
inline constexpr std::uint64_t table = 0x20, world = 0x100, pml = 0x200, senders = 0x280, first_sender = 0x300;
inline constexpr std::uint64_t sender_bytes = 0x80, first_message = 0x800, message_bytes = 0x100, all = 0x4000;
}  // namespace ob1_place

inline void define_ob1_types(made_types& types) {
  types.define("opal_pointer_array_t", {number("size", 0), number("addr", 8, 8)});
  types.define("ompi_communicator_t", {number("c_contextid", 0), number("c_my_rank", 4), number("c_pml_comm", 40, 8)});
  types.define("opal_object_t", {number("obj_class", 0, 8)});
  types.define("opal_class_t", {number("cls_sizeof", 8, 8)});
  types.define("opal_list_item_t", {number("opal_list_next", 16, 8)});
  types.define("opal_list_t", {number("opal_list_sentinel", 16, 40), number("opal_list_length", 56, 8)});
  types.define("mca_pml_ob1_comm_t", {number("procs", 72, 8), number("num_procs", 80, 8)}, 96);
  types.define("mca_pml_ob1_comm_proc_t", {number("frags_cant_match", 24, 8), number("unexpected_frags", 32, 64)}, 100);
  types.define(
      "mca_pml_ob1_recv_frag_t",
      {number("hdr", 40, 40), number("num_segments", 80, 8), number("range", 88, 8), number("segments", 96, 32)}, 160);
  types.define("mca_btl_base_segment_t", {number("seg_addr", 0, 8), number("seg_len", 8, 8)}, 16);
  types.define("mca_pml_ob1_match_hdr_t",
               {number("hdr_common", 0, 2), number("hdr_ctx", 2, 2), number("hdr_src", 4), number("hdr_tag", 8),
                number("hdr_seq", 12, 2)},
               16);
  types.define("mca_pml_ob1_common_hdr_t", {number("hdr_type", 0, 1)});
  types.define("mca_pml_ob1_rendezvous_hdr_t", {number("hdr_match", 0, 16), number("hdr_msg_length", 16, 8)});
}

/// Rank 3 of a world of four. Ranks 0 and 1 have sent something; rank 2 is not known to it, and it has not sent itself
/// anything.
struct ob1_process {
  static constexpr target_address base{0x4000000};
  fake_starter process;
  made_types types;
  queue_report report;
  std::uint64_t messages = 0;

  ob1_process() {
    define_ob1_types(types);
    process.memory.map(base, std::vector<std::byte>(ob1_place::all));
    process.variable("ompi_mpi_communicators", 16);
    put_class("mca_pml_ob1_comm_t_class", 96);
    put_class("mca_pml_ob1_comm_proc_t_class", 100);
    put_class("mca_pml_ob1_recv_frag_t_class", 160);
    process.poke(fake_starter::variables, 1, 4);
    process.poke(fake_starter::variables + 8, at(ob1_place::table), 8);
    put(ob1_place::table, at(ob1_place::world));
    put(ob1_place::world, 0, 4);
    put(ob1_place::world + 4, 3, 4);
    put(ob1_place::world + 40, at(ob1_place::pml));
    put(ob1_place::pml, class_at(0));
    put(ob1_place::pml + 72, at(ob1_place::senders));
    put(ob1_place::pml + 80, 4);
    for (const std::uint64_t rank : {0U, 1U}) {
      put(ob1_place::senders + 8 * rank, at(sender(rank)));
      put(sender(rank), class_at(1));
      put(list_end(rank) + 16, at(list_end(rank)));
    }
    queue_communicator one;
    one.name = "MPI_COMM_WORLD";
    one.local_rank = 3;
    one.size = 4;
    one.is_inter = false;
    one.group = std::vector<std::int64_t>{10, 11, 12, 13};
    report.communicators.push_back(one);
  }

  static std::int64_t at(std::uint64_t offset) { return static_cast<std::int64_t>((base + offset).value()); }
  static std::uint64_t sender(std::uint64_t rank) { return ob1_place::first_sender + rank * ob1_place::sender_bytes; }
  /// The item in front of the first one of a list of unexpected messages.
  static std::uint64_t list_end(std::uint64_t rank) { return sender(rank) + 32 + 16; }
  static std::uint64_t message(std::uint64_t number) {
    return ob1_place::first_message + number * ob1_place::message_bytes;
  }
  /// The variables of the classes are behind that of the communicators.
  static std::int64_t class_at(std::uint64_t which) {
    return static_cast<std::int64_t>((fake_starter::variables + 16 + 16 * which).value());
  }

  void put(std::uint64_t offset, std::int64_t value, std::size_t size = 8) { process.poke(base + offset, value, size); }
  [[nodiscard]] std::int64_t get(std::uint64_t offset) {
    return static_cast<std::int64_t>(read_unsigned(process.memory, process.abi, base + offset, 8).value());
  }

  /// A message of `bytes` bytes that has come at once. Returns its number.
  std::uint64_t make_message(std::int64_t from, std::int64_t tag, std::int64_t bytes) {
    const std::uint64_t number = messages++;
    const std::uint64_t here = message(number);
    put(here, class_at(2));
    put(here + 40, 0x41, 1);
    put(here + 44, from, 4);
    put(here + 48, tag, 4);
    put(here + 80, 1);
    put(here + 96, 0x7f0000001000);
    put(here + 104, bytes + 14);
    return number;
  }
  /// The same, at the end of the sender's list.
  std::uint64_t arrive(std::int64_t from, std::int64_t tag, std::int64_t bytes) {
    const std::uint64_t number = make_message(from, tag, bytes);
    const auto rank = static_cast<std::uint64_t>(from);
    std::uint64_t last = list_end(rank);
    while (get(last + 16) != at(list_end(rank))) {
      last = static_cast<std::uint64_t>(get(last + 16)) - base.value();
    }
    put(last + 16, at(message(number)));
    put(message(number) + 16, at(list_end(rank)));
    put(sender(rank) + 32 + 56, get(sender(rank) + 32 + 56) + 1);
    return number;
  }

  void look() {
    target whole{process.memory, nullptr, process.abi, process.symbols};
    look_at_openmpi_unexpected(whole, types, types, report);
  }
  [[nodiscard]] const queue_listing& found() const { return report.communicators.front().of(queue_class::unexpected); }

 private:
  void put_class(const std::string& name, std::int64_t size) { process.poke(process.variable(name, 16) + 8, size, 8); }
};

}  // namespace mpiacq::test
