// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>

#include "mpiacq/queues/queue_waits.hpp"

namespace mpiacq {

namespace {

struct known_call {
  std::string_view name;  ///< without "MPI_"
  mpi_call_kind kind;
};

using kind = mpi_call_kind;

/// Sorted by name. A call that is not in this table is `other` and counts as not waiting. MPI_Bsend is local by
/// definition.
constexpr std::array known_calls = {
    known_call{"Allgather", kind::synchronising},
    known_call{"Allgatherv", kind::synchronising},
    known_call{"Allreduce", kind::synchronising},
    known_call{"Alltoall", kind::synchronising},
    known_call{"Alltoallv", kind::collective},  // counts of 0 need no message
    known_call{"Alltoallw", kind::collective},
    known_call{"Barrier", kind::synchronising},
    known_call{"Bcast", kind::collective},
    known_call{"Cart_create", kind::synchronising},
    known_call{"Cart_sub", kind::synchronising},
    known_call{"Comm_accept", kind::collective},
    known_call{"Comm_connect", kind::collective},
    known_call{"Comm_create", kind::synchronising},
    known_call{"Comm_disconnect", kind::collective},
    known_call{"Comm_dup", kind::synchronising},
    known_call{"Comm_dup_with_info", kind::synchronising},
    known_call{"Comm_free", kind::collective},
    known_call{"Comm_spawn", kind::synchronising},
    known_call{"Comm_spawn_multiple", kind::synchronising},
    known_call{"Comm_split", kind::synchronising},
    known_call{"Comm_split_type", kind::synchronising},
    known_call{"Exscan", kind::collective},
    known_call{"File_open", kind::collective},
    known_call{"Finalize", kind::collective},
    known_call{"Gather", kind::collective},
    known_call{"Gatherv", kind::collective},
    known_call{"Improbe", kind::test},
    known_call{"Intercomm_create", kind::collective},
    known_call{"Intercomm_merge", kind::synchronising},
    known_call{"Iprobe", kind::test},
    known_call{"Mprobe", kind::probe},
    known_call{"Mrecv", kind::receive},
    known_call{"Neighbor_allgather", kind::collective},
    known_call{"Neighbor_allgatherv", kind::collective},
    known_call{"Neighbor_alltoall", kind::collective},
    known_call{"Neighbor_alltoallv", kind::collective},
    known_call{"Neighbor_alltoallw", kind::collective},
    known_call{"Probe", kind::probe},
    known_call{"Recv", kind::receive},
    known_call{"Reduce", kind::collective},
    known_call{"Reduce_scatter", kind::collective},
    known_call{"Reduce_scatter_block", kind::synchronising},
    known_call{"Rsend", kind::send},
    known_call{"Scan", kind::collective},
    known_call{"Scatter", kind::collective},
    known_call{"Scatterv", kind::collective},
    known_call{"Send", kind::send},
    known_call{"Sendrecv", kind::exchange},
    known_call{"Sendrecv_replace", kind::exchange},
    known_call{"Ssend", kind::send},
    known_call{"Test", kind::test},
    known_call{"Testall", kind::test},
    known_call{"Testany", kind::test},
    known_call{"Testsome", kind::test},
    known_call{"Wait", kind::wait_one},
    known_call{"Waitall", kind::wait_all},
    known_call{"Waitany", kind::wait_any},
    known_call{"Waitsome", kind::wait_any},
    known_call{"Win_create", kind::synchronising},
    known_call{"Win_fence", kind::collective},
};
static_assert(std::is_sorted(known_calls.begin(), known_calls.end(),
                             [](const known_call& a, const known_call& b) { return a.name < b.name; }));

constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
constexpr char upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}
constexpr bool is_word(char c) {
  return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/// The name of a function without "MPI_", in lower case except for its first letter, as the standard writes it in C.
/// Fortran compilers add underscores. MPI libraries add "_f", "_f08" and "_f08ts" to their Fortran functions.
std::optional<std::string> name_of(std::string_view function) {
  // Remove parameters, versions and "@plt".
  function = function.substr(
      0, static_cast<std::size_t>(std::find_if_not(function.begin(), function.end(), is_word) - function.begin()));
  if (!function.empty() && lower(function.front()) == 'p') function.remove_prefix(1);
  constexpr std::string_view prefix = "mpi_";
  if (function.size() <= prefix.size() ||
      !std::equal(prefix.begin(), prefix.end(), function.begin(), [](char a, char b) { return a == lower(b); })) {
    return std::nullopt;
  }
  std::string name;
  for (const char c : function.substr(prefix.size())) name += lower(c);
  const bool fortran = name.back() == '_' || lower(function.front()) == function.front();
  while (!name.empty() && name.back() == '_') name.pop_back();
  if (fortran) {
    for (const std::string_view suffix : {"_f08ts", "_f08", "_fts", "_f"}) {
      if (name.size() <= suffix.size() || !name.ends_with(suffix)) continue;
      name.erase(name.size() - suffix.size());
      break;
    }
  }
  if (name.empty()) return std::nullopt;
  name.front() = upper(name.front());
  return name;
}

/// The activity by the outermost MPI function, which the program called. Functions inside the library do not count.
rank_activity activity_of_thread(const thread_stack& thread) {
  for (auto frame = thread.frames.rbegin(); frame != thread.frames.rend(); ++frame) {
    if (!frame->place || frame->place->function.empty()) continue;
    rank_activity found = activity_in(frame->place->function);
    if (found.kind != mpi_call_kind::none) return found;
  }
  rank_activity nothing;
  const bool whole = thread.end == stack_end::outermost && !thread.frames.empty();
  nothing.kind = whole ? mpi_call_kind::none : mpi_call_kind::unknown;
  return nothing;
}

bool is_programs_own(const thread_stack& thread, std::string_view program) {
  if (!activity_of_thread(thread).function.empty()) return true;
  return !program.empty() && std::any_of(thread.frames.begin(), thread.frames.end(), [&](const stack_frame& frame) {
    return frame.place && frame.place->module_path == program;
  });
}

}  // namespace

rank_activity activity_in(std::string_view function) {
  rank_activity found;
  found.kind = mpi_call_kind::none;
  // Open MPI's MPI_Finalize ends in a jump to this function, so that no stack shows MPI_Finalize itself.
  if (function == "ompi_mpi_finalize") function = "MPI_Finalize";
  const auto name = name_of(function);
  if (!name) return found;
  const auto known = std::lower_bound(known_calls.begin(), known_calls.end(), *name,
                                      [](const known_call& call, std::string_view n) { return call.name < n; });
  if (known != known_calls.end() && known->name == *name) {
    found.kind = known->kind;
  } else if (function.starts_with("MPI_") || function.starts_with("PMPI_")) {
    found.kind = mpi_call_kind::other;
  } else {
    return found;  // a program's own mpi_setup()
  }
  found.function = "MPI_" + *name;
  return found;
}

rank_activity activity_of(std::span<const thread_stack> threads, std::string_view program) {
  if (threads.empty()) return {};
  rank_activity found = activity_of_thread(threads.front());
  found.other_threads = std::any_of(threads.begin() + 1, threads.end(),
                                    [&](const thread_stack& thread) { return is_programs_own(thread, program); });
  return found;
}

}  // namespace mpiacq
