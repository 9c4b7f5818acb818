// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>

namespace mpiacq::base {

/// Sends all pieces on a stream socket, one after the other, and waits for room as long as it takes. Where the socket
/// has room, this is one call: the other side wakes up once, and then has everything. False: the other side has gone;
/// errno says why. No SIGPIPE.
[[nodiscard]] bool send_all(int socket, std::initializer_list<std::span<const std::byte>> pieces);

/// Fills `into` from a stream socket. False: the other side has gone before that.
[[nodiscard]] bool receive_all(int socket, std::span<std::byte> into);

}  // namespace mpiacq::base
