// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The lower end: an agent's connection to whoever it answers to.
#pragma once

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

struct link_reached {};  ///< somebody listens there, who has yet to say who it is
struct link_up {};       ///< encrypted, to the owner of the right key: it can be greeted
struct link_down {};
struct link_refused {
  /// permission: the other side does not let our key in, or is not who it should be. timed_out: it has not said.
  error why;
};
/// A message that is none of ours.
struct link_noise {
  error why;
};
using uplink_event = std::variant<link_reached, link_up, link_down, link_refused, link_noise, message>;

/// Connects, and connects again whenever that is lost: each time anew, as somebody who has proven nothing.
/// Thread: one at a time.
class parent_connection {
 public:
  [[nodiscard]] static result<std::unique_ptr<parent_connection>> open(const zmq_context& context, const trust& who,
                                                                       const std::string& endpoint,
                                                                       const curve_key& server);

  /// What happened next; empty where nothing has. Never waits.
  [[nodiscard]] std::optional<uplink_event> next();
  /// Never waits. False where there is no connection, or it takes no more.
  bool send(const message& what);
  [[nodiscard]] result<std::string> credential() const { return who_.credential(keys_.open, server_); }
  [[nodiscard]] const std::string& endpoint() const { return endpoint_; }

  [[nodiscard]] std::vector<zmq_pollitem_t> poll_items() const;

 private:
  parent_connection(const trust& who, std::string endpoint, const curve_key& server)
      : who_(who), endpoint_(std::move(endpoint)), server_(server) {}
  [[nodiscard]] result<void> set_up(const zmq_context& context);
  [[nodiscard]] std::optional<uplink_event> next_of_monitor();
  [[nodiscard]] error unshaken() const;

  const trust& who_;
  std::string endpoint_;
  curve_key server_;
  key_pair keys_;
  deadline reached_at_{};
  zmq_socket socket_;
  zmq_monitor monitor_;  // goes before the socket does
};

}  // namespace mpiacq::agents
