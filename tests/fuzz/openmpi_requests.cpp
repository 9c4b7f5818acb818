// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Objects of Open MPI that may be anything: reading the requests and the communicator of a call must stay within
// bounds. Input: whether the handles are numbers of Fortran; the number of requests (4 bytes); the memory that begins
// at `base`. An array of handles is at its beginning. The communicator's handle is the number of requests.
#include "objects/openmpi_requests.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "input_as_memory.hpp"
#include "objects/openmpi_called_communicator.hpp"

using namespace mpiacq;
using namespace mpiacq::fuzz;

namespace {

constexpr std::uint64_t base = 0x1000;
constexpr std::size_t choices = 5;
constexpr std::uint64_t most_reads = 64 * (most_requests + 1);

process_handles made_handles() {
  process_handles made;
  made.abi = mpi_abi::openmpi;
  made.objects = {{base + 0x80, "ompi_request_t_class"},      {base + 0x90, "ompi_communicator_t_class"},
                  {base + 0xa0, "ompi_request_f_to_c_table"}, {base + 0xb0, "ompi_mpi_comm_world"},
                  {base + 0x98, "ompi_group_t_class"},        {base + 0xa8, "ompi_comm_f_to_c_table"}};
  made.layouts = openmpi_objects{{8, 8}, {0, 4}, {8, 8}, {8, 4}, {8, 4}, {16, 8}, {12, 4}, {24, 1}, {32, 8}, {}};
  made.layouts->communicator =
      openmpi_communicator_fields{{40, 8}, {12, 4}, {16, 4}, {24, 8}, {32, 8}, {{8, 4}, {16, 8}, field{8, 8}}};
  return made;
}

void check(const awaited_requests& found, std::uint64_t count) {
  must(found.pending.size() <= most_kinds_of_requests);
  std::uint64_t sum = found.complete + found.unknown;
  for (const pending_requests& one : found.pending) {
    must(one.count > 0 && !name(one.kind).empty());
    must(one.communicator || one.communicator_name.empty());
    sum += one.count;
  }
  must(sum == count);
}

void check(const called_communicator& found) {
  must(found.facts.size > 0 && found.facts.local_rank >= 0 && found.facts.local_rank < found.facts.size);
  must(found.facts.group.has_value() || !found.facts.remote_group);
  if (!found.facts.group) return;
  must(found.facts.group->size() == static_cast<std::uint64_t>(found.facts.size));
  must((*found.facts.group)[static_cast<std::size_t>(found.facts.local_rank)] >= 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const process_handles handles = made_handles();
  if (size < choices) return 0;
  std::uint32_t count = 0;
  std::memcpy(&count, data + 1, sizeof count);
  const mpi_language language = data[0] % 2 == 0 ? mpi_language::c : mpi_language::fortran;
  input_as_memory memory(data + choices, size - choices, base, most_reads);
  const std::array arguments = {mpi_argument{mpi_role::request_count, true, false, count, ""},
                                mpi_argument{mpi_role::request, true, true, base, ""}};
  if (const auto found = read_openmpi_requests(arguments, handles, language, memory)) check(*found, count);
  input_as_memory again(data + choices, size - choices, base, most_reads);
  const mpi_argument on{mpi_role::communicator, true, false, count, ""};
  if (const auto found = read_openmpi_communicator({&on, 1}, handles, language, again)) check(*found);
  return 0;
}
