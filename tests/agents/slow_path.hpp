// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A way to a front end that takes bytes when the test wants it to, like a network with much traffic.
#pragma once

#include <array>
#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "catch.hpp"
#include "descriptors/unique_fd.hpp"

namespace mpiacq::test {

/// Passes on one connection to a port of the loopback interface.
class slow_path {
 public:
  /// `endpoint`: "tcp://127.0.0.1:PORT"
  explicit slow_path(const std::string& endpoint)
      : door_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
        to_(static_cast<std::uint16_t>(std::atoi(endpoint.substr(endpoint.rfind(':') + 1).c_str()))) {
    // The buffer of the connection that is accepted: what does not fit stays with the sender. A smaller one would be
    // slow on a busy machine when the bytes are taken.
    const int some_bytes = 200'000;
    REQUIRE(::setsockopt(door_.get(), SOL_SOCKET, SO_RCVBUF, &some_bytes, sizeof some_bytes) == 0);
    sockaddr_in where = loopback(0);
    socklen_t size = sizeof where;
    REQUIRE(::bind(door_.get(), reinterpret_cast<const sockaddr*>(&where), size) == 0);
    REQUIRE(::listen(door_.get(), 1) == 0);
    REQUIRE(::getsockname(door_.get(), reinterpret_cast<sockaddr*>(&where), &size) == 0);
    endpoint_ = "tcp://127.0.0.1:" + std::to_string(ntohs(where.sin_port));
    thread_ = std::thread([this] { pass_on(); });
  }
  ~slow_path() {
    ends_ = true;
    thread_.join();
  }
  slow_path(const slow_path&) = delete;
  slow_path& operator=(const slow_path&) = delete;

  [[nodiscard]] const std::string& endpoint() const { return endpoint_; }
  /// Whether bytes on their way to the front end are taken.
  void take(bool bytes) { takes_ = bytes; }

 private:
  static constexpr int between_looks_ms = 10;

  static sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    where.sin_port = htons(port);
    return where;
  }
  /// False when the connection has ended.
  static bool pass(int from, int to) {
    std::array<char, 262'144> bytes{};
    const ssize_t got = ::recv(from, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return true;
    return got > 0 && ::send(to, bytes.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL) == got;
  }
  void pass_on() {
    pollfd caller{door_.get(), POLLIN, 0};
    while (::poll(&caller, 1, between_looks_ms) <= 0) {
      if (ends_) return;
    }
    const base::unique_fd below{::accept4(door_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    const base::unique_fd above{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    const sockaddr_in where = loopback(to_);
    if (::connect(above.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0) return;
    for (bool goes_on = true; goes_on && !ends_;) {
      std::array<pollfd, 2> both{pollfd{above.get(), POLLIN, 0}, pollfd{takes_ ? below.get() : -1, POLLIN, 0}};
      if (::poll(both.data(), both.size(), between_looks_ms) <= 0) continue;
      if (both[0].revents != 0) goes_on = pass(above.get(), below.get());
      if (both[1].revents != 0) goes_on = goes_on && pass(below.get(), above.get());
    }
  }

  base::unique_fd door_;
  std::uint16_t to_;
  std::string endpoint_;
  std::atomic<bool> takes_ = true;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

}  // namespace mpiacq::test
