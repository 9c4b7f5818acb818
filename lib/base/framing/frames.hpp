// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace mpiacq::base {

/// A message on a stream: the length in front of `bytes`.
[[nodiscard]] std::vector<std::byte> as_frame(std::span<const std::byte> bytes);

/// Splits a stream of bytes into frames.
class frame_splitter {
 public:
  explicit frame_splitter(std::uint32_t longest) : longest_(longest) {}

  /// Memory for `wanted` more bytes. The caller then reports with `came` how many bytes it put there.
  [[nodiscard]] std::span<std::byte> room(std::size_t wanted);
  void came(std::size_t count) { end_ += count; }

  /// The next whole frame, valid until `room`; empty if none is complete, or if the stream is broken.
  [[nodiscard]] std::optional<std::span<const std::byte>> next();
  /// Whether a frame was longer than the limit; the rest of the stream then has no meaning.
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  std::uint32_t longest_;
  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool broken_ = false;
};

/// Sends or receives a whole frame, for a side that has nothing else to do. Blocks. False or empty if the other side
/// closed the socket, or sent no frame.
[[nodiscard]] bool send_frame(int socket, std::span<const std::byte> bytes);
[[nodiscard]] std::optional<std::vector<std::byte>> receive_frame(int socket, std::uint32_t longest);

}  // namespace mpiacq::base
