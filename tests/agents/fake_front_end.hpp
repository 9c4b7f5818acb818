// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A front end that sends only what the test tells it to, apart from its answer to a goodbye, and ends without a goodbye
// of its own, like a killed one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "channel.hpp"
#include "descriptors/unique_fd.hpp"
#include "mpiacq/ranks/agent.hpp"
#include "run_command.hpp"

namespace mpiacq::test {

class fake_front_end {
 public:
  /// `munge_socket`: empty if a secret file is the proof.
  explicit fake_front_end(const std::string& munge_socket = {})
      : who_(agents::trust::for_front_end(munge_socket.empty() ? folder_.path("no-socket") : munge_socket,
                                          folder_.path("."))
                 .value()),
        listener_(agents::listener::open(who_, {true}).value()) {}

  [[nodiscard]] agent_order order() const {
    agent_order all;
    all.endpoints = listener_->address().endpoints;
    all.front_end_key = agents::hex(listener_->address().key);
    all.proof = who_.proof();
    return all;
  }
  [[nodiscard]] agents::listener& connections() { return *listener_; }
  /// Waits until a message has arrived, and does not read it; false after ten seconds.
  [[nodiscard]] bool hears_something() {
    auto items = listener_->poll_items();
    return zmq_poll(items.data(), 1, 10'000) == 1;
  }
  /// The next message of this kind; empty after ten seconds.
  template <class Kind>
  std::optional<std::pair<agents::peer_name, Kind>> next() {
    return until(*listener_, nullptr, [this]() -> std::optional<std::pair<agents::peer_name, Kind>> {
      while (auto come = listener_->receive()) {
        if (std::holds_alternative<agents::goodbye>(come->what)) {
          static_cast<void>(listener_->send(come->from, agents::goodbye{}));
        }
        if (auto* said = std::get_if<Kind>(&come->what)) return std::pair{come->from, std::move(*said)};
      }
      return std::nullopt;
    });
  }
  /// Waits for the next greeting, and assigns number 1 and these ranks. Returns the agent's connection.
  agents::peer_name assign_one(std::vector<rank_process> ranks) {
    const auto greeting = next<agents::hello>();
    REQUIRE(greeting.has_value());
    REQUIRE(listener_->send(greeting->first, agents::assignment{1, {listener_->address()}, std::move(ranks)}) ==
            agents::sending::done);
    return greeting->first;
  }
  void die() { listener_.reset(); }

 private:
  scratch_folder folder_;
  agents::trust who_;
  std::unique_ptr<agents::listener> listener_;
};

/// A port of the loopback interface that accepts connections and never sends anything, or that refuses them. While this
/// object lives, no other program can get the port; another program may get a closed port at once.
class silent_port {
 public:
  enum class connections { accepted, refused };
  explicit silent_port(connections these = connections::accepted)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof where;
    constexpr int most_callers = 16;
    REQUIRE(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&where), size) == 0);
    if (these == connections::accepted) REQUIRE(::listen(socket_.get(), most_callers) == 0);
    REQUIRE(::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&where), &size) == 0);
    endpoint_ = "tcp://127.0.0.1:" + std::to_string(ntohs(where.sin_port));
  }
  [[nodiscard]] const std::string& endpoint() const { return endpoint_; }
  [[nodiscard]] int descriptor() const { return socket_.get(); }
  /// Waits until a process has connected; false after ten seconds.
  [[nodiscard]] bool is_called() const {
    pollfd caller{socket_.get(), POLLIN, 0};
    return ::poll(&caller, 1, 10'000) == 1;
  }

 private:
  base::unique_fd socket_;
  std::string endpoint_;
};

}  // namespace mpiacq::test
