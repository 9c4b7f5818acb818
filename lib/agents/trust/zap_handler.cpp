// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "trust/zap_handler.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

#include <fmt/format.h>
#include <sys/eventfd.h>

#include "helper/all_signals_blocked.hpp"

namespace mpiacq::agents {

result<std::unique_ptr<zap_handler>> zap_handler::start(const zmq_context& context, const zmq_socket& socket,
                                                        const trust& who, const port_guard& guard) {
  std::unique_ptr<zap_handler> made(new zap_handler(who, guard));
  auto door = zmq_socket::make(context, ZMQ_REP);
  if (!door) return fail(std::move(door).error());
  made->zap_handler_ = std::move(*door);
  if (zmq_bind(made->zap_handler_.get(), "inproc://zeromq.zap.01") != 0)
    return fail(zmq_failure("making the door of agents"));
  auto monitor =
      zmq_monitor::watch(context, socket, ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL);
  if (!monitor) return fail(std::move(monitor).error());
  made->monitor_ = std::move(*monitor);
  made->news_ = base::unique_fd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  made->stop_ = base::unique_fd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  if (!made->news_ || !made->stop_)
    return fail(error{error_code::system, "making an event for the door of agents"}.with_errno(errno));
  const base::all_signals_blocked blocked;
  made->thread_ = std::thread([keeper = made.get()] { keeper->run(); });
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
    std::array<zmq_pollitem_t, 3> items{{{zap_handler_.get(), -1, ZMQ_POLLIN, 0},
                                         {monitor_.told().get(), -1, ZMQ_POLLIN, 0},
                                         {nullptr, stop_.get(), ZMQ_POLLIN, 0}}};
    if (zmq_poll(items.data(), static_cast<int>(items.size()), -1) < 0 && zmq_errno() != EINTR) return;
    if (items[2].revents != 0) return;
    answer();
    note_noise();
  }
}

void zap_handler::answer() {
  for (;;) {
    const auto request = parts_of_message(zap_handler_);
    if (request.empty()) return;
    // version, request, domain, address, identity, mechanism, key
    curve_key key{};
    const bool asks = request.size() == 7 && request[5] == "CURVE" && request[6].size() == key.size();
    if (asks) std::copy_n(reinterpret_cast<const std::byte*>(request[6].data()), key.size(), key.begin());
    const bool lets_in = asks && who_.lets_in(key);
    if (!lets_in) {
      note(&refused_connections::keys,
           fmt::format("a peer came with a key that is not this run's (the last that connected is {})",
                       guard_.newest()));
    }
    const std::array<std::string, 6> answer{"1.0",
                                            request.size() > 1 ? request[1] : "",
                                            lets_in ? "200" : "400",
                                            lets_in ? "OK" : "No access",
                                            lets_in ? hex(key) : "",
                                            ""};
    for (std::size_t i = 0; i < answer.size(); ++i) {
      if (send_part(zap_handler_, answer[i], i + 1 < answer.size()) != 0) return;
    }
  }
}

void zap_handler::note_noise() {
  // An event: what, and where.
  while (!parts_of_message(monitor_.told()).empty())
    note(&refused_connections::noise,
         fmt::format("a peer does not speak the agents' protocol (the last that connected is {})", guard_.newest()));
}

}  // namespace mpiacq::agents
