// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Tells libzmq which keys a listener accepts (ZeroMQ RFC 27, ZAP).
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "descriptors/unique_fd.hpp"
#include "trust/port_guard.hpp"
#include "trust/trust.hpp"
#include "wire/zmq_parts.hpp"

namespace mpiacq::agents {

/// Connections that were refused since the last call.
struct refused_connections {
  std::uint64_t keys = 0;   ///< with a key that is not accepted
  std::uint64_t noise = 0;  ///< without a CURVE handshake
  std::string why;          ///< why the last one was refused; empty: none was
};

/// Answers libzmq's question whether a peer's key is accepted. The answer comes from a thread of this object, so that
/// agents can connect while the caller is busy. Thread: one at a time, beside its own.
class zap_handler {
 public:
  static constexpr std::string_view domain = "mpiacq";

  /// `socket` must be bound later. The socket, the context, `proof` and `guard` must outlive the handler.
  [[nodiscard]] static result<std::unique_ptr<zap_handler>> start(const zmq_context& context, const zmq_socket& socket,
                                                                  const trust& proof, const port_guard& guard);
  ~zap_handler();
  zap_handler(const zap_handler&) = delete;
  zap_handler& operator=(const zap_handler&) = delete;

  /// Readable when a connection has been refused since the last `refusals`.
  [[nodiscard]] int descriptor() const { return news_.get(); }
  [[nodiscard]] refused_connections refusals();

 private:
  zap_handler(const trust& proof, const port_guard& guard) : trust_(proof), guard_(guard) {}
  void run();
  void answer();
  void note_noise();
  void note(std::uint64_t refused_connections::*count, std::string why);

  const trust& trust_;
  const port_guard& guard_;
  zmq_socket requests_;
  zmq_monitor monitor_;
  base::unique_fd news_;
  base::unique_fd stop_;
  std::mutex mutex_;
  refused_connections refused_;
  std::thread thread_;
};

}  // namespace mpiacq::agents
