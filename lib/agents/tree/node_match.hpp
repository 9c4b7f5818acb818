// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "wire/agent_messages.hpp"

namespace mpiacq::agents {

/// Whether a host of a process table is the node of these names: by what it was started as, by its name in Slurm, by
/// its host name with or without a domain, or by one of its addresses in any spelling.
[[nodiscard]] bool is_called(const node_names& node, std::string_view host);

/// Thousands of nodes by their names: those that `is_called` may be true for are found without asking it for all.
class name_index {
 public:
  /// `number` is higher than those before it.
  void add(std::size_t number, std::string_view host);
  void add(std::size_t number, const node_names& node);
  /// Ascending; a few of them may be called otherwise.
  [[nodiscard]] std::vector<std::size_t> find(std::string_view host) const;
  [[nodiscard]] std::vector<std::size_t> find(const node_names& node) const;

 private:
  std::unordered_map<std::string, std::vector<std::size_t>> numbers_;
};

}  // namespace mpiacq::agents
