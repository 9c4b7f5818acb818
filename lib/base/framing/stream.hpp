// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace mpiacq::base {

/// Sends all bytes on a stream socket, and blocks as long as necessary. Returns false if the other side has closed the
/// connection, with errno set. Raises no SIGPIPE. The only system call is sendto(2), which the sandbox of the queue
/// host permits.
[[nodiscard]] bool send_all(int socket, std::span<const std::byte> bytes);

/// Fills `into` from a stream socket. Returns false if the other side closes the connection before. The only system
/// call is recvfrom(2).
[[nodiscard]] bool receive_all(int socket, std::span<std::byte> into);

}  // namespace mpiacq::base
