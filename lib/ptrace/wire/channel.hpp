// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "kernel/proc_files.hpp"

namespace mpiacq::tracing {

/// The two ends of a socket, closed on exec.
struct socket_pair {
  unique_fd ours;
  unique_fd theirs;
};
/// `type`: SOCK_STREAM for frames, SOCK_SEQPACKET for packets.
[[nodiscard]] result<socket_pair> make_socket_pair(int type);

/// One message on a stream socket, and the descriptors that came with it.
struct frame {
  std::vector<std::byte> bytes;
  std::vector<unique_fd> descriptors;
};

/// Sends the whole message, and waits for room as long as necessary. False if the peer has gone or a descriptor is of a
/// kind that cannot be sent; errno tells which.
[[nodiscard]] bool send_frame(int socket, std::span<const std::byte> bytes, std::span<const int> descriptors = {});
/// The next whole message; empty if the peer has gone or has sent anything else.
[[nodiscard]] std::optional<frame> receive_frame(int socket);

/// Packets are sent at once or not at all, and received one by one. `gone`: the peer has gone.
enum class packet_outcome { done, not_now, gone };
[[nodiscard]] packet_outcome send_packet(int socket, std::span<const std::byte> bytes);
[[nodiscard]] packet_outcome receive_packet(int socket, std::vector<std::byte>& bytes);

}  // namespace mpiacq::tracing
