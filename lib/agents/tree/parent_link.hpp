// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// An agent's link to its parent, and to another agent or the front end if the parent is lost.
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

/// The life of a link:
///   1. Connect to the front end, greet it, and receive the assignment.
///   2. If the parent is another agent, connect to it and greet it. The connection to the front end is kept until the
///      parent has welcomed the agent, so that the agent can return to it.
///   3. If the parent is lost, try it again, then the agents above it, then the front end, and greet the first that can
///      be reached.
///   4. Give up if no process on the path can be reached in time.
class parent_link {
 public:
  /// `context` and `proof` must outlive it.
  parent_link(const zmq_context& context, const trust& proof, peer_address front_end, node_names names,
              peer_address own);

  /// Tries another address if the time of the current one is over.
  void turn();
  /// The next message from the parent. Greetings are handled here. The assignment is handled here and returned as well.
  [[nodiscard]] std::optional<message> next();
  /// As parent_connection::send.
  bool send(const message& what, const pulse& beat = {}) { return accepted_ && link_ && link_->send(what, beat); }
  /// Whether the parent has accepted the agent.
  [[nodiscard]] bool is_connected() const { return accepted_; }
  /// Why the agent has given up; empty: it has not.
  [[nodiscard]] const std::optional<error>& failure() const { return failure_; }

  [[nodiscard]] std::vector<zmq_pollitem_t> poll_items() const;
  /// When `turn` must be called even if nothing has arrived. `no_deadline` while the parent is the front end.
  [[nodiscard]] deadline next_turn() const;

 private:
  [[nodiscard]] bool is_searching() const { return !failure_ && !(accepted_ && link_ != nullptr); }
  [[nodiscard]] const std::string& current_endpoint() const { return path_[target_].endpoints[endpoint_]; }
  void connect();
  void try_next_address();
  void return_to_front_end();
  void search();
  void greet();
  void handle(parent_event&& event);
  void reached();
  void recognised();
  void lost();
  void connection_refused(error&& why);
  void greeting_refused(error&& why);
  [[nodiscard]] std::optional<message> take(message&& said);
  void take_assignment(const assignment& given);
  void check_silence();
  void watch_front_end();

  const zmq_context& context_;
  const trust& trust_;
  node_names names_;
  peer_address own_;
  std::vector<peer_address> path_;  ///< the front end first, the parent last
  std::size_t target_ = 0;          ///< the index in `path_` to which `link_` connects
  std::size_t endpoint_ = 0;        ///< and the index of its address
  std::uint32_t number_ = 0;
  std::unique_ptr<parent_connection> link_;
  std::unique_ptr<parent_connection> front_end_link_;  ///< while a parent has not welcomed the agent yet
  bool accepted_ = false;
  std::chrono::milliseconds time_per_address_;
  deadline next_address_at_{};
  deadline give_up_at_{};
  deadline give_up_in_any_case_{};  ///< even if a process listens, since it is not the expected one
  deadline silent_at_{};            ///< a parent without a message until then is lost
  error last_failure_;
  std::optional<error> failure_;
};

}  // namespace mpiacq::agents
