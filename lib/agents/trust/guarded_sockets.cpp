// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "trust/guarded_sockets.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "wire/protocol_times.hpp"

namespace mpiacq::agents {

namespace {

/// Agents of all nodes connect at once, and one for which the kernel's queue has no room tries again only seconds
/// later. The kernel applies its own limit if that is less (net.core.somaxconn).
constexpr int most_waiting_connections = 16384;
constexpr std::size_t path_begin = offsetof(sockaddr_un, sun_path);

base::unique_fd listening_at(const sockaddr* where, socklen_t size) {
  base::unique_fd made{::socket(where->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  const int off = 0;
  if (!made) return {};
  if (where->sa_family == AF_INET6 && ::setsockopt(made.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) != 0)
    return {};
  if (::bind(made.get(), where, size) != 0 || ::listen(made.get(), most_waiting_connections) != 0) return {};
  return made;
}

void set(int socket, int level, int option, int value) {
  static_cast<void>(::setsockopt(socket, level, option, &value, sizeof value));
}

/// The kernel probes the other host, and ends the connection if that does not answer for `silent_at_most`.
void watch_host(int socket) {
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, 1);
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(silent_at_most.count()));
}

std::string numeric_address(const sockaddr_storage& peer) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = nullptr;
  int family = peer.ss_family;
  if (family == AF_INET) {
    bytes = &reinterpret_cast<const sockaddr_in&>(peer).sin_addr;
  } else if (family == AF_INET6) {
    const in6_addr& address = reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr;
    const bool is_v4 = IN6_IS_ADDR_V4MAPPED(&address);
    family = is_v4 ? AF_INET : AF_INET6;
    bytes = address.s6_addr + (is_v4 ? 12 : 0);
  }
  const char* written = bytes == nullptr ? nullptr : ::inet_ntop(family, bytes, text.data(), text.size());
  return written == nullptr ? std::string("?") : std::string(written);
}

std::string name_in(const sockaddr_un& address, socklen_t size) {
  if (address.sun_family != AF_UNIX || size <= path_begin) return {};
  return {address.sun_path, std::min<std::size_t>(size - path_begin, sizeof address.sun_path)};
}

}  // namespace

base::unique_fd listening_socket(bool loopback_only) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_addr.s_addr = htonl(loopback_only ? INADDR_LOOPBACK : INADDR_ANY);
  if (!loopback_only) {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    // Fails if the kernel has no IPv6: then IPv4 alone must do.
    if (auto made = listening_at(reinterpret_cast<const sockaddr*>(&v6), sizeof v6)) return made;
  }
  return listening_at(reinterpret_cast<const sockaddr*>(&v4), sizeof v4);
}

std::uint16_t port_of(int socket) {
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) != 0) return 0;
  return ntohs(own.ss_family == AF_INET ? reinterpret_cast<const sockaddr_in&>(own).sin_port
                                        : reinterpret_cast<const sockaddr_in6&>(own).sin6_port);
}

base::unique_fd accepted(int listening, std::string& address) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  base::unique_fd made{::accept4(listening, reinterpret_cast<sockaddr*>(&peer), &size, SOCK_CLOEXEC | SOCK_NONBLOCK)};
  if (!made) return {};
  watch_host(made.get());
  address = numeric_address(peer);
  return made;
}

std::string fresh_inner_name() {
  std::array<unsigned char, 16> random{};
  static_cast<void>(::getrandom(random.data(), random.size(), 0));
  return fmt::format("mpiacq-{:02x}", fmt::join(random, ""));
}

base::unique_fd connected_inside(const std::string& name, std::string& own) {
  base::unique_fd made{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!made) return {};
  // Binding without a name makes the kernel choose a unique one (unix(7), autobind).
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(made.get(), generic, sizeof address.sun_family) != 0) return {};
  socklen_t size = sizeof address;
  if (::getsockname(made.get(), generic, &size) != 0) return {};
  own = name_in(address, size);
  address = {};
  address.sun_family = AF_UNIX;
  if (own.empty() || name.size() + 1 > sizeof address.sun_path) return {};
  std::copy(name.begin(), name.end(), address.sun_path + 1);
  if (::connect(made.get(), generic, static_cast<socklen_t>(path_begin + 1 + name.size())) != 0) return {};
  return made;
}

std::string name_of_peer(int socket) {
  sockaddr_un address{};
  socklen_t size = sizeof address;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  return name_in(address, size);
}

}  // namespace mpiacq::agents
