// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The end of a connection that accepts agents: in the front end, and in each agent for its children.
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

/// libzmq's name of a connection. No other connection can take it.
using peer_name = std::string;

struct arrival {
  peer_name from;
  message what;
  std::size_t bytes = 0;
  bool is_new = false;  ///< the peer has just proven its identity, and `what` is its hello
};

enum class sending : std::uint8_t {
  done,
  full,  ///< the peer reads too slowly, or the message exceeds the bound
  gone,  ///< the connection has ended
};

/// Counts of refused connections and messages.
struct dropped_counts {
  std::uint64_t noise = 0;        ///< connections that do not speak the protocol
  std::uint64_t keys = 0;         ///< connections with a key that is not accepted
  std::uint64_t credentials = 0;  ///< greetings whose credential is no proof
  std::uint64_t unproven = 0;     ///< messages of peers that have not proven their identity
  std::uint64_t unreadable = 0;   ///< messages of proven peers that cannot be read
};

struct listener_options {
  bool loopback_only = false;  ///< for tests: only this host can connect
};

/// Listens on a port that the system chooses, with a fresh key. It passes on only the messages of peers that have
/// proven that they belong to the same user, and does not answer others. port_guard.hpp bounds what those can cost.
/// Thread: one at a time.
class listener {
 public:
  /// `proof` must outlive it. Errors: system (no port).
  [[nodiscard]] static result<std::unique_ptr<listener>> open(const trust& proof, const listener_options& options = {});

  /// One endpoint for each address of this host.
  [[nodiscard]] const peer_address& address() const { return address_; }

  /// libzmq's threads. Other connections may use them, and must end before the listener.
  [[nodiscard]] const zmq_context& context() const { return context_; }

  /// The next message of a proven peer; empty if there is none now. Never waits. `beat` is called now and then while a
  /// long message is decoded.
  [[nodiscard]] std::optional<arrival> receive(const pulse& beat = {});
  /// Never waits. Forgets the peer if it is gone.
  sending send(const peer_name& to, const message& what);
  /// Accepts no further message from this peer.
  void forget(const peer_name& peer) { proven_.erase(peer); }
  [[nodiscard]] const dropped_counts& dropped() const { return dropped_; }
  /// Why the last peer was refused; empty: none was.
  [[nodiscard]] const std::string& last_refusal() const { return last_refusal_; }

  /// When one of these is readable, `receive` must be called until it returns nothing.
  [[nodiscard]] std::vector<zmq_pollitem_t> poll_items() const;

 private:
  listener(const trust& proof, zmq_context context) : trust_(proof), context_(std::move(context)) {}
  [[nodiscard]] result<void> set_up(const listener_options& options);
  void note_refusals();
  [[nodiscard]] std::optional<arrival> take(const peer_name& from, const zmq_part& part, const pulse& beat);
  [[nodiscard]] std::optional<arrival> take_greeting(const peer_name& from, const zmq_part& part);
  void refuse_greeting(const peer_name& from);

  const trust& trust_;
  key_pair keys_;
  peer_address address_;
  std::unique_ptr<port_guard> guard_;  // destroyed last: it passes on what libzmq sends while its context ends
  zmq_context context_;
  zmq_socket socket_;
  std::unique_ptr<zap_handler> zap_handler_;  // watches the socket
  std::unordered_set<peer_name> proven_;
  dropped_counts dropped_;
  std::string last_refusal_;
};

/// The addresses at which other hosts reach this one, IPv4 first, without loopback and link-local addresses.
[[nodiscard]] std::vector<std::string> host_addresses();

}  // namespace mpiacq::agents
