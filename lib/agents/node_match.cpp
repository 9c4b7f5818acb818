// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "node_match.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace mpiacq::agents {

namespace {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

/// The one spelling of an address; empty where it is none.
std::string canonical_address(const std::string& host) {
  std::array<std::byte, sizeof(in6_addr)> bytes{};
  std::array<char, INET6_ADDRSTRLEN> text{};
  for (const int family : {AF_INET, AF_INET6}) {
    if (::inet_pton(family, host.c_str(), bytes.data()) == 1 &&
        ::inet_ntop(family, bytes.data(), text.data(), text.size()) != nullptr)
      return text.data();
  }
  return {};
}

}  // namespace

bool is_called(const node_names& node, std::string_view host) {
  if (host.empty()) return false;
  if (host == node.told || host == node.slurm) return true;
  if (const std::string address = canonical_address(std::string(host)); !address.empty())
    return std::find(node.addresses.begin(), node.addresses.end(), address) != node.addresses.end();
  const std::string wanted = lower_case(host);
  const std::string name = lower_case(node.host);
  if (wanted == name) return true;
  // A short name on either side stands for the same host; two full names must be equal.
  const auto short_of = [](const std::string& full) { return full.substr(0, full.find('.')); };
  const bool one_is_short = wanted.find('.') == std::string::npos || name.find('.') == std::string::npos;
  return one_is_short && !name.empty() && short_of(wanted) == short_of(name);
}

}  // namespace mpiacq::agents
