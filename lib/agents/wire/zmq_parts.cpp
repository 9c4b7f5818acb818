// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "wire/zmq_parts.hpp"

#include <array>
#include <atomic>

#include <fmt/format.h>
#include <poll.h>

namespace mpiacq::agents {

namespace {

constexpr int most_queued = 1000;  // messages, of one peer
constexpr int linger_ms = 300;     // for the last words when a socket is closed
constexpr int reconnect_ms = 100;
constexpr int between_probes_s = 1;  // the least that the kernel takes

int milliseconds(std::chrono::milliseconds time) {
  return static_cast<int>(time.count());
}

/// One that nobody has had: libzmq closes sockets behind our backs, and the name of one that is closing is still taken.
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
  if (made.context_ == nullptr) return fail(zmq_failure("making a context of libzmq"));
  return made;
}

result<zmq_socket> zmq_socket::make(const zmq_context& context, int type) {
  zmq_socket made;
  made.socket_ = ::zmq_socket(context.get(), type);
  if (made.socket_ == nullptr) return fail(zmq_failure("making a socket of libzmq"));
  if (!made.set(ZMQ_LINGER, linger_ms)) return fail(zmq_failure("setting up a socket of libzmq"));
  return made;
}

bool zmq_socket::set_bounds(std::int64_t most_bytes_of_one) {
  return set(ZMQ_SNDHWM, most_queued) && set(ZMQ_RCVHWM, most_queued) &&
         set(ZMQ_HANDSHAKE_IVL, milliseconds(shaken_within)) && set(ZMQ_RECONNECT_IVL, reconnect_ms) &&
         set(ZMQ_TCP_KEEPALIVE, 1) && set(ZMQ_TCP_KEEPALIVE_IDLE, between_probes_s) &&
         set(ZMQ_TCP_KEEPALIVE_INTVL, between_probes_s) && set(ZMQ_TCP_MAXRT, milliseconds(silent_at_most)) &&
         zmq_setsockopt(socket_, ZMQ_MAXMSGSIZE, &most_bytes_of_one, sizeof most_bytes_of_one) == 0;
}

std::string zmq_socket::text_option(int option) const {
  std::array<char, 1024> text{};
  std::size_t size = text.size();
  return zmq_getsockopt(socket_, option, text.data(), &size) == 0 ? std::string(text.data()) : std::string();
}

result<zmq_monitor> zmq_monitor::watch(const zmq_context& context, const zmq_socket& watched, int events) {
  auto told = zmq_socket::make(context, ZMQ_PAIR);
  if (!told) return fail(std::move(told).error());
  const std::string name = fresh_name();
  if (zmq_socket_monitor(watched.get(), name.c_str(), events) != 0)
    return fail(zmq_failure("watching the connections of a socket"));
  zmq_monitor made;
  made.watched_ = watched.get();
  made.told_ = std::move(*told);
  if (zmq_connect(made.told_.get(), name.c_str()) != 0)
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
