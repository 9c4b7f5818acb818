// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "wire/zmq_parts.hpp"

#include <array>
#include <atomic>

#include <fmt/format.h>
#include <poll.h>

#include "errors/try.hpp"
#include "wire/protocol_times.hpp"

namespace mpiacq::agents {

namespace {

constexpr int most_queued = 1000;                 // messages for one peer
constexpr std::chrono::milliseconds linger{300};  // for the last messages when a socket is closed
constexpr int reconnect_ms = 100;
constexpr int between_probes_s = 1;  // the shortest time that the kernel accepts

int milliseconds(std::chrono::milliseconds time) {
  return static_cast<int>(time.count());
}

/// A name that was never used: libzmq closes sockets in the background, and until then their names stay taken.
std::string fresh_name() {
  static std::atomic<std::uint64_t> names{0};
  return fmt::format("inproc://events-{}", ++names);
}

}  // namespace

error zmq_failure(std::string what) {
  const int why = zmq_errno();
  error failure{why == EMFILE ? error_code::limit : error_code::system,
                fmt::format("{}: {}", std::move(what), zmq_strerror(why))};
  failure.system_errno = why;
  return failure;
}

result<zmq_context> zmq_context::make() {
  zmq_context made(zmq_ctx_new());
  if (made.context_ == nullptr) return fail(zmq_failure("creating a libzmq context"));
  return made;
}

result<zmq_socket> zmq_socket::make(const zmq_context& context, int type) {
  zmq_socket made;
  made.socket_ = ::zmq_socket(context.get(), type);
  if (made.socket_ == nullptr) return fail(zmq_failure("creating a libzmq socket"));
  if (!made.set_linger(linger)) return fail(zmq_failure("setting up a libzmq socket"));
  return made;
}

bool zmq_socket::set_bounds(std::int64_t most_bytes_of_one) {
  return set(ZMQ_SNDHWM, most_queued) && set(ZMQ_RCVHWM, most_queued) &&
         set(ZMQ_HANDSHAKE_IVL, milliseconds(handshake_limit)) && set(ZMQ_RECONNECT_IVL, reconnect_ms) &&
         set(ZMQ_TCP_KEEPALIVE, 1) && set(ZMQ_TCP_KEEPALIVE_IDLE, between_probes_s) &&
         set(ZMQ_TCP_KEEPALIVE_INTVL, between_probes_s) && set(ZMQ_TCP_MAXRT, milliseconds(silent_at_most)) &&
         zmq_setsockopt(socket_, ZMQ_MAXMSGSIZE, &most_bytes_of_one, sizeof most_bytes_of_one) == 0;
}

bool zmq_socket::set_linger(std::chrono::milliseconds at_most) {
  return set(ZMQ_LINGER, milliseconds(at_most));
}

std::string zmq_socket::text_option(int option) const {
  std::array<char, 1024> text{};
  std::size_t size = text.size();
  return zmq_getsockopt(socket_, option, text.data(), &size) == 0 ? std::string(text.data()) : std::string();
}

result<zmq_monitor> zmq_monitor::watch(const zmq_context& context, const zmq_socket& watched, int events) {
  zmq_socket events_socket = TRY(zmq_socket::make(context, ZMQ_PAIR));
  const std::string name = fresh_name();
  if (zmq_socket_monitor(watched.get(), name.c_str(), events) != 0)
    return fail(zmq_failure("watching the connections of a socket"));
  zmq_monitor made;
  made.watched_ = watched.get();
  made.events_ = std::move(events_socket);
  if (zmq_connect(made.events_.get(), name.c_str()) != 0)
    return fail(zmq_failure("watching the connections of a socket"));
  return made;
}

std::vector<std::string> parts_of_message(const zmq_socket& from) {
  std::vector<std::string> parts;
  bool more = true;
  while (more) {
    zmq_part part;
    if (!part.receive(from)) break;
    parts.emplace_back(part.text());
    more = part.more_follow();
  }
  return parts;
}

int send_part(const zmq_socket& to, std::span<const std::byte> bytes, bool more_follow) {
  const int flags = ZMQ_DONTWAIT | (more_follow ? ZMQ_SNDMORE : 0);
  return zmq_send(to.get(), bytes.data(), bytes.size(), flags) >= 0 ? 0 : zmq_errno();
}

int send_part(const zmq_socket& to, std::string_view text, bool more_follow) {
  return send_part(to, std::as_bytes(std::span(text)), more_follow);
}

bool can_be_read(int descriptor) {
  pollfd one{descriptor, POLLIN, 0};
  return descriptor >= 0 && ::poll(&one, 1, 0) > 0;
}

}  // namespace mpiacq::agents
