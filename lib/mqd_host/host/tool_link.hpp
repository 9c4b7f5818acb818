// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "framing/frames.hpp"
#include "separate/queue_messages.hpp"

namespace mpiacq::mqd_host {

/// The separate process's connection to the tool: a socket.
class tool_link {
 public:
  /// The caller keeps the ownership of the socket.
  explicit tool_link(int socket) : socket_(socket) {}

  template <class Request>
  [[nodiscard]] result<typename Request::answer> ask(Request what) const {
    const auto bytes = exchange(request{std::move(what)});
    if (!bytes) return fail(error_code::process_gone, "the tool has closed the connection");
    auto answer = decode<typename Request::answer>(*bytes);
    if (!answer) return fail(error_code::bad_format, "the tool's answer does not fit the request");
    return std::move(*answer);
  }
  void tell(const request& what) const { static_cast<void>(base::send_frame(socket_, encode(what))); }

 private:
  [[nodiscard]] std::optional<std::vector<std::byte>> exchange(const request& what) const {
    if (!base::send_frame(socket_, encode(what))) return std::nullopt;
    return base::receive_frame(socket_, longest_answer);
  }
  int socket_;
};

}  // namespace mpiacq::mqd_host
