// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "mpiacq/ranks/rank_results.hpp"

namespace mpiacq {

/// The MPI calls that the program of each rank has made, at several moments. A rank that is in another call than at the
/// first moment, or in the same one from another place, has moved.
class call_movement {
 public:
  /// The stacks of the same ranks at one more moment. A rank whose stack was taken at one of two moments only has
  /// moved.
  void add(const group_stacks& sample);
  [[nodiscard]] const rank_set& moved() const { return moved_; }

 private:
  /// The function, and where it is called.
  using call = std::pair<std::string, call_site>;
  struct moment {
    rank_set taken;
    std::map<call, rank_set> calls;
  };
  [[nodiscard]] static moment moment_of(const group_stacks& sample);
  void compare(const rank_set& before, const rank_set& now);

  std::optional<moment> first_;
  rank_set moved_;
};

}  // namespace mpiacq
