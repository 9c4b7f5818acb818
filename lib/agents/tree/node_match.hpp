// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "wire/agent_messages.hpp"

namespace mpiacq::agents {

/// Whether a process table calls this node `host`: by the name that its agent was given, its name in Slurm, its host
/// name with or without a domain, or one of its addresses in any spelling.
[[nodiscard]] bool is_called(const node_names& node, std::string_view host);

/// An index of thousands of nodes by their names. It finds the few for which `is_called` may be true.
class name_index {
 public:
  /// Numbers must ascend.
  void add(std::size_t number, std::string_view host);
  void add(std::size_t number, const node_names& node);
  /// Ascending. `is_called` must confirm each.
  [[nodiscard]] std::vector<std::size_t> find(std::string_view host) const;
  [[nodiscard]] std::vector<std::size_t> find(const node_names& node) const;

 private:
  std::unordered_map<std::string, std::vector<std::size_t>> numbers_;
};

}  // namespace mpiacq::agents
