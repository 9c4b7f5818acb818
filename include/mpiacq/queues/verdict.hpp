// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// Why a job stands still, in one sentence.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "mpiacq/job/rank_names.hpp"
#include "mpiacq/queues/queue_waits.hpp"
#include "mpiacq/ranks/call_tree.hpp"
#include "mpiacq/ranks/rank_end.hpp"
#include "mpiacq/ranks/rank_report.hpp"
#include "mpiacq/ranks/rank_set.hpp"

namespace mpiacq {

/// What a verdict rests on; the strongest one that the job shows.
enum class verdict_basis : std::uint8_t {
  deadlock,           ///< ranks that can never go on
  possible_deadlock,  ///< ranks that can never go on if all waits that are not certain are real
  mismatch,           ///< collective calls that do not belong together
  stopped,            ///< a signal has stopped ranks, which do nothing until SIGCONT
  wait,               ///< ranks wait for others, which wait for nobody
  odd_ranks,          ///< no wait is known; most ranks are in one call, and some are elsewhere
  crash,              ///< ranks have failed
  nothing,            ///< the look shows no reason; the sentence says where the ranks are, or which were not looked at
};
/// "deadlock", "possible-deadlock", "mismatch", "stopped", "wait", "odd-ranks", "crash", "nothing"
[[nodiscard]] std::string_view name(verdict_basis basis);

/// Why a job stands still, as one look shows it.
struct verdict {
  verdict_basis basis = verdict_basis::nothing;
  /// "ranks 0-62 wait for rank 63, which is in no MPI call, at solver.c:88". It contains names from the ranks as they
  /// are: escape it before you print it.
  std::string sentence;
  /// The ranks to look at first: those of the deadlock, those that a signal has stopped, those that the others wait
  /// for, those that are elsewhere, or those that could not be looked at.
  rank_set ranks;
};

/// The verdict on a job. `found` are the conclusions from `ranks` (`find_waits`, `rank_group::waits`). Never fails. The
/// time is n log n in ranks and waits.
[[nodiscard]] verdict find_verdict(const queue_waits& found, std::span<const rank_report> ranks,
                                   const rank_names& names = {});

/// The verdict on a job of which ranks have failed (`rank_group::ends`). It names the ranks that have failed by
/// themselves: those that called MPI_Abort, that received a signal from the kernel or from themselves, or that exited.
/// Ranks that another process has ended, such as their launcher, are named only if there are no others. `stacks` are
/// those of all ranks, with the threads that ended the failed ranks. Never fails.
[[nodiscard]] verdict find_crash_verdict(std::span<const rank_end> failed, const call_tree& stacks,
                                         const rank_names& names = {});
/// How a rank has failed: "received SIGSEGV for address 0x0", "exited with status 3 before MPI_Finalize".
[[nodiscard]] std::string end_text(const rank_end& end);

}  // namespace mpiacq
