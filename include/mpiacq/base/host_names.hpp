// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// Names and addresses of hosts in process tables. Thread: any.
#pragma once

#include <string>
#include <string_view>

namespace mpiacq {

/// Whether a text can be a host (MPIR 1.1, 9.2): an IPv4 or IPv6 address, the number of a node, or a name of letters,
/// digits, '-', '_' and '.' that begins with a letter, a digit or '_', of at most 255 bytes. Any other text from a
/// process table is no host: as an argument of a command it could be an option, or several words.
[[nodiscard]] bool is_host_name(std::string_view text);

/// The canonical spelling of an IPv4 or IPv6 address; empty if `host` is no address. A zone ("%eth0") is left out,
/// because it does not identify the host.
[[nodiscard]] std::string canonical_address(std::string_view host);

/// Whether two names, neither of them an address, can mean one host. Case does not matter, and a name without a domain
/// matches each name that begins with it ("n1" and "N1.cluster"). Two names with domains must be equal.
[[nodiscard]] bool is_same_host(std::string_view a, std::string_view b);

}  // namespace mpiacq
