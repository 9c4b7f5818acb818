// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Jobs without a starter that has a table: a shell starts processes with the variables of torchrun.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"
#include "live_process.hpp"
#include "run_command.hpp"

namespace mpiacq::test {

/// A shell that starts ranks and stays until the object ends. Each rank has a child with the same variables.
class variables_job {
 public:
  explicit variables_job(int ranks, const std::string& address = "n1", int size = 0)
      : shell_({"sh", "-c", script(ranks, size == 0 ? ranks : size), "launcher", address}) {
    while (ranks_.size() < static_cast<std::size_t>(ranks)) {
      const auto line = shell_.next_line();
      REQUIRE(line);
      ranks_[std::stol(line->substr(0, line->find(' ')))] = std::stol(line->substr(line->find(' ') + 1));
    }
  }
  [[nodiscard]] long pid() const { return shell_.pid().value(); }
  /// By rank.
  [[nodiscard]] const std::map<long, long>& ranks() const { return ranks_; }

 private:
  /// A shell gives its background processes no standard input, so that their ends hang on another descriptor.
  static std::string script(int ranks, int size) {
    return "exec 3<&0; export MASTER_ADDR=\"$1\" MASTER_PORT=$$ WORLD_SIZE=" + std::to_string(size) +
           "; for r in $(seq 0 " + std::to_string(ranks - 1) +
           "); do exec env RANK=$r sh -c 'cat <&3 >/dev/null & echo $RANK $$; wait' & done; wait";
  }
  live_process shell_;
  std::map<long, long> ranks_;
};

}  // namespace mpiacq::test
