// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The port that agents connect to. It bounds what peers can cost before they have proven their identity.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "descriptors/unique_fd.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/process/tracer.hpp"
#include "tree/relay.hpp"

namespace mpiacq::agents {

/// libzmq accepts every connection, and buffers what a peer sends: a message of many parts without any bound. So the
/// port belongs to this class, and libzmq listens on a socket inside this process. A thread passes bytes between the
/// two. It bounds, for peers that have not proven their identity yet,
///   - their number, in proportion to the limit of descriptors;
///   - the bytes that each of them gets through;
///   - the bytes that all of them get through until the caller has read what libzmq holds.
/// It accepts no connection while the process is short of descriptors: the kernel keeps those that wait.
/// Thread: one at a time, beside its own.
class port_guard {
 public:
  /// Of one peer. A handshake and a hello need some 17 KiB at most.
  static constexpr std::size_t bytes_before_proof = 24576;
  /// Of all peers, until `all_read`.
  static constexpr std::size_t unread_bytes = std::size_t{32} << 20U;

  /// Opens a port that the system chooses. Errors: system.
  [[nodiscard]] static result<std::unique_ptr<port_guard>> open(bool loopback_only);
  /// Waits a short time for what libzmq has sent last.
  ~port_guard();
  port_guard(const port_guard&) = delete;
  port_guard& operator=(const port_guard&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// libzmq must listen here before `start`, and accept connections of this process alone.
  [[nodiscard]] std::string inner_endpoint() const { return "ipc://@" + inner_name_; }
  /// Accepts connections from now on. Errors: system.
  [[nodiscard]] result<void> start();

  /// The peer behind this connection of libzmq has proven its identity. Not found: it has gone.
  void lift_bound(int descriptor_of_libzmq);
  /// The caller has read everything that libzmq held.
  void all_read() { unread_ = 0; }
  /// The address of the peer that connected last; empty: none has.
  [[nodiscard]] std::string newest() const;

 private:
  struct connection {
    relay bytes;
    std::string inner;  ///< the name of our end of its continuation; empty: it has none
  };
  using connection_number = std::uint64_t;

  port_guard() = default;
  [[nodiscard]] result<void> listen(bool loopback_only);
  void run();
  void take_orders();
  void accept_some();
  [[nodiscard]] bool make_room();
  void add(base::unique_fd outer, std::string address);
  void serve(connection_number number);
  [[nodiscard]] bool continue_inside(connection_number number, connection& one);
  [[nodiscard]] bool watch(int descriptor, std::uint64_t mark) const;
  void drop(connection_number number);
  [[nodiscard]] int wait_ms() const;

  base::unique_fd listening_, events_, wake_;
  std::uint16_t port_ = 0;
  std::string inner_name_;
  std::atomic<std::size_t> unread_{0};

  mutable std::mutex mutex_;  // of the next three
  bool stopping_ = false;
  std::vector<std::string> proven_;  ///< by the names of our ends
  std::string newest_;

  // Of the thread alone.
  std::map<connection_number, connection> connections_;
  std::map<std::string, connection_number> by_inner_;
  std::set<connection_number> unproven_;  ///< the oldest first
  std::set<connection_number> again_;     ///< those whose turn was over before they were done
  connection_number last_ = 1;
  deadline accepts_again_ = no_deadline;  ///< it does not accept until then
  deadline stops_at_ = no_deadline;
  std::array<std::byte, 65536> scratch_{};
  std::thread thread_;
};

}  // namespace mpiacq::agents
