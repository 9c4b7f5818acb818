// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace mpiacq {

/// Whether a text can be what a host is called (MPIR 1.1, 9.2): an address of IPv4 or IPv6, a node's number, or a name
/// of letters, digits, '-', '_' and '.' that begins with a letter, a digit or '_'; at most 255 bytes. Any other text
/// out of a process table is no host: it could be an option, or several words, of a command that gets it.
[[nodiscard]] bool is_host_name(std::string_view text);

/// The one spelling of an address of IPv4 or IPv6; empty where `host` is none. A zone ("%eth0") says nothing about
/// whose it is, and is left out.
[[nodiscard]] std::string canonical_address(std::string_view host);

/// Whether two names, neither of them an address, are one host's as far as they tell: in whichever case, and a name
/// without a domain for each name that begins with it ("n1" and "N1.cluster"). Two full names must be equal.
[[nodiscard]] bool is_same_host(std::string_view a, std::string_view b);

}  // namespace mpiacq
