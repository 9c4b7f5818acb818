// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "separate/frames.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sys/socket.h>

namespace mpiacq::mqd_host {

namespace {

using frame_length = std::uint32_t;
constexpr std::size_t most_at_once = 1U << 18U;

bool receive_all(int socket, void* into, std::size_t length) {
  auto* at = static_cast<std::byte*>(into);
  while (length > 0) {
    const ssize_t got = ::recv(socket, at, length, MSG_WAITALL);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    length -= static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

std::vector<std::byte> as_frame(std::span<const std::byte> bytes) {
  const auto length = static_cast<frame_length>(bytes.size());
  std::vector<std::byte> frame(sizeof length + bytes.size());
  std::memcpy(frame.data(), &length, sizeof length);
  if (!bytes.empty()) std::memcpy(frame.data() + sizeof length, bytes.data(), bytes.size());
  return frame;
}

std::span<std::byte> frame_splitter::room(std::size_t wanted) {
  if (begin_ == end_) begin_ = end_ = 0;
  if (begin_ > 0) {
    std::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (bytes_.size() < end_ + wanted) bytes_.resize(end_ + wanted);
  return std::span{bytes_}.subspan(end_, wanted);
}

std::optional<std::span<const std::byte>> frame_splitter::next() {
  frame_length length = 0;
  if (broken_ || end_ - begin_ < sizeof length) return std::nullopt;
  std::memcpy(&length, bytes_.data() + begin_, sizeof length);
  if (length > longest_) {
    broken_ = true;
    return std::nullopt;
  }
  if (end_ - begin_ - sizeof length < length) return std::nullopt;
  const auto frame = std::span<const std::byte>{bytes_}.subspan(begin_ + sizeof length, length);
  begin_ += sizeof length + length;
  return frame;
}

bool send_frame(int socket, std::span<const std::byte> bytes) {
  const auto frame = as_frame(bytes);
  const std::byte* at = frame.data();
  std::size_t length = frame.size();
  while (length > 0) {
    const ssize_t sent = ::send(socket, at, length, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    length -= static_cast<std::size_t>(sent);
  }
  return true;
}

std::optional<std::vector<std::byte>> receive_frame(int socket, std::uint32_t longest) {
  frame_length length = 0;
  if (!receive_all(socket, &length, sizeof length) || length > longest) return std::nullopt;
  // As it comes, not as its head says: room for a frame is not taken before the frame is there.
  std::vector<std::byte> bytes;
  while (bytes.size() < length) {
    const std::size_t have = bytes.size();
    bytes.resize(std::min<std::size_t>(length, have + most_at_once));
    if (!receive_all(socket, bytes.data() + have, bytes.size() - have)) return std::nullopt;
  }
  return bytes;
}

}  // namespace mpiacq::mqd_host
