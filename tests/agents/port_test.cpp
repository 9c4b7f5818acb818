// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The cost of peers that have not proven their identity. The kernel's figures are the oracle.
#include <filesystem>
#include <fstream>

#include <fcntl.h>

#include "channel.hpp"
#include "descriptors/unique_fd.hpp"
#include "hostile_peer.hpp"
#include "live_process.hpp"
#include "mpiacq/ranks/rank_group.hpp"
#include "open_descriptors.hpp"
#include "private_munge.hpp"
#include "run_command.hpp"
#include "secrets.hpp"

using namespace mpiacq;
using namespace mpiacq::agents;
using namespace mpiacq::test;

namespace {

/// Sets the soft limit of descriptors for its lifetime.
class descriptor_limit {
 public:
  explicit descriptor_limit(rlim_t most) {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    rlimit now = before_;
    now.rlim_cur = most;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &now) == 0);
  }
  ~descriptor_limit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  descriptor_limit(const descriptor_limit&) = delete;
  descriptor_limit& operator=(const descriptor_limit&) = delete;

 private:
  rlimit before_{};
};

/// A value of /proc/self/status, in bytes.
std::size_t memory(const std::string& which) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::size_t kilobytes = 0;
    if (word == which + ":" && status >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

/// The peak memory of this process since this object was created.
class memory_peak {
 public:
  memory_peak() {
    std::ofstream("/proc/self/clear_refs") << "5";
    before_ = memory("VmRSS");
  }
  [[nodiscard]] std::size_t grown() const { return memory("VmHWM") - before_; }

 private:
  std::size_t before_ = 0;
};

/// Waits until a value no longer changes: two threads of the attacked process still work.
template <class Value>
void settle(Value value) {
  auto last = value();
  // The sanitizer's threads may change a figure forever.
  constexpr int most_looks = 30;
  for (int look = 0; look < most_looks; ++look) {
    ::usleep(300'000);
    if (std::exchange(last, value()) == last) return;
  }
}

constexpr std::size_t many = 3000;

}  // namespace

TEST_CASE("agents' port: 3,000 connections without a handshake leave the descriptors that local ranks need") {
  const bool speak = GENERATE(false, true);
  CAPTURE(speak);
  secrets both_know;
  channel both{both_know.front, both_know.agent};
  live_process rank({"sleep", "1000"});
  const descriptor_limit limit(1024);
  const hostile_peer hostile(both.upper->address().endpoints.at(0), {many, speak ? "\xff" : "", 0});
  REQUIRE(hostile.has_attacked());
  REQUIRE(hostile.connected() == many);
  settle([] { return open_descriptors(); });
  CHECK(open_descriptors() < 512);
  const std::vector<process_id> here{process_id{rank.pid()}};
  auto ranks = rank_group::of_processes(here).value();
  const auto stacks = ranks.stacks();
  CHECK(stacks.taken.text() == "0");
  // Reading the queues of several ranks opens so many files.
  std::vector<base::unique_fd> files;
  for (int i = 0; i < 300; ++i) files.emplace_back(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  CHECK(static_cast<bool>(files.back()));
}

TEST_CASE("agents' port: an agent can connect while 3,000 other connections are silent") {
  secrets both_know;
  channel both{both_know.front, both_know.agent};
  const descriptor_limit limit(1024);
  const hostile_peer hostile(both.upper->address().endpoints.at(0), {many, "", 0});
  REQUIRE(hostile.connected() == many);
  both.connect();
  // The connections before it in the kernel's queue have their turn first.
  hello greeting;
  greeting.names.host = "n1";
  REQUIRE(both.lower->send(greeting));
  CHECK(comes_true([&] {
    auto come = both.upper->receive();
    while (both.lower->next()) continue;
    return come && come->is_new;
  }));
}

TEST_CASE("agents' port: an unproven peer takes little memory, however long its handshake is") {
  secrets both_know;
  channel both{both_know.front, both_know.agent};
  const std::string endpoint = both.upper->address().endpoints.at(0);
  constexpr std::uint64_t claimed = std::uint64_t{60} << 20U;
  const memory_peak peak;
  const hostile_peer hostile(endpoint, {12, handshake_of(claimed), std::size_t{40} << 20U});
  REQUIRE(hostile.has_attacked());
  settle([] { return memory("VmRSS"); });
  // The peers send 480 MB. The listener keeps 32 MB of them together; the sanitizer keeps some of what is freed.
  CHECK(peak.grown() < (std::size_t{64} << 20U));
  both.connect_and_greet();
  CHECK(both.next_above()->is_new);
}

// The hostile part of the next test, which runs as a separate process.
TEST_CASE("a hostile peer sends 400 MB in messages", "[.hostile]") {
  const char* endpoint = ::getenv("HOSTILE_ENDPOINT");
  const auto key = from_hex(::getenv("HOSTILE_KEY") == nullptr ? "" : ::getenv("HOSTILE_KEY"));
  REQUIRE((endpoint != nullptr && key));
  const auto context = zmq_context::make().value();
  const auto keys = make_keys().value();
  auto socket = zmq_socket::make(context, ZMQ_DEALER).value();
  REQUIRE((socket.set(ZMQ_CURVE_SERVERKEY, *key) && socket.set(ZMQ_CURVE_PUBLICKEY, keys.open) &&
           socket.set(ZMQ_CURVE_SECRETKEY, keys.secret) && socket.set(ZMQ_SNDHWM, 4)));
  REQUIRE(zmq_connect(socket.get(), endpoint) == 0);
  const std::string part(std::size_t{1} << 20U, 'x');
  REQUIRE(socket.set(ZMQ_SNDTIMEO, 3000));
  std::size_t sent = 0;
  while (sent < 400 && zmq_send(socket.get(), part.data(), part.size(), 0) >= 0) ++sent;
}

TEST_CASE(
    "agents' port: a peer with a valid key but without proof takes little memory while its messages are not read") {
  const private_munge munge;
  if (!munge.why_not().empty()) MPIACQ_SKIP(munge.why_not());
  trust front = trust::for_front_end(munge.socket(), "/nowhere").value();
  trust agent = trust::for_agent(front.proof()).value();
  channel both{front, agent};
  command_options how;
  how.environment = {{"HOSTILE_ENDPOINT", both.upper->address().endpoints.at(0)},
                     {"HOSTILE_KEY", hex(both.upper->address().key)}};
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const memory_peak peak;
  // The peer ends when it has sent 400 MB, or when it can send no more.
  static_cast<void>(run_command({self, "a hostile peer sends 400 MB in messages"}, how));
  CHECK(peak.grown() < (std::size_t{64} << 20U));
  both.connect_and_greet();
  CHECK(both.next_above()->is_new);
}
