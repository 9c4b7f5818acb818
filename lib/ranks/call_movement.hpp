// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

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
  /// The function, and the function and the line that call it.
  using call = std::tuple<std::string, std::string, std::uint32_t>;
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
