// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "wire/channel.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <sys/socket.h>
#include <unistd.h>

#include "framing/stream.hpp"

namespace mpiacq::tracing {

namespace {

struct frame_head {
  std::uint32_t bytes = 0;
  std::uint32_t descriptors = 0;
};

constexpr std::uint32_t most_bytes = 64U << 20;  // far above the kernel's limit on arguments and environment
constexpr std::uint32_t most_descriptors = 1U << 16;
constexpr std::size_t descriptors_a_message = 250;  // the kernel takes 253 (SCM_MAX_FD)
constexpr std::size_t room = CMSG_SPACE(descriptors_a_message * sizeof(int));

/// A message with descriptors. They need at least one byte of data, so that each carries one.
struct descriptor_message {
  explicit descriptor_message(std::size_t control_bytes) {
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control_bytes;
  }
  ~descriptor_message() = default;
  descriptor_message(const descriptor_message&) = delete;
  descriptor_message& operator=(const descriptor_message&) = delete;

  std::byte carrier{};
  iovec data{&carrier, 1};
  alignas(cmsghdr) std::array<std::byte, room> control{};
  msghdr message{};
};

bool send_some(int socket, std::span<const int> descriptors) {
  descriptor_message carried(CMSG_SPACE(descriptors.size_bytes()));
  msghdr& message = carried.message;
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(descriptors.size_bytes());
  std::memcpy(CMSG_DATA(head), descriptors.data(), descriptors.size_bytes());
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == 1;
}

bool receive_some(int socket, std::size_t count, std::vector<unique_fd>& descriptors) {
  descriptor_message carried(room);
  msghdr& message = carried.message;
  ssize_t got = 0;
  do {
    got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got != 1) return false;
  std::size_t taken = 0;
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t at = 0; CMSG_LEN(at + sizeof(int)) <= head->cmsg_len; at += sizeof(int)) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(head) + at, sizeof fd);
      descriptors.emplace_back(fd);
      ++taken;
    }
  }
  return taken == count && (message.msg_flags & MSG_CTRUNC) == 0;
}

}  // namespace

result<socket_pair> make_socket_pair(int type) {
  int ends[2];
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail(error{error_code::system, "no socket for the tracing process"}.with_errno(errno));
  }
  return socket_pair{unique_fd{ends[0]}, unique_fd{ends[1]}};
}

bool send_frame(int socket, std::span<const std::byte> bytes, std::span<const int> descriptors) {
  if (bytes.size() > most_bytes || descriptors.size() > most_descriptors) {
    errno = E2BIG;
    return false;
  }
  const frame_head head{static_cast<std::uint32_t>(bytes.size()), static_cast<std::uint32_t>(descriptors.size())};
  // One call suffices if the socket has room: the peer then wakes up once, and has everything.
  std::vector<std::byte> whole(sizeof head + bytes.size());
  std::memcpy(whole.data(), &head, sizeof head);
  std::copy(bytes.begin(), bytes.end(), whole.begin() + sizeof head);
  if (!base::send_all(socket, whole)) return false;
  while (!descriptors.empty()) {
    const std::size_t some = std::min(descriptors.size(), descriptors_a_message);
    if (!send_some(socket, descriptors.first(some))) return false;
    descriptors = descriptors.subspan(some);
  }
  return true;
}

std::optional<frame> receive_frame(int socket) {
  frame_head head;
  if (!base::receive_all(socket, std::as_writable_bytes(std::span{&head, 1}))) return std::nullopt;
  if (head.bytes > most_bytes || head.descriptors > most_descriptors) return std::nullopt;
  frame whole;
  whole.bytes.resize(head.bytes);
  if (!base::receive_all(socket, whole.bytes)) return std::nullopt;
  for (std::size_t left = head.descriptors; left > 0;) {
    const std::size_t some = std::min(left, descriptors_a_message);
    if (!receive_some(socket, some, whole.descriptors)) return std::nullopt;
    left -= some;
  }
  return whole;
}

packet_outcome send_packet(int socket, std::span<const std::byte> bytes) {
  while (::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
    if (errno == EINTR) continue;
    return errno == EAGAIN || errno == ENOBUFS ? packet_outcome::not_now : packet_outcome::gone;
  }
  return packet_outcome::done;
}

packet_outcome receive_packet(int socket, std::vector<std::byte>& bytes) {
  while (true) {
    // With MSG_TRUNC the call returns the packet's whole length, and with MSG_PEEK the packet stays in the socket.
    const ssize_t length = ::recv(socket, nullptr, 0, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return errno == EAGAIN ? packet_outcome::not_now : packet_outcome::gone;
    if (length == 0) return packet_outcome::gone;
    bytes.resize(static_cast<std::size_t>(length));
    const ssize_t got = ::recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got == length) return packet_outcome::done;
    if (got < 0 && errno == EINTR) continue;
    return packet_outcome::gone;
  }
}

}  // namespace mpiacq::tracing
