// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// Follows the ranks of a job and notices when the job stands still.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "mpiacq/base/ids.hpp"
#include "mpiacq/base/time_limit.hpp"
#include "mpiacq/ranks/rank_group.hpp"
#include "mpiacq/ranks/rank_results.hpp"
#include "mpiacq/ranks/rank_set.hpp"

namespace mpiacq {

/// A rank that waits in no MPI call while the others do.
struct busy_rank {
  entry_index entry;        ///< which rank
  clock::duration since{};  ///< for how long it has been in the same few functions
  /// The innermost function of the program that it has been in all this time, as `code_place::function`; empty if it is
  /// not known.
  std::string function;
  /// MPI_Iprobe or a similar call that returns in any case, which the rank makes again and again. Empty: it makes no
  /// call.
  std::string polls;
  bool runs = false;  ///< it was seen at different instructions; else it was always at the same one, as in a sleep
};

/// The job stands still: no rank has moved for `job_watch_options::hang`, and some ranks wait in MPI calls. This is
/// evidence, not proof: a single collective call, or one computation that others wait for, may take that long.
/// `rank_group::waits` says who waits for whom.
struct job_stands_still {
  clock::duration since{};      ///< for how long
  rank_set in_calls;            ///< the ranks that wait in MPI calls
  rank_set polling;             ///< the ranks that call MPI_Iprobe or similar functions again and again
  rank_set outside;             ///< the ranks that are in no call: they compute, or wait for something else
  rank_set stopped;             ///< the ranks that a signal has stopped; they were not looked at
  std::vector<busy_rank> busy;  ///< one for each rank of `polling` and of `outside`, in order of entries
};
/// No rank of the group can be looked at any more: all have ended.
struct ranks_have_ended {};
/// An event of a watch.
using watch_event = std::variant<job_stands_still, ranks_have_ended>;

/// How a job is watched.
struct job_watch_options {
  /// The time without any movement after which the job stands still.
  clock::duration hang = std::chrono::seconds(120);
  /// The longest time between two looks. Looks are rarer while ranks move, and more frequent while none seems to.
  clock::duration rarest = std::chrono::seconds(10);
  /// So many ranks are stopped together for a look. Each of them is stopped for a moment.
  std::size_t ranks_at_once = 4;
};

/// A watch over the ranks of a group.
///
///   job_watch watch(ranks, {.hang = 120s});
///   while (auto event = watch.next(in(1h))) ...
///
/// A look takes the stack of the first thread of each rank, a few ranks at a time. A rank has moved
///
/// - if it waits in another MPI call than before, or in the same call from another place of the program, or if what the
///   program has on its stack and in its registers has changed: then it has left the call, and made it again. In
///   MPI_Waitany and MPI_Waitsome, which may write results while they wait, it must have changed to what was not seen
///   in this call;
/// - if it has begun to wait in a call, or has left one;
/// - if it computes in a function in which it was not seen before, since its last call;
/// - if it computes, and a call that no look has met has left other values below its stack;
/// - if it calls MPI_Iprobe or similar functions again and again, and has now gone into another function;
/// - if its thread has read or written with system calls.
///
/// Ranks that wait may use all of their processor, and a rank that computes in the same few functions may do so for
/// ever, so that neither counts as a movement by itself. Before the watch reports that a job stands still, it takes
/// twenty to two hundred looks one after the other. A rank that a signal has stopped is left alone, and looked at
/// later.
///
/// Ownership: the group must outlive the watch, and is used by it alone during `next`. Thread: one at a time.
class job_watch {
 public:
  /// A watch that begins with the first look.
  job_watch(rank_group& ranks, const job_watch_options& options);
  ~job_watch();
  job_watch(const job_watch&) = delete;
  job_watch& operator=(const job_watch&) = delete;

  /// Looks at the ranks until there is an event. Empty if the limit passes first. A job that still stands still is
  /// reported again after another `hang`. It looks at least once, unless the limit has passed already.
  [[nodiscard]] std::optional<watch_event> next(const time_limit& until = {});
  /// Looks at the ranks once, now; many times if the job seems to stand still. `stop`: a descriptor
  /// that ends this when it becomes readable; -1: none. Empty if there is no event.
  [[nodiscard]] std::optional<watch_event> look(int stop = -1);
  /// The next moment at which `next` looks at the ranks. A program with other work calls `next` then.
  [[nodiscard]] deadline look_at() const;
  /// The number of looks so far.
  [[nodiscard]] std::size_t looks() const;
  /// The longest time for which ranks were stopped in one look.
  [[nodiscard]] clock::duration longest_stop() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace mpiacq
