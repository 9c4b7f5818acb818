// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The nodes of ranks, for reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/job/process_table.hpp"
#include "mpiacq/job/rank_names.hpp"
#include "mpiacq/ranks/rank_selection.hpp"
#include "mpiacq/ranks/rank_set.hpp"

namespace mpiacq::tool {

class rank_hosts {
 public:
  rank_hosts() = default;
  /// The hosts of these ranks, as the table names them.
  rank_hosts(const process_table& table, const rank_selection& ranks);

  [[nodiscard]] std::size_t size() const { return hosts_.size(); }
  /// "" if the table does not name it.
  [[nodiscard]] std::string_view of(entry_index entry) const;
  /// " on h2" if all of these ranks are on that node and other ranks are on other nodes; otherwise empty.
  [[nodiscard]] std::string behind(const rank_set& ranks) const;
  /// " on 4 nodes"; empty for one node.
  [[nodiscard]] std::string count_text() const;
  /// A line with the ranks of each node; empty for one node.
  [[nodiscard]] std::string line(const rank_names& names) const;

 private:
  struct host {
    std::string name;
    rank_set ranks;
  };
  [[nodiscard]] const host* find(entry_index entry) const;
  static constexpr std::uint32_t none = UINT32_MAX;
  std::vector<host> hosts_;             ///< by their lowest ranks
  std::vector<std::uint32_t> host_of_;  ///< of each rank: its index in `hosts_`
};

}  // namespace mpiacq::tool
