// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "separate/frames.hpp"
#include "separate/queue_messages.hpp"

namespace mpiacq::mqd_host {

/// The tool, as the separate process has it: at the other end of a socket.
class tool_link {
 public:
  /// The socket stays the caller's.
  explicit tool_link(int socket) : socket_(socket) {}

  template <class Request>
  [[nodiscard]] result<typename Request::answer> ask(Request what) const {
    const auto bytes = exchange(request{std::move(what)});
    if (!bytes) return fail(error_code::process_gone, "the tool has gone");
    auto answer = decode<typename Request::answer>(*bytes);
    if (!answer) return fail(error_code::bad_format, "the tool gave no answer to what it was asked");
    return std::move(*answer);
  }
  void tell(const request& what) const { static_cast<void>(send_frame(socket_, encode(what))); }

 private:
  [[nodiscard]] std::optional<std::vector<std::byte>> exchange(const request& what) const {
    if (!send_frame(socket_, encode(what))) return std::nullopt;
    return receive_frame(socket_, longest_answer);
  }
  int socket_;
};

}  // namespace mpiacq::mqd_host
