// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The port to which agents connect. It bounds what peers can cost before they have proven their identity.
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
#include "trust/relay.hpp"

namespace mpiacq::agents {

/// libzmq accepts every connection, and buffers a message of many parts without any bound. So this class owns the port,
/// libzmq listens on a socket inside this process, and a thread passes bytes between the two. For peers that have not
/// proven their identity yet, the thread bounds
///   - their number, in proportion to the limit of descriptors;
///   - the bytes that it passes for each of them;
///   - the bytes that it passes for all of them until the caller has read what libzmq holds.
/// While the process is short of descriptors, it accepts no connection: new ones wait in the kernel's queue.
/// Thread: one at a time, beside its own.
class port_guard {
 public:
  /// Bytes passed for one unproven peer. A handshake and a hello need 17 KiB at most.
  static constexpr std::size_t bytes_before_proof = 24576;
  /// Bytes passed for all unproven peers until `all_read`.
  static constexpr std::size_t unread_bytes = std::size_t{32} << 20U;

  /// Opens a port that the system chooses. Errors: system.
  [[nodiscard]] static result<std::unique_ptr<port_guard>> open(bool loopback_only);
  /// Waits a short time for the last bytes that libzmq sends.
  ~port_guard();
  port_guard(const port_guard&) = delete;
  port_guard& operator=(const port_guard&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// libzmq must listen here before `start`, and must accept connections of this process only.
  [[nodiscard]] std::string inner_endpoint() const { return "ipc://@" + inner_name_; }
  /// Accepts connections from now on. Errors: system.
  [[nodiscard]] result<void> start();

  /// The peer behind this connection of libzmq has proven its identity. Does nothing if the connection has ended.
  void lift_bound(int descriptor_of_libzmq);
  /// The caller has read everything that libzmq held.
  void all_read() { unread_ = 0; }
  /// The address of the peer that connected last; empty: none has.
  [[nodiscard]] std::string newest() const;

 private:
  struct connection {
    relay bytes;
    std::string inner;  ///< the name of this end of its continuation; empty: there is none yet
  };
  using connection_number = std::uint64_t;

  port_guard() = default;
  [[nodiscard]] result<void> listen(bool loopback_only);
  void run();
  void take_requests();
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

  mutable std::mutex mutex_;  // protects the next three
  bool stopping_ = false;
  std::vector<std::string> proven_;  ///< the `inner` names of connections
  std::string newest_;

  // Used by the thread only.
  std::map<connection_number, connection> connections_;
  std::map<std::string, connection_number> by_inner_;
  std::set<connection_number> unproven_;  ///< the oldest first
  std::set<connection_number> again_;     ///< connections whose turn ended before they were done
  connection_number last_ = 1;
  deadline accepts_again_ = no_deadline;  ///< the thread accepts no connection until then
  deadline stops_at_ = no_deadline;
  std::array<std::byte, 65536> scratch_{};
  std::thread thread_;
};

}  // namespace mpiacq::agents
