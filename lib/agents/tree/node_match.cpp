// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "tree/node_match.hpp"

#include <algorithm>
#include <cctype>

#include "mpiacq/base/host_names.hpp"

namespace mpiacq::agents {

namespace {

/// Equal for all names of one host: an address in its canonical spelling, or the host name without its domain.
std::string key_of(std::string_view host) {
  if (std::string address = canonical_address(host); !address.empty()) return address;
  std::string key(host.substr(0, host.find('.')));
  std::transform(key.begin(), key.end(), key.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return key;
}

/// Without duplicates.
std::vector<std::string> keys_of(const node_names& node) {
  std::vector<std::string> keys = node.addresses;
  for (const std::string* name : {&node.given, &node.slurm, &node.host}) {
    if (!name->empty()) keys.push_back(key_of(*name));
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

}  // namespace

bool is_called(const node_names& node, std::string_view host) {
  if (host.empty()) return false;
  if (host == node.given || host == node.slurm) return true;
  if (const std::string address = canonical_address(host); !address.empty())
    return std::find(node.addresses.begin(), node.addresses.end(), address) != node.addresses.end();
  return is_same_host(host, node.host);
}

void name_index::add(std::size_t number, std::string_view host) {
  numbers_[key_of(host)].push_back(number);
}

void name_index::add(std::size_t number, const node_names& node) {
  for (const std::string& key : keys_of(node)) numbers_[key].push_back(number);
}

std::vector<std::size_t> name_index::find(std::string_view host) const {
  const auto found = numbers_.find(key_of(host));
  return found == numbers_.end() ? std::vector<std::size_t>() : found->second;
}

std::vector<std::size_t> name_index::find(const node_names& node) const {
  std::vector<std::size_t> all;
  for (const std::string& key : keys_of(node)) {
    if (const auto found = numbers_.find(key); found != numbers_.end())
      all.insert(all.end(), found->second.begin(), found->second.end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace mpiacq::agents
