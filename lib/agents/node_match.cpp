// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "node_match.hpp"

#include <algorithm>
#include <string>

#include "mpiacq/host_names.hpp"

namespace mpiacq::agents {

bool is_called(const node_names& node, std::string_view host) {
  if (host.empty()) return false;
  if (host == node.told || host == node.slurm) return true;
  if (const std::string address = canonical_address(host); !address.empty())
    return std::find(node.addresses.begin(), node.addresses.end(), address) != node.addresses.end();
  return is_same_host(host, node.host);
}

}  // namespace mpiacq::agents
