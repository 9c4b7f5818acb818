// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Objects of MPICH that may be anything: reading the requests of a call must stay within bounds. Input: how many tables
// of requests there are; the number of requests (4 bytes); the memory that begins at `base`. An array of handles is at
// its beginning, and tables and objects follow.
#include "objects/mpich_requests.hpp"

#include <array>
#include <cstdint>
#include <cstring>

#include "input_as_memory.hpp"

using namespace mpiacq;
using namespace mpiacq::fuzz;

namespace {

constexpr std::uint64_t base = 0x1000;
constexpr std::size_t choices = 5;
constexpr std::uint64_t most_reads = 128 * (most_requests + 1);

process_handles made_handles() {
  process_handles made;
  made.abi = mpi_abi::mpich;
  made.objects = {{base + 0x40, "MPIR_Request_mem"},
                  {base + 0x80, "MPIR_Comm_mem"},
                  {base + 0xa0, "MPIR_Comm_builtin"},
                  {base + 0x180, "MPIR_Request_builtins"}};
  mpich_objects all;
  all.table = {32, {0, 8}, {8, 4}, {16, 8}, {12, 4}, {24, 4}};
  all.request = {64,
                 {0, 4},
                 {4, 4},
                 {16, 4},
                 {8, 8},
                 {24, 8},
                 {{"MPIR_REQUEST_KIND__SEND", 1},
                  {"MPIR_REQUEST_KIND__RECV", 2},
                  {"MPIR_REQUEST_KIND__PREQUEST_RECV", 4},
                  {"MPIR_REQUEST_KIND__COLL", 10}}};
  all.communicator = {64, {0, 4}, {8, 4}, {12, 2}, {14, 2}};
  all.message = mpich_message_fields{{32, 4}, {36, 2}, {38, 2}};
  all.processes = mpich_process_fields{{16, 8}, {0, 4}, {8, 8}, {0, 8}, {8, 4}};
  made.mpich = all;
  return made;
}

void check(const awaited_requests& found, std::uint64_t count) {
  must(found.pending.size() <= most_kinds_of_requests);
  std::uint64_t sum = found.complete + found.unknown;
  for (const pending_requests& one : found.pending) {
    must(one.count > 0 && !name(one.kind).empty());
    must(one.communicator || (one.communicator_name.empty() && !one.message));
    must(!one.message || one.kind == mpi_request_kind::point_to_point);
    if (one.message) {
      must(!one.message->peer || *one.message->peer >= 0);
      must(!one.message->tag || *one.message->tag >= 0);
      must(one.message->peer || !one.message->world_rank);
      must(!one.message->is_send || (one.message->peer && one.message->tag));
    }
    sum += one.count;
  }
  must(sum == count);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static process_handles handles = made_handles();
  if (size < choices) return 0;
  handles.mpich->request_tables = data[0];
  std::uint32_t count = 0;
  std::memcpy(&count, data + 1, sizeof count);
  input_as_memory memory(data + choices, size - choices, base, most_reads);
  const std::array arguments = {mpi_argument{mpi_role::request_count, true, false, count, ""},
                                mpi_argument{mpi_role::request, true, true, base, ""}};
  if (const auto found = read_mpich_requests(arguments, handles, mpi_language::c, memory)) check(*found, count);
  return 0;
}
