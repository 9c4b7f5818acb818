// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// libzmq's handles with owners, and its options with their errors.
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
#include "trust/curve_keys.hpp"

namespace mpiacq::agents {

/// Whoever waits for answers of agents says that it is there so often, and they answer; rank_watch looks as often.
inline constexpr std::chrono::milliseconds between_signs{500};
/// While nothing is asked it says so less often, and nobody answers: the nodes are the job's.
inline constexpr std::chrono::milliseconds between_idle_signs{1000};
/// How long an agent, or a host, may be silent before it counts as gone.
inline constexpr std::chrono::milliseconds silent_at_most{2500};
/// Until somebody who listens has shown that it is who it should be. There are threads for that which do nothing else,
/// but a front end's may have thousands to shake hands with.
inline constexpr std::chrono::seconds shaken_within{10};

/// Has threads of its own, in which every signal is blocked.
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
  /// What both ends of a connection have: bounded queues, messages of at most so many bytes, and the kernel's
  /// probes of the other host, which end it where that does not answer for `silent_at_most`. libzmq's own heartbeats
  /// are not asked for: it aborts its process where one falls due on a connection that is being closed (4.3.4,
  /// stream_engine_base_t::out_event), and that process may be a debugger.
  [[nodiscard]] bool set_bounds(std::int64_t most_bytes_of_one);
  [[nodiscard]] std::string text_option(int option) const;

 private:
  void close() {
    if (socket_ != nullptr) zmq_close(socket_);
    socket_ = nullptr;
  }
  void* socket_ = nullptr;
};

/// What becomes of a socket's connections, as libzmq tells it: messages of an event (16 bits, first in the part) and of
/// where it was. To be destroyed before the socket: a thread of libzmq's that has an event to tell and nobody to tell
/// it to would wait for ever, and with it all connections that it serves.
class zmq_monitor {
 public:
  zmq_monitor() = default;
  /// `events`: of ZMQ_EVENT_.
  [[nodiscard]] static result<zmq_monitor> watch(const zmq_context& context, const zmq_socket& watched, int events);
  ~zmq_monitor() { stop(); }
  zmq_monitor(zmq_monitor&& other) noexcept
      : watched_(std::exchange(other.watched_, nullptr)), told_(std::move(other.told_)) {}
  zmq_monitor& operator=(zmq_monitor&& other) noexcept {
    stop();
    watched_ = std::exchange(other.watched_, nullptr);
    told_ = std::move(other.told_);
    return *this;
  }
  /// Where the events are read.
  [[nodiscard]] const zmq_socket& told() const { return told_; }

 private:
  void stop() {
    if (watched_ != nullptr) zmq_socket_monitor(watched_, nullptr, 0);
    watched_ = nullptr;
  }
  void* watched_ = nullptr;
  zmq_socket told_;
};

/// One part of a message.
class zmq_part {
 public:
  zmq_part() { zmq_msg_init(&part_); }
  ~zmq_part() { zmq_msg_close(&part_); }
  zmq_part(const zmq_part&) = delete;
  zmq_part& operator=(const zmq_part&) = delete;

  /// False where nothing is there.
  [[nodiscard]] bool receive(const zmq_socket& from) { return zmq_msg_recv(&part_, from.get(), ZMQ_DONTWAIT) >= 0; }
  [[nodiscard]] bool more_follow() const { return zmq_msg_more(&part_) != 0; }
  [[nodiscard]] std::span<const std::byte> bytes() const {
    // libzmq's call takes no constant and changes nothing.
    auto* part = const_cast<zmq_msg_t*>(&part_);
    return {static_cast<const std::byte*>(zmq_msg_data(part)), zmq_msg_size(part)};
  }
  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes().data()), bytes().size()};
  }
  /// What the connection is known by since it was let in.
  [[nodiscard]] std::string property(const char* name) const {
    const char* value = zmq_msg_gets(&part_, name);
    return value == nullptr ? std::string() : std::string(value);
  }
  /// The socket inside libzmq through which it came; -1: it has none. It may have been closed since.
  [[nodiscard]] int source_descriptor() const { return zmq_msg_get(&part_, ZMQ_SRCFD); }

 private:
  zmq_msg_t part_;
};

/// The parts of the next message; none where there is none now.
[[nodiscard]] std::vector<std::string> parts_of_message(const zmq_socket& from);
/// Never waits. 0, or an errno.
[[nodiscard]] int send_part(const zmq_socket& to, std::span<const std::byte> bytes, bool more_follow);
[[nodiscard]] int send_part(const zmq_socket& to, std::string_view text, bool more_follow);

/// Of a caller's descriptor, now; -1 never can.
[[nodiscard]] bool can_be_read(int descriptor);

/// For a failed call of libzmq.
[[nodiscard]] error zmq_failure(std::string what);

}  // namespace mpiacq::agents
