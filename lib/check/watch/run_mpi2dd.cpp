// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The MPI2DD part of a run. It works in addition to MPIR, and writes nothing.
#include <algorithm>

#include "watch/look_at_mpi2dd.hpp"
#include "watch/run_state.hpp"

namespace mpiacq::check {

namespace {
constexpr std::chrono::milliseconds next_look{200};
/// A job usually spawns in its first seconds. The check does not wait longer.
constexpr std::chrono::seconds last_look{5};
}  // namespace

/// Plants the MPI2DD breakpoint in addition to that of MPIR, once its symbol exists.
void run::state::watch_mpi2dd() {
  if (seen.mpi2dd.info || symbols->modules().empty()) return;
  const auto where = look_for_mpi2dd(view(), symbols->modules().front().get(), seen.how, seen.mpi2dd);
  if (!where) return;
  const auto planted = control->insert_breakpoint(pid, *where, options.breakpoints);
  if (!planted) return notice_failure(fail(planted.error()));
  mpi2dd_breakpoint = where;
}

void run::state::at_mpi2dd_breakpoint() {
  look_at_mpi2dd_event(view(), seen.mpi2dd);
  look_at_mpi2dd_job(pid, options.debug_files, seen.mpi2dd);
  mpi2dd_look_at = clock::now() + next_look;
  mpi2dd_look_until = clock::now() + last_look;
  look_at = std::min(look_at, mpi2dd_look_at);
}

/// A rank announces its spawn in its own process, and this run has a breakpoint only in the starter. So the run looks
/// again while the starter runs.
void run::state::look_at_mpi2dd_again() {
  if (clock::now() < mpi2dd_look_at) return;
  look_at_mpi2dd_job(pid, options.debug_files, seen.mpi2dd);
  mpi2dd_look_at = clock::now() < mpi2dd_look_until ? clock::now() + next_look : no_deadline;
}

void run::state::look_at_mpi2dd_attached() {
  watch_mpi2dd();
  if (!seen.mpi2dd.info) return;
  look_at_mpi2dd_job(pid, options.debug_files, seen.mpi2dd);
  mpi2dd_look_at = clock::now() + next_look;
  mpi2dd_look_until = clock::now() + last_look;
}

}  // namespace mpiacq::check
