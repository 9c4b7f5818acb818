// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Authentication between a front end and its agents (docs/agents.md), for both sides of a connection.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trust/curve_keys.hpp"
#include "trust/secret_file.hpp"

namespace mpiacq::agents {

/// How a front end and its agents prove to each other that they belong to the same user: by MUNGE credentials, or by a
/// secret key in a file that only this user can read.
class trust {
 public:
  /// For a front end: MUNGE if a munged answers, otherwise a new secret file.
  [[nodiscard]] static result<trust> for_front_end(const std::string& munge_socket, const std::string& secret_folder);
  /// For an agent, from `agent_order::proof`. invalid_argument: not "munge", "munge:SOCKET" or "file:PATH".
  [[nodiscard]] static result<trust> for_agent(std::string_view proof);

  /// The text for `agent_order::proof`.
  [[nodiscard]] std::string proof() const;

  /// No more agents are expected: removes the secret file. Agents that have read it are still accepted.
  void withdraw() { file_.reset(); }

  /// The keys for a connection to a parent. With a secret file, these are the keys of the run.
  [[nodiscard]] result<key_pair> connection_keys() const;
  /// The credential to send on that connection; empty if its key is the proof.
  [[nodiscard]] result<std::string> credential(const curve_key& own, const curve_key& server) const;

  /// Whether a peer with this key may connect and send its greeting.
  [[nodiscard]] bool accepts(const curve_key& client) const;
  /// Checks the credential of that greeting. permission: the credential is no proof, with the reason.
  [[nodiscard]] result<void> check(const std::string& credential, const curve_key& client,
                                   const curve_key& server) const;

 private:
  trust() = default;
  bool munge_ = false;
  std::string munge_socket_;
  std::optional<secret_file> file_;  ///< only the front end's
  std::string path_for_agents_;
  key_pair secret_;
};

}  // namespace mpiacq::agents
