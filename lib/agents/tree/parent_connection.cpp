// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "tree/parent_connection.hpp"

#include <cstring>

#include <fmt/format.h>

#include "errors/try.hpp"
#include "wire/protocol_times.hpp"

namespace mpiacq::agents {

namespace {

constexpr int watched = ZMQ_EVENT_CONNECTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH |
                        ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                        ZMQ_EVENT_DISCONNECTED;

}  // namespace

result<std::unique_ptr<parent_connection>> parent_connection::open(const zmq_context& context, const trust& proof,
                                                                   const std::string& endpoint,
                                                                   const curve_key& server) {
  std::unique_ptr<parent_connection> made(new parent_connection(proof, endpoint, server));
  TRY(made->set_up(context));
  return made;
}

result<void> parent_connection::set_up(const zmq_context& context) {
  keys_ = TRY(trust_.connection_keys());
  socket_ = TRY(zmq_socket::make(context, ZMQ_DEALER));
  // ZMQ_IMMEDIATE is not set: with it, libzmq may lose the last message before the end of a connection.
  if (!socket_.set_bounds(most_bytes) || !socket_.set(ZMQ_IPV6, 1) || !socket_.set(ZMQ_CURVE_SERVERKEY, server_) ||
      !socket_.set(ZMQ_CURVE_PUBLICKEY, keys_.open) || !socket_.set(ZMQ_CURVE_SECRETKEY, keys_.secret))
    return fail(zmq_failure(fmt::format("setting up a connection to {}", endpoint_)));
  monitor_ = TRY(zmq_monitor::watch(context, socket_, watched));
  if (zmq_connect(socket_.get(), endpoint_.c_str()) != 0) {
    error why = zmq_failure(fmt::format("connecting to '{}'", endpoint_));
    if (why.system_errno == EINVAL) why.code = error_code::invalid_argument;
    return fail(std::move(why));
  }
  return {};
}

/// A peer with another key ends the connection at once. libzmq reports only that the connection has ended.
error parent_connection::handshake_failure() const {
  if (clock::now() - reached_at_ >= handshake_limit) {
    return {error_code::timed_out,
            fmt::format("the process that listens at {} has not shown within {} s that it has the expected key",
                        endpoint_, handshake_limit.count())};
  }
  return {error_code::permission,
          fmt::format("the process that listens at {} ended the connection without showing that it has the expected "
                      "key: it belongs to another run, or is another program",
                      endpoint_)};
}

std::optional<parent_event> parent_connection::next_of_monitor() {
  for (;;) {
    zmq_part event, where;
    if (!event.receive(monitor_.events())) return std::nullopt;
    if (event.more_follow()) static_cast<void>(where.receive(monitor_.events()));
    std::uint16_t what = 0;
    if (event.bytes().size() < sizeof what) continue;
    std::memcpy(&what, event.bytes().data(), sizeof what);
    switch (what) {
      case ZMQ_EVENT_CONNECTED:
        reached_at_ = clock::now();
        return link_reached{};
      case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
        return link_up{};
      case ZMQ_EVENT_DISCONNECTED:
        return link_down{};
      case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
        return link_refused{error{error_code::permission,
                                  fmt::format("{} does not accept this agent's key: it is another run's", endpoint_)}};
      case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
        return link_refused{
            error{error_code::permission,
                  fmt::format("the process that listens at {} does not speak the agents' protocol", endpoint_)}};
      case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
        return link_refused{handshake_failure()};
      default:
        break;
    }
  }
}

std::optional<parent_event> parent_connection::next() {
  if (auto happened = next_of_monitor()) return happened;
  zmq_part part;
  if (!part.receive(socket_)) return std::nullopt;
  if (part.more_follow()) {
    static_cast<void>(parts_of_message(socket_));
    return link_noise{error{error_code::bad_format, "a message of several parts"}};
  }
  auto what = decode(part.bytes());
  if (!what) return link_noise{std::move(what).error()};
  return std::move(*what);
}

bool parent_connection::send(const message& what, const pulse& beat) {
  const auto bytes = encode(what, beat);
  return bytes.size() <= most_bytes && send_part(socket_, std::span<const std::byte>(bytes), false) == 0;
}

std::vector<zmq_pollitem_t> parent_connection::poll_items() const {
  return {{socket_.get(), -1, ZMQ_POLLIN, 0}, {monitor_.events().get(), -1, ZMQ_POLLIN, 0}};
}

}  // namespace mpiacq::agents
