// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/base/time_limit.hpp"

namespace mpiacq {

/// The hosts to which the launcher of a launched job has started ssh. If no rank comes to this node, they say where the
/// ranks are. It reads no process.
class started_elsewhere {
 public:
  /// Ranks of this node appear when the launcher's daemons on all hosts are there: ssh takes some seconds.
  static constexpr std::chrono::seconds longest_wait{10};
  static constexpr std::size_t most_hosts_named = 16;
  static constexpr std::size_t most_hosts = std::size_t{1} << 16U;

  /// The launcher has started ssh to this host. The name has the form of a host's name.
  void add(process_id launcher, const std::string& host, deadline now);
  /// Whether ranks of this node were waited for long enough.
  [[nodiscard]] bool is_certain(deadline now) const {
    return !was_told_ && !hosts_.empty() && now >= first_ + longest_wait;
  }
  /// That no rank has come to this node, and where the launcher has started something, with the hosts in the order of
  /// their names. Once; empty if it was told, or if the launcher has started no ssh.
  [[nodiscard]] std::optional<error> take_problem();

 private:
  std::set<std::string> hosts_;
  std::vector<std::string> named_;  ///< the first of them
  process_id launcher_;
  deadline first_ = no_deadline;  ///< when the first command was seen
  bool was_told_ = false;
};

}  // namespace mpiacq
