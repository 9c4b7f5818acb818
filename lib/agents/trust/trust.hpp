// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Who may talk, and how one shows it (docs/agents.md). The same on both sides of a connection.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trust/curve_keys.hpp"
#include "trust/secret_file.hpp"

namespace mpiacq::agents {

class trust {
 public:
  /// The front end's: MUNGE where a munged answers, else a new secret file. `why_no_munge` says what the first one was
  /// not possible for.
  [[nodiscard]] static result<trust> begin(const std::string& munge_socket, const std::string& secret_folder);
  /// An agent's, by what it was told: "munge", "munge:SOCKET", "file:PATH". invalid_argument: none of these.
  [[nodiscard]] static result<trust> told(std::string_view proof);

  /// What to tell an agent.
  [[nodiscard]] std::string proof() const;

  /// All have come who were to: the secret's file goes away. Who knows it by now stays let in.
  void withdraw() { file_.reset(); }

  /// The keys for a connection to somebody: where the proof is the secret, that is their secret half.
  [[nodiscard]] result<key_pair> connection_keys() const;
  /// What to say on that connection; empty where the keys are all.
  [[nodiscard]] result<std::string> credential(const curve_key& own, const curve_key& server) const;

  /// Whether somebody with this key is let in to say who it is.
  [[nodiscard]] bool lets_in(const curve_key& client) const;
  /// Whether what it then says proves it. permission: why not.
  [[nodiscard]] result<void> check(const std::string& credential, const curve_key& client,
                                   const curve_key& server) const;

 private:
  trust() = default;
  bool munge_ = false;
  std::string munge_socket_;
  std::optional<secret_file> file_;  ///< of the front end alone
  std::string told_path_;
  key_pair secret_;
};

}  // namespace mpiacq::agents
