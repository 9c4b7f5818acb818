// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// An agent's place in the tree: to whom it answers now, and to whom else when that one is gone.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mpiacq/process/tracer.hpp"
#include "tree/parent_connection.hpp"
#include "wire/agent_messages.hpp"

namespace mpiacq::agents {

/// Connects, greets, and does so again, with the same or the next one above, whenever a connection ends.
class parent_link {
 public:
  /// `context` and `who` must outlive it.
  parent_link(const zmq_context& context, const trust& who, peer_address front_end, node_names names, peer_address own);

  /// Looks whether it is time to try somebody else.
  void turn();
  /// The next message from above; greetings and places are dealt with, and a place is given on, too.
  [[nodiscard]] std::optional<message> next();
  bool send(const message& what) { return connected_ && link_ && link_->send(what); }
  [[nodiscard]] bool is_connected() const { return connected_; }
  /// Nobody has been reached for too long: why.
  [[nodiscard]] const std::optional<error>& given_up() const { return given_up_; }

  [[nodiscard]] std::vector<zmq_pollitem_t> poll_items() const;
  /// When `turn` wants to be called again, though nothing has come: never while it answers to the front end.
  [[nodiscard]] deadline next_turn() const;

 private:
  /// There is nothing to look after.
  [[nodiscard]] bool is_settled() const { return given_up_.has_value() || (connected_ && link_ != nullptr); }
  void connect();
  void try_next();
  void go_back();
  void greet();
  void reached();
  void recognised();
  void lost();
  void miss_parent();
  void sit_down(const place& told);
  void watch_front_end();
  void look_for_another();
  void refused(error&& why);
  [[nodiscard]] std::optional<message> take(uplink_event&& happened);

  const zmq_context& context_;
  const trust& who_;
  node_names names_;
  peer_address own_;
  std::vector<peer_address> above_;  ///< the front end first
  std::size_t at_ = 0;               ///< whom it is trying
  std::size_t endpoint_ = 0;         ///< by which address
  std::uint32_t number_ = 0;
  std::unique_ptr<parent_connection> link_;
  std::unique_ptr<parent_connection>
      front_end_link_;      ///< kept until a parent has welcomed it: while it is there nothing is lost
  bool connected_ = false;  ///< and welcomed
  std::chrono::milliseconds one_try_;
  deadline try_next_at_{};
  deadline give_up_at_{};
  deadline silent_at_{};            ///< a parent that has said nothing until then is missed
  deadline give_up_in_any_case_{};  ///< also where somebody listens who is nobody that it knows
  error last_failure_;
  std::optional<error> given_up_;
};

}  // namespace mpiacq::agents
