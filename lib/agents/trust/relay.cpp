// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "trust/relay.hpp"

#include <algorithm>
#include <cerrno>

#include <sys/socket.h>

namespace mpiacq::agents {

namespace {

/// Bounds the reads of one direction in one turn.
constexpr int most_reads = 8;

bool is_temporary(int why) {
  return why == EAGAIN || why == EWOULDBLOCK || why == EINTR;
}

}  // namespace

bool relay::has_spoken() const {
  std::byte first{};
  const ssize_t got = ::recv(outer_.get(), &first, 1, MSG_PEEK | MSG_DONTWAIT);
  return got >= 0 || !is_temporary(errno);
}

void relay::write(int to, flow& what, std::span<const std::byte> bytes) {
  while (!bytes.empty() && !what.is_refused) {
    const ssize_t sent = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && is_temporary(errno)) break;
    if (sent < 0) {
      what.is_refused = true;
    } else {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
  }
  if (what.is_refused) bytes = {};
  // An idle connection keeps no memory.
  what.held = std::vector<std::byte>(bytes.begin(), bytes.end());
}

/// True if more could be read: other connections get their turn first.
bool relay::pump(int from, int to, flow& what, std::span<std::byte> scratch, std::size_t* left, std::size_t& passed) {
  if (!what.held.empty()) write(to, what, std::vector<std::byte>(std::move(what.held)));
  for (int reads = 0; reads < most_reads; ++reads) {
    if (!what.held.empty() || what.has_ended) return false;
    const std::size_t room = left == nullptr ? scratch.size() : std::min(scratch.size(), *left);
    if (room == 0) return false;
    const ssize_t got = ::recv(from, scratch.data(), room, MSG_DONTWAIT);
    if (got < 0 && is_temporary(errno)) return false;
    if (got <= 0) {
      what.has_ended = true;
      return false;
    }
    const auto count = static_cast<std::size_t>(got);
    if (left != nullptr) *left -= count;
    passed += count;
    write(to, what, scratch.first(count));
  }
  return true;
}

relay::state relay::pass(std::span<std::byte> scratch, std::size_t& passed) {
  std::size_t sent_out = 0;
  const bool more_in = pump(outer_.get(), inner_.get(), inwards_, scratch, is_proven_ ? nullptr : &left_, passed);
  const bool more_out = pump(inner_.get(), outer_.get(), outwards_, scratch, nullptr, sent_out);
  const auto is_over = [](const flow& one) { return one.has_ended && one.held.empty(); };
  if (is_over(inwards_) || is_over(outwards_) || outwards_.is_refused) return state::ended;
  return more_in || more_out ? state::busy : state::idle;
}

}  // namespace mpiacq::agents
