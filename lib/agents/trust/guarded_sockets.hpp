// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The sockets of a port_guard: a TCP port, and the way to libzmq inside this process.
#pragma once

#include <cstdint>
#include <string>

#include "descriptors/unique_fd.hpp"

namespace mpiacq::agents {

/// Listens on IPv4 and IPv6, as far as the kernel has both, at a port that the system chooses. Empty: see errno.
[[nodiscard]] base::unique_fd listening_socket(bool loopback_only);
[[nodiscard]] std::uint16_t port_of(int socket);
/// The next connection, and the numeric address of its peer. Empty: see errno.
[[nodiscard]] base::unique_fd accepted(int listening, std::string& address);

/// An unused name in the kernel's abstract namespace of Unix sockets.
[[nodiscard]] std::string fresh_inner_name();
/// Connects to that name. `own`: the unique name of the end that is returned. Empty: nothing listens there.
[[nodiscard]] base::unique_fd connected_inside(const std::string& name, std::string& own);
/// The name of the other end of a Unix socket; empty if it has none.
[[nodiscard]] std::string name_of_peer(int socket);

}  // namespace mpiacq::agents
