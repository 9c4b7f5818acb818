// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Both ends of a connection in one test.
#pragma once

#include <chrono>
#include <optional>
#include <variant>
#include <vector>

#include "catch.hpp"
#include "tree/listener.hpp"
#include "tree/parent_connection.hpp"

namespace mpiacq::test {

constexpr std::chrono::seconds most_waiting{10};

/// Handles events of both ends until `found` returns something; empty after ten seconds.
template <class Found>
auto until(const agents::listener& upper, const agents::parent_connection* lower, Found found) -> decltype(found()) {
  const auto end = std::chrono::steady_clock::now() + most_waiting;
  for (;;) {
    if (auto it = found()) return it;
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    if (left <= 0) return {};
    auto items = upper.poll_items();
    if (lower != nullptr) {
      const auto more = lower->poll_items();
      items.insert(items.end(), more.begin(), more.end());
    }
    zmq_poll(items.data(), static_cast<int>(items.size()), left);
  }
}

/// A front end's port and one connection to it.
struct channel {
  agents::trust& upper_trust;
  agents::trust& lower_trust;
  std::unique_ptr<agents::listener> upper = agents::listener::open(upper_trust, {true}).value();
  agents::zmq_context context = agents::zmq_context::make().value();
  std::unique_ptr<agents::parent_connection> lower = {};
  std::vector<agents::arrival> arrived = {};

  void connect() { connect(upper->address().key); }
  void connect(const agents::curve_key& key) {
    lower = agents::parent_connection::open(context, lower_trust, upper->address().endpoints.at(0), key).value();
  }
  void connect_as(agents::trust& other) {
    lower =
        agents::parent_connection::open(context, other, upper->address().endpoints.at(0), upper->address().key).value();
  }
  /// The next event of the lower end, other than link_reached. The upper end takes its messages meanwhile.
  std::optional<agents::parent_event> next_below() {
    return until(*upper, lower.get(), [this]() -> std::optional<agents::parent_event> {
      while (auto come = upper->receive()) arrived.push_back(std::move(*come));
      auto happened = lower->next();
      while (happened && std::holds_alternative<agents::link_reached>(*happened)) happened = lower->next();
      return happened;
    });
  }
  std::optional<agents::arrival> next_above() {
    return until(*upper, lower.get(), [this]() -> std::optional<agents::arrival> {
      while (auto come = upper->receive()) arrived.push_back(std::move(*come));
      if (arrived.empty()) return std::nullopt;
      agents::arrival first = std::move(arrived.front());
      arrived.erase(arrived.begin());
      return first;
    });
  }
  /// Waits until the upper end has refused something.
  bool until_dropped(const std::uint64_t agents::dropped_counts::*count) {
    return until(*upper, lower.get(), [&] {
      while (auto come = upper->receive()) arrived.push_back(std::move(*come));
      while (lower && lower->next()) {
      }
      return upper->dropped().*count > 0;
    });
  }
  void connect_and_greet() {
    connect();
    const auto up = next_below();
    REQUIRE(up.has_value());
    REQUIRE(std::holds_alternative<agents::link_up>(*up));
    agents::hello greeting;
    greeting.credential = lower->credential().value();
    greeting.names.host = "n1";
    REQUIRE(lower->send(greeting));
  }
};

}  // namespace mpiacq::test
