// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "trust/zap_handler.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

#include <fmt/format.h>
#include <sys/eventfd.h>

#include "errors/try.hpp"
#include "helper/all_signals_blocked.hpp"

namespace mpiacq::agents {

result<std::unique_ptr<zap_handler>> zap_handler::start(const zmq_context& context, const zmq_socket& socket,
                                                        const trust& proof, const port_guard& guard) {
  std::unique_ptr<zap_handler> made(new zap_handler(proof, guard));
  made->requests_ = TRY(zmq_socket::make(context, ZMQ_REP));
  if (zmq_bind(made->requests_.get(), "inproc://zeromq.zap.01") != 0)
    return fail(zmq_failure("opening the authentication socket for agents"));
  made->monitor_ = TRY(
      zmq_monitor::watch(context, socket, ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL));
  made->news_ = base::unique_fd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  made->stop_ = base::unique_fd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  if (!made->news_ || !made->stop_)
    return fail(error{error_code::system, "making an event for the authentication of agents"}.with_errno(errno));
  const base::all_signals_blocked blocked;
  made->thread_ = std::thread([handler = made.get()] { handler->run(); });
  return made;
}

zap_handler::~zap_handler() {
  if (!thread_.joinable()) return;
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
}

refused_connections zap_handler::refusals() {
  eventfd_t count = 0;
  static_cast<void>(::eventfd_read(news_.get(), &count));
  const std::lock_guard lock(mutex_);
  return std::exchange(refused_, {});
}

void zap_handler::note(std::uint64_t refused_connections::*count, std::string why) {
  const std::lock_guard lock(mutex_);
  ++(refused_.*count);
  refused_.why = std::move(why);
  ::eventfd_write(news_.get(), 1);
}

void zap_handler::run() {
  for (;;) {
    std::array<zmq_pollitem_t, 3> items{{{requests_.get(), -1, ZMQ_POLLIN, 0},
                                         {monitor_.events().get(), -1, ZMQ_POLLIN, 0},
                                         {nullptr, stop_.get(), ZMQ_POLLIN, 0}}};
    if (zmq_poll(items.data(), static_cast<int>(items.size()), -1) < 0 && zmq_errno() != EINTR) return;
    if (items[2].revents != 0) return;
    answer();
    note_noise();
  }
}

void zap_handler::answer() {
  for (;;) {
    const auto request = parts_of_message(requests_);
    if (request.empty()) return;
    // The parts: version, request, domain, address, identity, mechanism, key.
    curve_key key{};
    const bool asks = request.size() == 7 && request[5] == "CURVE" && request[6].size() == key.size();
    if (asks) std::copy_n(reinterpret_cast<const std::byte*>(request[6].data()), key.size(), key.begin());
    const bool accepts = asks && trust_.accepts(key);
    if (!accepts) {
      note(&refused_connections::keys,
           fmt::format("a peer has connected with a key that is not this run's (the last connection is from {})",
                       guard_.newest()));
    }
    const std::array<std::string, 6> answer{"1.0",
                                            request.size() > 1 ? request[1] : "",
                                            accepts ? "200" : "400",
                                            accepts ? "OK" : "No access",
                                            accepts ? hex(key) : "",
                                            ""};
    for (std::size_t i = 0; i < answer.size(); ++i) {
      if (send_part(requests_, answer[i], i + 1 < answer.size()) != 0) return;
    }
  }
}

void zap_handler::note_noise() {
  // Each event is one message.
  while (!parts_of_message(monitor_.events()).empty())
    note(&refused_connections::noise,
         fmt::format("a peer does not speak the agents' protocol (the last connection is from {})", guard_.newest()));
}

}  // namespace mpiacq::agents
