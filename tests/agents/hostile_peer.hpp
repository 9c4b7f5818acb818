// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A process that attacks a front end's port with plain sockets.
#pragma once

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catch.hpp"

namespace mpiacq::test {

/// Connects so many times, sends `bytes` once and then `more` (repeated) on each connection, and keeps all of them.
struct attack {
  std::size_t connections = 1;
  std::string bytes = {};
  std::size_t more = 0;
};

/// The greeting of ZMTP 3.0 (RFC 23), and a handshake command that claims this length.
inline std::string handshake_of(std::uint64_t claimed) {
  std::string said(64, '\0');
  said[0] = '\xff';
  said[9] = '\x7f';
  said[10] = 3;
  std::memcpy(said.data() + 12, "CURVE", 5);
  said += '\x06';  // a long command
  for (int shift = 56; shift >= 0; shift -= 8) said += static_cast<char>(claimed >> static_cast<unsigned>(shift));
  return said;
}

class hostile_peer {
 public:
  hostile_peer(const std::string& endpoint, const attack& how) {
    const auto port = static_cast<std::uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1)));
    std::array<int, 2> ready{};
    REQUIRE(::pipe(ready.data()) == 0);
    child_ = ::fork();
    REQUIRE(child_ >= 0);
    if (child_ == 0) {
      ::close(ready[0]);
      run(port, how, ready[1]);
    }
    ::close(ready[1]);
    // Its end would be heard, too: then nothing is read.
    std::size_t count = 0;
    has_attacked_ = ::read(ready[0], &count, sizeof count) == sizeof count;
    connected_ = count;
    ::close(ready[0]);
  }
  ~hostile_peer() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  hostile_peer(const hostile_peer&) = delete;
  hostile_peer& operator=(const hostile_peer&) = delete;

  [[nodiscard]] bool has_attacked() const { return has_attacked_; }
  /// The number of connections that the kernel has accepted.
  [[nodiscard]] std::size_t connected() const { return connected_; }

 private:
  [[noreturn]] static void run(std::uint16_t port, const attack& how, int ready) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(port);
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::vector<int> all;
    for (std::size_t i = 0; i < how.connections; ++i) {
      const int one = ::socket(AF_INET, SOCK_STREAM, 0);
      const timeval at_most{1, 0};
      ::setsockopt(one, SOL_SOCKET, SO_SNDTIMEO, &at_most, sizeof at_most);
      if (::connect(one, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0) break;
      if (!how.bytes.empty()) (void)!::send(one, how.bytes.data(), how.bytes.size(), MSG_NOSIGNAL);
      all.push_back(one);
    }
    const std::string piece(std::size_t{1} << 20U, 'x');
    std::vector<bool> is_full(all.size(), false);
    for (std::size_t sent = 0; sent < how.more; sent += piece.size()) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (!is_full[i]) is_full[i] = ::send(all[i], piece.data(), piece.size(), MSG_NOSIGNAL) <= 0;
      }
    }
    const std::size_t count = all.size();
    (void)!::write(ready, &count, sizeof count);
    for (;;) ::pause();
  }

  pid_t child_ = -1;
  bool has_attacked_ = false;
  std::size_t connected_ = 0;
};

}  // namespace mpiacq::test
