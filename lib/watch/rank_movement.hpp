// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mpiacq/base/time_limit.hpp"
#include "mpiacq/queues/mpi_call.hpp"
#include "mpiacq/ranks/rank_results.hpp"
#include "mpiacq/ranks/stacks.hpp"

namespace mpiacq::watching {

/// What one look says of one rank.
struct rank_sight {
  enum class state : std::uint8_t { away, stopped, outside, in_call };  ///< away: its stack was not taken
  state is = state::away;
  std::string function;  ///< the MPI call
  call_site at;          ///< where the program has made the call
  bool polls = false;    ///< the call returns in any case: the rank looks whether a message is there
  /// The MPI may write a variable of the program again and again while the call waits: the index of MPI_Waitany.
  bool writes_meanwhile = false;
  rank_position position;  ///< zeros if it is not known
  /// The functions on the stack without those that were inlined, the outermost first.
  std::vector<std::shared_ptr<const code_place>> path;
};

/// Whether a call, such as MPI_Iprobe or MPI_Wtime, returns in any case and brings nothing.
[[nodiscard]] bool is_polling_call(const rank_activity& doing);

/// For how long one rank has been where it is.
///
/// A rank that waits in a call is there until it is in another call, or in the same one for another time: then its
/// program has another stack, or other contents of it. A rank that computes, or calls MPI_Iprobe and similar functions
/// again and again, is in a small set of functions. It has moved when it is in a function that is new in that set. The
/// set is bounded: a rank that is always in a new function always moves. A rank that computes has also moved if a
/// function that it was not seen in has left other values below its stack.
class rank_movement {
 public:
  enum class mode : std::uint8_t { unseen, away, stopped, waits, computes, polls };

  /// One more look. True: the rank has moved since the look before.
  bool add(const rank_sight& now, deadline when);

  [[nodiscard]] mode is() const { return mode_; }
  /// When the rank was first seen where it is.
  [[nodiscard]] deadline since() const { return since_; }
  /// The innermost function that the rank has been in all the time; null if it is not known.
  [[nodiscard]] const code_place* function() const;
  /// The call that a polling rank repeats.
  [[nodiscard]] const std::string& polled() const { return polled_; }
  /// It has been seen at different instructions.
  [[nodiscard]] bool runs() const { return runs_; }

 private:
  static constexpr std::size_t most_members = 64;
  using activations = std::vector<std::uint64_t>;

  [[nodiscard]] bool has_moved(const rank_sight& now);
  [[nodiscard]] bool has_left_call(const rank_sight& now) const;
  [[nodiscard]] bool is_new_member(std::uint64_t one);
  [[nodiscard]] bool has_new_contents(const rank_sight& now);
  [[nodiscard]] bool has_new_function(const rank_sight& now);
  [[nodiscard]] bool has_called_deeper(const rank_position& now);
  void begin_set();
  void stay(const rank_sight& now);

  mode mode_ = mode::unseen;
  deadline since_{};
  rank_sight last_;
  std::vector<std::uint64_t> members_;  ///< in a call that waits, the contents of the stack; else innermost functions
  std::size_t next_out_ = 0;            ///< the member that makes room for a new one
  std::uint64_t deepest_ = UINT64_MAX;  ///< the deepest stack of this set, as `rank_position::left_end`
  activations polled_in_;               ///< the functions from which it polls
  std::string polled_;
  activations common_;  ///< the functions that it has been in since `since_`
  std::vector<std::shared_ptr<const code_place>> common_path_;
  bool runs_ = false;
};

}  // namespace mpiacq::watching
