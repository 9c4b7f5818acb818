// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "framing/stream.hpp"

#include <array>
#include <cerrno>
#include <thread>
#include <vector>

#include <sys/socket.h>

#include "catch.hpp"
#include "descriptors/unique_fd.hpp"

using namespace mpiacq;

namespace {

struct socket_ends {
  socket_ends() {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    ours = base::unique_fd{ends[0]};
    theirs = base::unique_fd{ends[1]};
  }
  base::unique_fd ours;
  base::unique_fd theirs;
};

std::vector<std::byte> pattern(std::size_t length) {
  std::vector<std::byte> bytes(length);
  for (std::size_t i = 0; i < length; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  return bytes;
}

}  // namespace

TEST_CASE("bytes that do not fit into the socket at once arrive whole and in order") {
  socket_ends ends;
  const auto bytes = pattern(3'000'000);
  bool sent = false;
  std::thread sender([&] { sent = base::send_all(ends.ours.get(), bytes); });
  std::vector<std::byte> received(bytes.size());
  const bool came = base::receive_all(ends.theirs.get(), received);
  sender.join();
  CHECK(sent);
  REQUIRE(came);
  CHECK((received == bytes));
}

TEST_CASE("a stream that ends too early gives no bytes") {
  socket_ends ends;
  REQUIRE(base::send_all(ends.ours.get(), pattern(5)));
  ends.ours.reset();
  std::vector<std::byte> more(6);
  CHECK_FALSE(base::receive_all(ends.theirs.get(), more));
}

TEST_CASE("sending to a socket whose other side is closed fails and raises no signal") {
  socket_ends ends;
  ends.theirs.reset();
  CHECK_FALSE(base::send_all(ends.ours.get(), pattern(5)));
  CHECK(errno == EPIPE);
}
