// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "framing/stream.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include <sys/socket.h>
#include <sys/uio.h>

namespace mpiacq::base {

namespace {

constexpr std::size_t most_pieces = 4;

/// Takes the bytes that were sent from the front of the pieces. Gives how many are left.
std::size_t drop_sent(std::span<iovec> pieces, std::size_t sent) {
  std::size_t left = 0;
  for (iovec& piece : pieces) {
    const std::size_t of_this = std::min(sent, piece.iov_len);
    piece.iov_base = static_cast<std::byte*>(piece.iov_base) + of_this;
    piece.iov_len -= of_this;
    sent -= of_this;
    left += piece.iov_len;
  }
  return left;
}

}  // namespace

bool send_all(int socket, std::initializer_list<std::span<const std::byte>> pieces) {
  std::array<iovec, most_pieces> all{};
  if (pieces.size() > all.size()) {
    errno = EINVAL;
    return false;
  }
  // sendmsg does not write to what it sends.
  std::transform(pieces.begin(), pieces.end(), all.begin(), [](std::span<const std::byte> piece) {
    return iovec{const_cast<std::byte*>(piece.data()), piece.size()};
  });
  const std::span<iovec> left = std::span{all}.first(pieces.size());
  msghdr message{};
  message.msg_iov = left.data();
  message.msg_iovlen = left.size();
  for (std::size_t size = drop_sent(left, 0); size > 0;) {
    const ssize_t sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    size = drop_sent(left, static_cast<std::size_t>(sent));
  }
  return true;
}

bool receive_all(int socket, std::span<std::byte> into) {
  while (!into.empty()) {
    const ssize_t got = ::recv(socket, into.data(), into.size(), MSG_WAITALL);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    into = into.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

}  // namespace mpiacq::base
