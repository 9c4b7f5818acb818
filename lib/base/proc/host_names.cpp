// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/base/host_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace mpiacq {

namespace {

bool is_same_text(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

bool is_plain(unsigned char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_of_a_name(unsigned char c) {
  return is_plain(c) || c == '-' || c == '.';
}

}  // namespace

bool is_host_name(std::string_view text) {
  constexpr std::size_t longest = 255;  // the limit of the DNS (RFC 1035, 2.3.4)
  if (text.empty() || text.size() > longest) return false;
  if (is_plain(static_cast<unsigned char>(text.front())) && std::all_of(text.begin(), text.end(), is_of_a_name)) {
    return true;
  }
  // An IPv6 address may end with a zone, which is the name of a network interface.
  const std::string_view zone = text.substr(std::min(text.find('%'), text.size()));
  return !canonical_address(text).empty() &&
         (zone.empty() || (zone.size() > 1 && std::all_of(zone.begin() + 1, zone.end(), is_of_a_name)));
}

std::string canonical_address(std::string_view host) {
  const std::string text(host.substr(0, host.find('%')));
  std::array<std::byte, sizeof(in6_addr)> bytes{};
  std::array<char, INET6_ADDRSTRLEN> canonical{};
  for (const int family : {AF_INET, AF_INET6}) {
    if (::inet_pton(family, text.c_str(), bytes.data()) == 1 &&
        ::inet_ntop(family, bytes.data(), canonical.data(), canonical.size()) != nullptr) {
      return canonical.data();
    }
  }
  return {};
}

bool is_same_host(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return false;
  const std::string_view short_a = a.substr(0, a.find('.'));
  const std::string_view short_b = b.substr(0, b.find('.'));
  if (short_a.size() != a.size() && short_b.size() != b.size()) return is_same_text(a, b);
  return is_same_text(short_a, short_b);
}

}  // namespace mpiacq
