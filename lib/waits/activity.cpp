// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <string_view>

#include "calls/mpi_function.hpp"
#include "handles/mpi_abi.hpp"
#include "mpiacq/queues/queue_waits.hpp"
#include "other_libraries.hpp"

namespace mpiacq {

namespace {

using waits::activity_in_other_library;

rank_activity mpi_call_at(const code_place& place) {
  return activity_in(called_function_name(place.function, place.module_path));
}
rank_activity other_call_at(const code_place& place) {
  return activity_in_other_library(place.function);
}

/// The place of a frame that has called another one.
call_site site_of(const stack_frame& caller) {
  if (!caller.place) return {};
  return {caller.place->function, caller.place->file, caller.place->line};
}

bool is_in_mpi_library(const stack_frame& frame) {
  return frame.place && is_mpi_library(frame.place->module_path);
}

/// The outermost frame whose place is in a call, as `call_in` says, and that call.
template <class CallIn>
rank_activity outermost_call(const thread_stack& thread, CallIn call_in) {
  for (auto frame = thread.frames.rbegin(); frame != thread.frames.rend(); ++frame) {
    if (!frame->place || frame->place->function.empty()) continue;
    rank_activity found = call_in(*frame->place);
    if (found.kind == mpi_call_kind::none) continue;
    if (frame != thread.frames.rbegin()) found.at = site_of(*std::prev(frame));
    return found;
  }
  rank_activity nothing;
  nothing.kind = mpi_call_kind::none;
  return nothing;
}

/// The innermost place with a source line; one of the program's own modules if there is any.
call_site place_of(const thread_stack& thread) {
  call_site of_system;
  for (const stack_frame& frame : thread.frames) {
    if (!frame.place || frame.place->file.empty() || frame.place->line == 0) continue;
    if (!is_of_system(*frame.place)) return site_of(frame);
    if (!of_system.is_known()) of_system = site_of(frame);
  }
  return of_system;
}

/// The activity by the outermost MPI function, which the program called. Functions inside the library do not count.
rank_activity activity_of_thread(const thread_stack& thread) {
  rank_activity found = outermost_call(thread, mpi_call_at);
  if (found.kind != mpi_call_kind::none) return found;
  found = outermost_call(thread, other_call_at);
  if (found.kind != mpi_call_kind::none) return found;
  // A function of the MPI may be on the stack without its name: the compiler has made its end a function of its own.
  const bool whole = thread.end == stack_end::outermost && !thread.frames.empty() &&
                     std::none_of(thread.frames.begin(), thread.frames.end(), is_in_mpi_library);
  found.kind = whole ? mpi_call_kind::none : mpi_call_kind::unknown;
  if (whole) found.at = place_of(thread);
  return found;
}

bool is_programs_own(const thread_stack& thread, std::string_view program) {
  if (outermost_call(thread, mpi_call_at).kind != mpi_call_kind::none) return true;
  return !program.empty() && std::any_of(thread.frames.begin(), thread.frames.end(), [&](const stack_frame& frame) {
    return frame.place && frame.place->module_path == program;
  });
}

}  // namespace

rank_activity activity_in(std::string_view function) {
  // These functions of Open MPI end in a jump to another one, so that no stack shows them.
  if (function == "ompi_mpi_finalize") function = "MPI_Finalize";
  if (function == "mca_pml_base_bsend_detach") function = "MPI_Buffer_detach";
  rank_activity found;
  found.kind = mpi_call_kind::none;
  const auto named = mpi_function_named(function);
  if (!named) return found;
  found.kind = named->call == nullptr ? mpi_call_kind::other : named->call->kind;
  found.function = "MPI_" + named->name;
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
