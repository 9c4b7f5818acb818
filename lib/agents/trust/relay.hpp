// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A connection from another host, and its continuation to libzmq inside this process.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "descriptors/unique_fd.hpp"
#include "mpiacq/process/tracer.hpp"

namespace mpiacq::agents {

/// Passes bytes in both directions. Until the peer has proven its identity, only a bounded number of its bytes passes;
/// the kernel then holds back the rest. Thread: one at a time. Nothing here waits.
class relay {
 public:
  enum class state {
    idle,   ///< nothing more can be passed until the kernel reports an event
    busy,   ///< more could be passed, but other connections get their turn first
    ended,  ///< one side has closed, and the other side has received all bytes
  };

  /// `outer`: a non-blocking TCP socket. `address`: of the peer, for messages.
  relay(base::unique_fd outer, std::string address, std::size_t bytes_before_proof)
      : outer_(std::move(outer)), address_(std::move(address)), left_(bytes_before_proof), since_(clock::now()) {}

  /// Whether the peer has sent something, or has closed.
  [[nodiscard]] bool has_spoken() const;
  /// Continues the connection. `inner`: a non-blocking socket that leads to libzmq.
  void continue_to(base::unique_fd inner) { inner_ = std::move(inner); }
  [[nodiscard]] bool is_continued() const { return static_cast<bool>(inner_); }

  /// `scratch`: memory for one read. Adds the number of bytes passed from the peer to `passed`.
  [[nodiscard]] state pass(std::span<std::byte> scratch, std::size_t& passed);
  /// The peer has proven its identity: from now on all bytes pass.
  void lift_bound() { is_proven_ = true; }

  [[nodiscard]] bool is_proven() const { return is_proven_; }
  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] deadline since() const { return since_; }
  [[nodiscard]] int outer() const { return outer_.get(); }

 private:
  /// Bytes of one direction that have been read and not been written yet.
  struct flow {
    std::vector<std::byte> held;
    bool has_ended = false;   ///< nothing more can be read
    bool is_refused = false;  ///< nothing more can be written: further bytes are dropped
  };
  [[nodiscard]] bool pump(int from, int to, flow& what, std::span<std::byte> scratch, std::size_t* left,
                          std::size_t& passed);
  static void write(int to, flow& what, std::span<const std::byte> bytes);

  base::unique_fd outer_;
  base::unique_fd inner_;
  std::string address_;
  flow inwards_, outwards_;
  std::size_t left_;
  bool is_proven_ = false;
  deadline since_;
};

}  // namespace mpiacq::agents
