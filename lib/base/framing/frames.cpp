// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "framing/frames.hpp"

#include <algorithm>
#include <cstring>

#include "framing/stream.hpp"

namespace mpiacq::base {

namespace {

using frame_length = std::uint32_t;
constexpr std::size_t most_at_once = 1U << 18U;

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
  return send_all(socket, as_frame(bytes));
}

std::optional<std::vector<std::byte>> receive_frame(int socket, std::uint32_t longest) {
  frame_length length = 0;
  if (!receive_all(socket, std::as_writable_bytes(std::span{&length, 1})) || length > longest) {
    return std::nullopt;
  }
  // Memory grows with the received bytes and not with the announced length, so that a false length costs nothing.
  std::vector<std::byte> bytes;
  while (bytes.size() < length) {
    const std::size_t have = bytes.size();
    bytes.resize(std::min<std::size_t>(length, have + most_at_once));
    if (!receive_all(socket, std::span{bytes}.subspan(have))) return std::nullopt;
  }
  return bytes;
}

}  // namespace mpiacq::base
