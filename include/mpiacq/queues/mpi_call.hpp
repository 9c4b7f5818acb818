// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The MPI call that a rank is in, with its arguments.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/queues/called_communicator.hpp"
#include "mpiacq/queues/mpi_argument.hpp"
#include "mpiacq/queues/mpi_request.hpp"
#include "mpiacq/ranks/stacks.hpp"

namespace mpiacq {

/// MPI calls by what makes them return.
enum class mpi_call_kind : std::uint8_t {
  unknown,        ///< not known: there is no stack, its outer end is missing, or the MPI's code has no name there
  none,           ///< the rank is in no MPI call
  send,           ///< MPI_Send and similar calls
  receive,        ///< MPI_Recv
  exchange,       ///< a send and a receive: MPI_Sendrecv
  wait_one,       ///< MPI_Wait
  wait_all,       ///< MPI_Waitall
  wait_any,       ///< MPI_Waitany, MPI_Waitsome: one message is enough
  probe,          ///< MPI_Probe, MPI_Mprobe: the call waits, and no queue shows for which message
  flush,          ///< MPI_Buffer_detach: the call waits until the messages of MPI_Bsend have left the buffer
  test,           ///< MPI_Test*, MPI_Iprobe: the call returns in any case
  start,          ///< MPI_Isend, MPI_Start: the call begins an operation and returns
  synchronising,  ///< a collective call that no rank leaves before all ranks are in it: MPI_Barrier, MPI_Allreduce
  collective,     ///< a collective call that some ranks may leave before others enter it: MPI_Bcast, MPI_Reduce
  neighbourhood,  ///< a collective call that waits for neighbours only: MPI_Neighbor_alltoall
  subgroup,       ///< a collective call of the ranks in a group: MPI_Comm_create_group
  window,         ///< a call that waits for some ranks of a window: MPI_Win_lock, MPI_Win_wait, MPI_Put
  file,           ///< a collective call of the ranks that opened a file: MPI_File_write_all
  other,          ///< any other MPI call, or a call of another communication library: ncclAllReduce
  ended,          ///< the process has ended
};

/// A place in the program: from which a call was made, or where a rank is that is in no call.
struct call_site {
  std::string function;    ///< the function of the program, as `code_place::function`; empty if it is not known
  std::string file;        ///< the source file, as the compiler recorded it; empty if it is not known
  std::uint32_t line = 0;  ///< 0 if it is not known

  /// Whether anything of the place is known.
  [[nodiscard]] bool is_known() const { return !function.empty() || !file.empty(); }
  friend auto operator<=>(const call_site&, const call_site&) = default;
};
/// The place as the end of a phrase such as "in MPI_Recv": " at solver.c:88", without the folder of the file. Without a
/// line: ", called by solve". Empty if the place is not known.
[[nodiscard]] std::string site_text(const call_site& site);

/// What a rank does, by its stacks.
struct rank_activity {
  mpi_call_kind kind = mpi_call_kind::unknown;
  std::string function;  ///< "MPI_Recv", whatever the language and profiling layer; "ncclAllReduce"; empty for none
  bool other_threads = false;  ///< another thread of the program may do what this thread waits for
  /// In the order of C, whatever the language. Places for results are left out. Empty if nothing is known of them.
  std::vector<mpi_argument> arguments = {};
  /// Where the program has called the function. For none: its innermost function with a known source line, in a module
  /// of its own if there is one (`is_of_system`). Empty if it is not known.
  call_site at = {};
  /// The requests that the call names. Empty if it names none, or if nothing is known of them.
  std::optional<awaited_requests> requests = {};
  /// The communicator that the call names, if the program has made it. Empty if it is predefined, or if nothing is
  /// known of it.
  std::optional<called_communicator> on = {};
};
/// The call with what it waits for: "MPI_Recv(source 0, tag any, MPI_COMM_WORLD)". '?' stands for a rank or a tag that
/// is not known; other arguments that are not known are left out. The function alone if none is known.
[[nodiscard]] std::string call_text(const rank_activity& doing);
/// The activity of a process with these threads, the first thread first. The outermost MPI function of the first thread
/// is the call of the program; without one, the outermost function of NCCL, of Gloo or of torch.distributed. A thread
/// belongs to the program if one of its frames is in `program` (the path of a module; not checked if empty) or in an
/// MPI function.
[[nodiscard]] rank_activity activity_of(std::span<const thread_stack> threads, std::string_view program);
/// The activity in a function, as named on a stack: "PMPI_Recv", "mpi_recv_", "MPI_Recv@plt". `none` for a function
/// that does not belong to MPI, such as a program's own mpi_setup().
[[nodiscard]] rank_activity activity_in(std::string_view function);

}  // namespace mpiacq
