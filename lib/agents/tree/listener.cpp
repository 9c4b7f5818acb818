// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "tree/listener.hpp"

#include <array>
#include <cerrno>
#include <utility>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <unistd.h>

#include "errors/try.hpp"

namespace mpiacq::agents {

namespace {

/// The largest hello: it has a credential and some names.
constexpr std::size_t most_bytes_of_hello = 16384;
/// Connections of the port guard that libzmq has not accepted yet.
constexpr int most_waiting_inside = 4096;

std::string text_of(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = nullptr;
  if (address->sa_family == AF_INET) {
    const in_addr& ip = reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
    if (ntohl(ip.s_addr) >> 24U == IN_LOOPBACKNET) return {};
    bytes = &ip;
  } else if (address->sa_family == AF_INET6) {
    const in6_addr& ip = reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
    if (IN6_IS_ADDR_LOOPBACK(&ip) || IN6_IS_ADDR_LINKLOCAL(&ip)) return {};
    bytes = &ip;
  } else {
    return {};
  }
  const char* written = ::inet_ntop(address->sa_family, bytes, text.data(), text.size());
  return written == nullptr ? std::string() : std::string(written);
}

}  // namespace

std::vector<std::string> host_addresses() {
  std::vector<std::string> v4, v6;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  for (const ifaddrs* i = list; i != nullptr; i = i->ifa_next) {
    if (i->ifa_addr == nullptr) continue;
    std::string text = text_of(i->ifa_addr);
    if (!text.empty()) (i->ifa_addr->sa_family == AF_INET ? v4 : v6).push_back(std::move(text));
  }
  v4.insert(v4.end(), v6.begin(), v6.end());
  return v4;
}

result<std::unique_ptr<listener>> listener::open(const trust& proof, const listener_options& options) {
  auto context = TRY(zmq_context::make());
  std::unique_ptr<listener> made(new listener(proof, std::move(context)));
  TRY(made->set_up(options));
  return made;
}

result<void> listener::set_up(const listener_options& options) {
  keys_ = TRY(make_keys());
  socket_ = TRY(zmq_socket::make(context_, ZMQ_ROUTER));
  guard_ = TRY(port_guard::open(options.loopback_only));
  // Without a ZAP handler libzmq accepts every key: the handler must be there before the first peer.
  zap_handler_ = TRY(zap_handler::start(context_, socket_, trust_, *guard_));
  // Only this process may connect inside: other processes of this host would bypass the guard.
  if (!socket_.set_bounds(most_bytes) || !socket_.set(ZMQ_BACKLOG, most_waiting_inside) ||
      !socket_.set(ZMQ_IPC_FILTER_PID, static_cast<int>(::getpid())) || !socket_.set(ZMQ_ROUTER_MANDATORY, 1) ||
      !socket_.set(ZMQ_CURVE_SERVER, 1) || !socket_.set(ZMQ_CURVE_SECRETKEY, keys_.secret) ||
      !socket_.set(ZMQ_ZAP_DOMAIN, zap_handler::domain))
    return fail(zmq_failure("setting up the port for agents"));
  if (zmq_bind(socket_.get(), guard_->inner_endpoint().c_str()) != 0)
    return fail(zmq_failure("opening a port for agents"));
  TRY(guard_->start());
  const std::uint16_t port = guard_->port();
  address_.key = keys_.open;
  if (!options.loopback_only) {
    for (const std::string& host : host_addresses()) {
      const bool is_v6 = host.find(':') != std::string::npos;
      address_.endpoints.push_back(is_v6 ? fmt::format("tcp://[{}]:{}", host, port)
                                         : fmt::format("tcp://{}:{}", host, port));
    }
  }
  if (address_.endpoints.empty()) address_.endpoints.push_back(fmt::format("tcp://127.0.0.1:{}", port));
  return {};
}

void listener::note_refusals() {
  auto refused = zap_handler_->refusals();
  if (refused.why.empty()) return;
  dropped_.keys += refused.keys;
  dropped_.noise += refused.noise;
  last_refusal_ = std::move(refused.why);
}

std::optional<arrival> listener::receive(const pulse& beat) {
  note_refusals();
  for (;;) {
    zmq_part name;
    if (!name.receive(socket_)) {
      guard_->all_read();
      return std::nullopt;
    }
    if (!name.more_follow()) continue;
    const peer_name from(name.text());
    zmq_part part;
    if (!part.receive(socket_)) return std::nullopt;
    if (part.more_follow()) {
      ++dropped_.unproven;
      static_cast<void>(parts_of_message(socket_));
      continue;
    }
    if (auto found = take(from, part, beat)) return found;
  }
}

std::optional<arrival> listener::take(const peer_name& from, const zmq_part& part, const pulse& beat) {
  if (!proven_.contains(from)) return take_greeting(from, part);
  auto what = decode(part.bytes(), beat);
  if (what) return arrival{from, std::move(*what), part.bytes().size(), false};
  ++dropped_.unreadable;
  last_refusal_ = what.error().message;
  return std::nullopt;
}

std::optional<arrival> listener::take_greeting(const peer_name& from, const zmq_part& part) {
  const auto key = from_hex(part.property("User-Id"));
  if (!key || part.bytes().size() > most_bytes_of_hello) {
    ++dropped_.unproven;
    return std::nullopt;
  }
  auto what = decode(part.bytes());
  const hello* said = what ? std::get_if<hello>(&*what) : nullptr;
  if (said == nullptr) {
    ++dropped_.unproven;
    last_refusal_ = what ? "a message of a peer that has not proven its identity" : what.error().message;
    return std::nullopt;
  }
  if (const auto proof = trust_.check(said->credential, *key, keys_.open); !proof) {
    ++dropped_.credentials;
    last_refusal_ = proof.error().message;
    refuse_greeting(from);
    return std::nullopt;
  }
  proven_.insert(from);
  guard_->lift_bound(part.source_descriptor());
  return arrival{from, std::move(*what), part.bytes().size(), true};
}

/// Without an answer the peer would wait for as long as this process lives. The answer does not reveal what is wrong
/// with the peer's proof.
void listener::refuse_greeting(const peer_name& from) {
  const auto bytes = encode(goodbye{error{error_code::permission, "its proof of identity was refused"}});
  if (send_part(socket_, from, true) == 0)
    static_cast<void>(send_part(socket_, std::span<const std::byte>(bytes), false));
}

sending listener::send(const peer_name& to, const message& what) {
  if (!proven_.contains(to)) return sending::gone;
  const auto bytes = encode(what);
  if (bytes.size() > most_bytes) return sending::full;
  // If the connection is gone, libzmq refuses the name, and the message is not sent.
  int outcome = send_part(socket_, to, true);
  if (outcome == 0) outcome = send_part(socket_, std::span<const std::byte>(bytes), false);
  if (outcome == 0) return sending::done;
  if (outcome == EAGAIN) return sending::full;
  forget(to);
  return sending::gone;
}

std::vector<zmq_pollitem_t> listener::poll_items() const {
  return {{socket_.get(), -1, ZMQ_POLLIN, 0}, {nullptr, zap_handler_->descriptor(), ZMQ_POLLIN, 0}};
}

}  // namespace mpiacq::agents
