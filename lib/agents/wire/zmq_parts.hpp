// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// libzmq's context, sockets, monitors and messages as objects that own them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <zmq.h>

#include "mpiacq/base/error.hpp"
#include "wire/agent_messages.hpp"

namespace mpiacq::agents {

/// Its threads block every signal.
class zmq_context {
 public:
  [[nodiscard]] static result<zmq_context> make();
  ~zmq_context() {
    if (context_ != nullptr) zmq_ctx_term(context_);
  }
  zmq_context(zmq_context&& other) noexcept : context_(std::exchange(other.context_, nullptr)) {}
  zmq_context& operator=(zmq_context&&) = delete;
  [[nodiscard]] void* get() const { return context_; }

 private:
  explicit zmq_context(void* context) : context_(context) {}
  void* context_;
};

class zmq_socket {
 public:
  zmq_socket() = default;
  [[nodiscard]] static result<zmq_socket> make(const zmq_context& context, int type);
  ~zmq_socket() { close(); }
  zmq_socket(zmq_socket&& other) noexcept : socket_(std::exchange(other.socket_, nullptr)) {}
  zmq_socket& operator=(zmq_socket&& other) noexcept {
    close();
    socket_ = std::exchange(other.socket_, nullptr);
    return *this;
  }
  [[nodiscard]] void* get() const { return socket_; }

  [[nodiscard]] bool set(int option, int value) { return zmq_setsockopt(socket_, option, &value, sizeof value) == 0; }
  [[nodiscard]] bool set(int option, std::string_view value) {
    return zmq_setsockopt(socket_, option, value.data(), value.size()) == 0;
  }
  [[nodiscard]] bool set(int option, const curve_key& key) {
    return zmq_setsockopt(socket_, option, key.data(), key.size()) == 0;
  }
  /// Sets the options of both ends of a connection: bounded queues, a bound for messages, and the kernel's probes,
  /// which end the connection if the other host does not answer for `silent_at_most`. libzmq's own heartbeats stay off:
  /// libzmq 4.3.4 aborts its process if one falls due on a connection that is being closed
  /// (stream_engine_base_t::out_event), and that process may be a debugger.
  [[nodiscard]] bool set_bounds(std::int64_t most_bytes_of_one);
  /// How long messages that were sent may still leave after the socket was closed.
  [[nodiscard]] bool set_linger(std::chrono::milliseconds at_most);
  [[nodiscard]] std::string text_option(int option) const;

 private:
  void close() {
    if (socket_ != nullptr) zmq_close(socket_);
    socket_ = nullptr;
  }
  void* socket_ = nullptr;
};

/// Reports what happens to a socket's connections. A message has the event (16 bits at the beginning of its first part)
/// and the address. The monitor must be destroyed before the socket: otherwise a thread of libzmq with an event to
/// report waits forever, and so do all connections that it serves.
class zmq_monitor {
 public:
  zmq_monitor() = default;
  /// `events`: flags of ZMQ_EVENT_*.
  [[nodiscard]] static result<zmq_monitor> watch(const zmq_context& context, const zmq_socket& watched, int events);
  ~zmq_monitor() { stop(); }
  zmq_monitor(zmq_monitor&& other) noexcept
      : watched_(std::exchange(other.watched_, nullptr)), events_(std::move(other.events_)) {}
  zmq_monitor& operator=(zmq_monitor&& other) noexcept {
    stop();
    watched_ = std::exchange(other.watched_, nullptr);
    events_ = std::move(other.events_);
    return *this;
  }
  /// The socket from which the events are read.
  [[nodiscard]] const zmq_socket& events() const { return events_; }

 private:
  void stop() {
    if (watched_ != nullptr) zmq_socket_monitor(watched_, nullptr, 0);
    watched_ = nullptr;
  }
  void* watched_ = nullptr;
  zmq_socket events_;
};

/// A part of a message.
class zmq_part {
 public:
  zmq_part() { zmq_msg_init(&part_); }
  ~zmq_part() { zmq_msg_close(&part_); }
  zmq_part(const zmq_part&) = delete;
  zmq_part& operator=(const zmq_part&) = delete;

  /// False if there is no part now.
  [[nodiscard]] bool receive(const zmq_socket& from) { return zmq_msg_recv(&part_, from.get(), ZMQ_DONTWAIT) >= 0; }
  [[nodiscard]] bool more_follow() const { return zmq_msg_more(&part_) != 0; }
  [[nodiscard]] std::span<const std::byte> bytes() const {
    // libzmq's functions take no const pointer, but change nothing.
    auto* part = const_cast<zmq_msg_t*>(&part_);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    return {static_cast<const std::byte*>(zmq_msg_data(part)), zmq_msg_size(part)};
  }
  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes().data()), bytes().size()};
  }
  /// A property of the connection, such as the user id that the ZAP handler gave it; empty: it has none.
  [[nodiscard]] std::string property(const char* name) const {
    const char* value = zmq_msg_gets(&part_, name);
    return value == nullptr ? std::string() : std::string(value);
  }
  /// The descriptor inside libzmq from which the part was read; -1: unknown. It may have been closed since.
  [[nodiscard]] int source_descriptor() const { return zmq_msg_get(&part_, ZMQ_SRCFD); }

 private:
  zmq_msg_t part_{};
};

/// The parts of the next message, or the remaining parts of the current one; none if there is none now.
[[nodiscard]] std::vector<std::string> parts_of_message(const zmq_socket& from);
/// Never waits. 0, or an errno.
[[nodiscard]] int send_part(const zmq_socket& to, std::span<const std::byte> bytes, bool more_follow);
[[nodiscard]] int send_part(const zmq_socket& to, std::string_view text, bool more_follow);

/// Whether a descriptor of the caller is readable now; false for -1.
[[nodiscard]] bool can_be_read(int descriptor);

/// The error of a failed call of libzmq.
[[nodiscard]] error zmq_failure(std::string what);

}  // namespace mpiacq::agents
