// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "rank_movement.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace mpiacq::watching {

namespace {

/// A number that is not known at one of two looks says nothing.
bool differ(std::uint64_t a, std::uint64_t b) {
  return a != 0 && b != 0 && a != b;
}

std::uint64_t innermost(const rank_position& position) {
  return position.activations.empty() ? 0 : position.activations.back();
}

}  // namespace

bool is_polling_call(const rank_activity& doing) {
  constexpr std::array<std::string_view, 8> local = {"MPI_Wtime",     "MPI_Wtick",       "MPI_Comm_rank",
                                                     "MPI_Comm_size", "MPI_Get_count",   "MPI_Initialized",
                                                     "MPI_Finalized", "MPI_Query_thread"};
  return doing.kind == mpi_call_kind::test || std::find(local.begin(), local.end(), doing.function) != local.end();
}

bool rank_movement::has_left_call(const rank_sight& now) const {
  return now.function != last_.function || now.at.function != last_.at.function || now.at.line != last_.at.line ||
         now.at.file != last_.at.file || differ(now.position.call, last_.position.call);
}

/// Whether it is new in the set; it is in the set then.
bool rank_movement::is_new_member(std::uint64_t one) {
  if (std::find(members_.begin(), members_.end(), one) != members_.end()) return false;
  if (members_.size() < most_members) {
    members_.push_back(one);
  } else {
    members_[next_out_] = one;
    next_out_ = (next_out_ + 1) % most_members;
  }
  return true;
}

void rank_movement::begin_set() {
  members_.clear();
  next_out_ = 0;
  deepest_ = UINT64_MAX;
  polled_in_.clear();
  polled_.clear();
}

bool rank_movement::has_new_function(const rank_sight& now) {
  const std::uint64_t here = innermost(now.position);
  const auto polls_from = [this](std::uint64_t function) {
    return std::find(polled_in_.begin(), polled_in_.end(), function) != polled_in_.end();
  };
  // A rank that leaves its polling for another function has got something to do.
  const bool works =
      !polled_.empty() && !now.polls && here != 0 && polls_from(innermost(last_.position)) && !polls_from(here);
  if (now.polls) {
    polled_in_ = now.position.activations;
    polled_ = now.function;
  }
  return is_new_member(here) || works;
}

/// What an MPI writes while it waits comes again: MPICH's MPI_Waitany sets the index. In these calls, only contents
/// that are new show that the program has gone on. In all others, any change does: the receives of a server differ in
/// nothing but the rank that each message came from.
bool rank_movement::has_new_contents(const rank_sight& now) {
  if (!now.writes_meanwhile) return differ(now.position.contents, last_.position.contents);
  if (now.position.contents == 0) return false;
  const bool is_first = members_.empty();
  return is_new_member(now.position.contents) && !is_first;
}

/// Whether memory below the deepest stack that was seen has changed since the last look. A call such as MPI_Send is
/// over too soon to be seen, and leaves its traces there. The first piece belongs to functions that save no registers,
/// and to small ones such as clock_gettime. A rank that polls in vain leaves such traces, too.
bool rank_movement::has_called_deeper(const rank_position& now) {
  constexpr std::uint64_t piece = rank_position::left_piece;
  if (now.left.empty()) return false;
  deepest_ = std::min(deepest_, now.left_end);
  const rank_position& last = last_.position;
  if (!polled_.empty() || last.left.empty()) return false;
  const std::uint64_t highest = std::min(deepest_ - piece, last.left_end);
  for (std::uint64_t end = highest; end > 0; end -= piece) {
    const std::uint64_t here = (now.left_end - end) / piece, before = (last.left_end - end) / piece;
    if (here >= now.left.size() || before >= last.left.size()) return false;
    if (now.left[here] != last.left[before]) return true;
  }
  return false;
}

bool rank_movement::has_moved(const rank_sight& now) {
  const mode before = mode_;
  const bool has_transferred = now.position.bytes_moved > last_.position.bytes_moved && last_.position.bytes_moved != 0;
  switch (now.is) {
    case rank_sight::state::away:
      mode_ = mode::away;
      return before != mode_;
    case rank_sight::state::stopped:
      mode_ = mode::stopped;
      return before != mode_;
    case rank_sight::state::in_call:
      if (now.polls) break;
      mode_ = mode::waits;
      if (before != mode_ || has_left_call(now)) {
        begin_set();
        (void)has_new_contents(now);
        return true;
      }
      return has_new_contents(now) || has_transferred;
    case rank_sight::state::outside:
      break;
  }
  const bool was_busy = before == mode::computes || before == mode::polls;
  if (!was_busy) begin_set();
  const bool is_new = has_new_function(now);
  const bool has_called = has_called_deeper(now.position);
  mode_ = polled_.empty() ? mode::computes : mode::polls;
  return is_new || !was_busy || has_transferred || has_called;
}

/// Keeps the functions that the rank is still in.
void rank_movement::stay(const rank_sight& now) {
  const auto& inner = now.position.activations;
  const auto end = std::mismatch(common_.begin(), common_.end(), inner.begin(), inner.end()).first;
  common_.erase(end, common_.end());
  common_path_.resize(std::min({common_path_.size(), now.path.size(), common_.size()}));
  runs_ = runs_ || differ(now.position.instruction, last_.position.instruction);
}

bool rank_movement::add(const rank_sight& now, deadline when) {
  const bool is_first = mode_ == mode::unseen;
  const bool moved = has_moved(now);
  if (moved) {
    since_ = when;
    common_ = now.position.activations;
    common_path_ = now.path;
    common_path_.resize(std::min(now.path.size(), common_.size()));
    runs_ = false;
  } else {
    stay(now);
  }
  last_ = now;
  return moved && !is_first;
}

const code_place* rank_movement::function() const {
  return common_path_.empty() ? nullptr : common_path_.back().get();
}

}  // namespace mpiacq::watching
