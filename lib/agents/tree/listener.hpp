// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The upper end: whoever has agents below it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "trust/port_guard.hpp"
#include "trust/trust.hpp"
#include "trust/zap_handler.hpp"
#include "wire/agent_messages.hpp"
#include "wire/zmq_parts.hpp"

namespace mpiacq::agents {

/// A connection, by the name that libzmq gave it: nobody else can take it.
using peer_name = std::string;

struct arrival {
  peer_name from;
  message what;
  std::size_t bytes = 0;
  bool is_new = false;  ///< it has just proven who it is, and `what` is its hello
};

enum class sending : std::uint8_t {
  done,
  full,  ///< the other side does not keep up, or the message is too long for any
  gone,  ///< there is no such connection any more
};

/// What was not let through.
struct dropped_counts {
  std::uint64_t noise = 0;        ///< connections that speak another protocol, or none
  std::uint64_t keys = 0;         ///< connections with a key that is not let in
  std::uint64_t credentials = 0;  ///< that prove nothing
  std::uint64_t strangers = 0;    ///< messages of connections that have not proven anything
  std::uint64_t unreadable = 0;   ///< messages of those that have, which are none of ours
};

struct listener_options {
  bool loopback_only = false;  ///< for tests: nobody else can connect
};

/// Listens on a port that the system chooses, with a fresh key. It passes on only messages of peers that have proven
/// that they belong to the same user, and answers nothing to others. What those can cost is bounded (port_guard.hpp).
/// Thread: one at a time.
class listener {
 public:
  /// `who` must outlive it. Errors: system (no port).
  [[nodiscard]] static result<std::unique_ptr<listener>> open(const trust& who, const listener_options& options = {});

  /// Where it is reached, by each address of this host.
  [[nodiscard]] const peer_address& address() const { return address_; }

  /// libzmq's threads, for connections to others, too. They must end before the listener.
  [[nodiscard]] const zmq_context& context() const { return context_; }

  /// The next message of somebody who has proven itself; empty where there is none now. Never waits.
  [[nodiscard]] std::optional<arrival> receive();
  /// Never waits. One that is gone is forgotten.
  sending send(const peer_name& to, const message& what);
  /// Nothing more is taken from it.
  void forget(const peer_name& peer) { proven_.erase(peer); }
  [[nodiscard]] const dropped_counts& dropped() const { return dropped_; }
  /// The last reason for which somebody was not let through; empty: none yet.
  [[nodiscard]] const std::string& last_refusal() const { return last_refusal_; }

  /// To be polled for reading: whichever can be read, `receive` is to be called until it gives nothing.
  [[nodiscard]] std::vector<zmq_pollitem_t> poll_items() const;

 private:
  listener(const trust& who, zmq_context context) : who_(who), context_(std::move(context)) {}
  [[nodiscard]] result<void> set_up(const listener_options& options);
  void note_refusals();
  [[nodiscard]] std::optional<arrival> judge(const peer_name& from, const zmq_part& part);
  [[nodiscard]] std::optional<arrival> judge_stranger(const peer_name& from, const zmq_part& part);
  void refuse(const peer_name& from);

  const trust& who_;
  key_pair keys_;
  peer_address address_;
  std::unique_ptr<port_guard> guard_;  // ends last: it passes on what libzmq sends while its context ends
  zmq_context context_;
  zmq_socket socket_;
  std::unique_ptr<zap_handler> zap_handler_;  // watches the socket
  std::unordered_set<peer_name> proven_;
  dropped_counts dropped_;
  std::string last_refusal_;
};

/// The addresses of this host's interfaces as others reach them, IPv4 first, without loopback and those of one link.
[[nodiscard]] std::vector<std::string> host_addresses();

}  // namespace mpiacq::agents
