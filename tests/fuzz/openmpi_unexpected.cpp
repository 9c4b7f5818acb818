// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Lists of messages in the memory of an Open MPI rank that may be anything: reading them must end, stay within limits,
// and say what is not whole. Input: the memory that begins at `base` (make_unexpected_corpus.py has its parts).
#include "openmpi_unexpected.hpp"

#include <cstdint>

#include "input_as_memory.hpp"
#include "ob1_process.hpp"

using namespace mpiacq;
using namespace mpiacq::fuzz;
using namespace mpiacq::test;

namespace {

constexpr std::uint64_t base = 0x100000;
/// A message is read in less than twenty pieces, and a sender in less than ten.
constexpr std::uint64_t most_reads = 20 * most_unexpected_messages + 10'000;

queue_report made_report() {
  queue_report made;
  queue_communicator world;
  world.local_rank = 3;
  world.size = 4;
  world.is_inter = false;
  world.group = std::vector<std::int64_t>{10, 11, 12, 13};
  queue_communicator other;
  other.id = 1;
  other.size = 2;
  other.is_inter = true;
  other.remote_group = std::vector<std::int64_t>{12, -1, 13};
  made.communicators = {std::move(world), std::move(other)};
  return made;
}

void check(const queue_report& report) {
  std::size_t messages = 0;
  bool whole = true;
  for (const queue_communicator& one : report.communicators) {
    const queue_listing& listing = one.of(queue_class::unexpected);
    const std::int64_t senders = *one.is_inter ? 3 : 4;
    messages += listing.operations.size();
    for (const queue_operation& each : listing.operations) {
      must(each.desired.local && *each.desired.local >= 0 && *each.desired.local < senders);
      must(each.tag && each.length >= 0);
    }
    must(listing.origin == queue_origin::memory || listing.operations.empty());
    if (listing.origin == queue_origin::memory) whole = whole && listing.known == queue_knowledge::complete;
  }
  must(messages <= most_unexpected_messages);
  must(report.problems.size() == (whole ? 0U : 1U));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static made_types types = [] {
    made_types made;
    define_ob1_types(made);
    return made;
  }();
  static fake_symbols symbols = [] {
    fake_symbols made;
    made.define("ompi_mpi_communicators", target_address{base}, 16);
    made.define("mca_pml_ob1_comm_t_class", target_address{base + 0x10}, 16);
    made.define("mca_pml_ob1_comm_proc_t_class", target_address{base + 0x20}, 16);
    made.define("mca_pml_ob1_recv_frag_t_class", target_address{base + 0x30}, 16);
    return made;
  }();
  symbols.scopes.clear();
  input_as_memory memory(data, size, base, most_reads);
  target process{memory, nullptr, lp64_little, symbols};
  queue_report report = made_report();
  look_at_openmpi_unexpected(process, types, types, report);
  check(report);
  return 0;
}
