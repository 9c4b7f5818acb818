// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// One connection of an agent to the front end or to an agent above it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "mpiacq/process/tracer.hpp"
#include "trust/trust.hpp"
#include "wire/agent_messages.hpp"
#include "wire/zmq_parts.hpp"

namespace mpiacq::agents {

struct link_reached {};  ///< a process accepts connections there; its identity is not known yet
struct link_up {};       ///< the connection is encrypted, and the peer has the right key: the agent can greet it
struct link_down {};
struct link_refused {
  /// permission: the peer does not accept this agent's key, or has not the expected key. timed_out: the peer did not
  /// answer.
  error why;
};
/// A message that cannot be read.
struct link_noise {
  error why;
};
using parent_event = std::variant<link_reached, link_up, link_down, link_refused, link_noise, message>;

/// Connects, and connects again each time the connection is lost. After that the agent has to greet the peer again.
/// Thread: one at a time.
class parent_connection {
 public:
  [[nodiscard]] static result<std::unique_ptr<parent_connection>> open(const zmq_context& context, const trust& proof,
                                                                       const std::string& endpoint,
                                                                       const curve_key& server);

  /// The next event; empty if there is none now. Never waits.
  [[nodiscard]] std::optional<parent_event> next();
  /// Never waits. False if there is no connection, or its queue is full. `beat` is called now and then while a long
  /// message is encoded; it may send other messages.
  bool send(const message& what, const pulse& beat = {});
  [[nodiscard]] result<std::string> credential() const { return trust_.credential(keys_.open, server_); }
  [[nodiscard]] const std::string& endpoint() const { return endpoint_; }

  [[nodiscard]] std::vector<zmq_pollitem_t> poll_items() const;

 private:
  parent_connection(const trust& proof, std::string endpoint, const curve_key& server)
      : trust_(proof), endpoint_(std::move(endpoint)), server_(server) {}
  [[nodiscard]] result<void> set_up(const zmq_context& context);
  [[nodiscard]] std::optional<parent_event> next_of_monitor();
  [[nodiscard]] error handshake_failure() const;

  const trust& trust_;
  std::string endpoint_;
  curve_key server_;
  key_pair keys_;
  deadline reached_at_{};
  zmq_socket socket_;
  zmq_monitor monitor_;  // must be destroyed before the socket
};

}  // namespace mpiacq::agents
