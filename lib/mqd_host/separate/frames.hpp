// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace mpiacq::mqd_host {

/// A message on a stream: its length, then itself. What a frame begins with is put in front of `bytes`.
[[nodiscard]] std::vector<std::byte> as_frame(std::span<const std::byte> bytes);

/// Frames out of the bytes of a stream as they come.
class frame_splitter {
 public:
  explicit frame_splitter(std::uint32_t longest) : longest_(longest) {}

  /// Where `wanted` more bytes may be put; `came` says how many did.
  [[nodiscard]] std::span<std::byte> room(std::size_t wanted);
  void came(std::size_t count) { end_ += count; }

  /// The next whole frame, good until `room`; empty where it has not come yet, or where there is no way to go on.
  [[nodiscard]] std::optional<std::span<const std::byte>> next();
  /// A frame longer than any that may be sent: what follows means nothing.
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  std::uint32_t longest_;
  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool broken_ = false;
};

/// For a side that has nothing else to do: the whole frame, waiting as long as it takes. False or empty where the other
/// side has gone, or sends what is no frame.
[[nodiscard]] bool send_frame(int socket, std::span<const std::byte> bytes);
[[nodiscard]] std::optional<std::vector<std::byte>> receive_frame(int socket, std::uint32_t longest);

}  // namespace mpiacq::mqd_host
