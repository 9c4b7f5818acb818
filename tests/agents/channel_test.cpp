// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Which peers a front end accepts, and which it refuses. A real munged makes the credentials.
#include "channel.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "descriptors/unique_fd.hpp"
#include "private_munge.hpp"
#include "run_command.hpp"
#include "secrets.hpp"
#include "trust/munge.hpp"

using namespace mpiacq;
using namespace mpiacq::agents;
using mpiacq::test::secrets;

namespace {

std::string text_of(const trust& who) {
  return who.proof().substr(0, who.proof().find(':'));
}

/// Connects a peer whose first message is not its greeting.
void send_first(test::channel& both, const message& what) {
  both.connect();
  const auto up = both.next_below();
  REQUIRE(up.has_value());
  REQUIRE(std::holds_alternative<link_up>(*up));
  REQUIRE(both.lower->send(what));
}

}  // namespace

TEST_CASE("channel: a peer with the run's secret is accepted and answered") {
  secrets both_know;
  CHECK(text_of(both_know.front) == "file");
  test::channel both{both_know.front, both_know.agent};
  both.connect_and_greet();
  const auto come = both.next_above();
  REQUIRE(come.has_value());
  CHECK(come->is_new);
  CHECK(std::get<hello>(come->what).names.host == "n1");
  REQUIRE(both.upper->send(come->from, ask{7, 100, ask_hold{}}) == sending::done);
  const auto asked = both.next_below();
  REQUIRE(asked.has_value());
  CHECK(std::get<ask>(std::get<message>(*asked)).number == 7);
  REQUIRE(both.lower->send(heartbeat{1, 2}));
  CHECK(std::get<heartbeat>(both.next_above()->what).all == 2);
  CHECK(both.upper->dropped().unproven == 0);
  CHECK(both.upper->send("nobody", goodbye{}) == sending::gone);
}

TEST_CASE("channel: both ends notice the end of a connection") {
  secrets both_know;
  test::channel both{both_know.front, both_know.agent};
  both.connect_and_greet();
  const auto come = both.next_above();
  REQUIRE(come.has_value());
  both.lower.reset();
  // libzmq does not report it: sending fails some time later.
  CHECK(test::comes_true([&] { return both.upper->send(come->from, heartbeat{}) == sending::gone; }));
  both.connect_and_greet();
  REQUIRE(both.next_above().has_value());
  both.upper.reset(listener::open(both_know.front, {true}).value().release());
  const auto down = both.next_below();
  REQUIRE(down.has_value());
  CHECK(std::holds_alternative<link_down>(*down));
}

TEST_CASE("channel: a peer with another run's key is refused and learns that") {
  secrets ours, others;
  test::channel both{ours.front, others.agent};
  both.connect();
  const auto refused = both.next_below();
  REQUIRE(refused.has_value());
  REQUIRE(std::holds_alternative<link_refused>(*refused));
  CHECK_THAT(std::get<link_refused>(*refused).why.message, ContainsSubstring("another run's"));
  CHECK(both.upper->dropped().keys == 1);
  CHECK_THAT(both.upper->last_refusal(),
             ContainsSubstring("a key that is not this run's") && ContainsSubstring("127.0.0.1"));
}

TEST_CASE("channel: an agent sends nothing to a front end with the wrong key") {
  secrets both_know;
  test::channel both{both_know.front, both_know.agent};
  both.connect(make_keys()->open);
  const auto refused = both.next_below();
  REQUIRE(refused.has_value());
  CHECK_FALSE(std::holds_alternative<link_up>(*refused));
  CHECK(both.arrived.empty());
}

TEST_CASE("channel: while the front end is busy, a peer can connect at once and is handled later") {
  secrets both_know;
  test::channel both{both_know.front, both_know.agent};
  both.connect();
  // The upper end handles nothing meanwhile.
  const bool is_up = test::comes_true([&] {
    auto happened = both.lower->next();
    return happened && std::holds_alternative<link_up>(*happened);
  });
  REQUIRE(is_up);
  REQUIRE(both.lower->send(hello{}));
  CHECK(both.next_above()->is_new);
}

TEST_CASE("channel: a peer without encryption is refused and counted") {
  secrets both_know;
  test::channel both{both_know.front, both_know.agent};
  auto plain = zmq_socket::make(both.context, ZMQ_DEALER).value();
  REQUIRE(zmq_connect(plain.get(), both.upper->address().endpoints.at(0).c_str()) == 0);
  REQUIRE(send_part(plain, std::span<const std::byte>(encode(hello{})), false) == 0);
  CHECK(both.until_dropped(&dropped_counts::noise));
  CHECK(both.arrived.empty());
  CHECK_THAT(both.upper->last_refusal(), ContainsSubstring("does not speak the agents' protocol"));
}

TEST_CASE("channel: a greeting of another version is dropped, and the reason names the version") {
  secrets both_know;
  test::channel both{both_know.front, both_know.agent};
  const auto keys = both_know.agent.connection_keys().value();
  auto old = zmq_socket::make(both.context, ZMQ_DEALER).value();
  REQUIRE((old.set(ZMQ_CURVE_SERVERKEY, both.upper->address().key) && old.set(ZMQ_CURVE_PUBLICKEY, keys.open) &&
           old.set(ZMQ_CURVE_SECRETKEY, keys.secret)));
  REQUIRE(zmq_connect(old.get(), both.upper->address().endpoints.at(0).c_str()) == 0);
  auto bytes = encode(hello{});
  *(std::find(bytes.begin(), bytes.end(), std::byte{'/'}) + 1) = std::byte{'0'};
  REQUIRE(send_part(old, std::span<const std::byte>(bytes), false) == 0);
  CHECK(both.until_dropped(&dropped_counts::unproven));
  CHECK_THAT(both.upper->last_refusal(), ContainsSubstring("mpiacq.agent/0") && ContainsSubstring("one version"));
}

TEST_CASE("channel: a peer that speaks another protocol is counted and disturbs no other peer") {
  secrets both_know;
  test::channel both{both_know.front, both_know.agent};
  const std::string& endpoint = both.upper->address().endpoints.at(0);
  const int port = std::stoi(endpoint.substr(endpoint.rfind(':') + 1));
  const base::unique_fd raw{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(static_cast<std::uint16_t>(port));
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::connect(raw.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0);
  const std::string garbage = GENERATE(std::string(1000, '\xff'), "GET / HTTP/1.1\r\n" + std::string(983, 'x') + "\n");
  REQUIRE(::send(raw.get(), garbage.data(), garbage.size(), MSG_NOSIGNAL) == 1000);
  // libzmq does not report bytes that are not even a ZMTP greeting.
  if (garbage[0] != 'G') CHECK(both.until_dropped(&dropped_counts::noise));
  both.connect_and_greet();
  CHECK(both.next_above()->is_new);
}

TEST_CASE("channel: unreadable messages of a proven peer are counted, and the peer stays connected") {
  secrets both_know;
  test::channel both{both_know.front, both_know.agent};
  both.connect_and_greet();
  REQUIRE(both.next_above().has_value());
  // The unreadable messages need a connection that accepts raw bytes.
  const auto keys = both_know.agent.connection_keys().value();
  auto raw = zmq_socket::make(both.context, ZMQ_DEALER).value();
  REQUIRE((raw.set(ZMQ_CURVE_SERVERKEY, both.upper->address().key) && raw.set(ZMQ_CURVE_PUBLICKEY, keys.open) &&
           raw.set(ZMQ_CURVE_SECRETKEY, keys.secret)));
  REQUIRE(zmq_connect(raw.get(), both.upper->address().endpoints.at(0).c_str()) == 0);
  REQUIRE(send_part(raw, std::span<const std::byte>(encode(hello{})), false) == 0);
  REQUIRE(both.next_above()->is_new);
  REQUIRE(send_part(raw, "nonsense", false) == 0);
  REQUIRE(both.until_dropped(&dropped_counts::unreadable));
  REQUIRE(send_part(raw, "one part", true) == 0);
  REQUIRE(send_part(raw, "and another", false) == 0);
  REQUIRE(both.until_dropped(&dropped_counts::unproven));
  REQUIRE(send_part(raw, std::span<const std::byte>(encode(heartbeat{3, 4})), false) == 0);
  CHECK(std::get<heartbeat>(both.next_above()->what).done == 3);
}

TEST_CASE("channel: a MUNGE credential proves who owns a key") {
  const test::private_munge munge;
  if (!munge.why_not().empty()) MPIACQ_SKIP(munge.why_not());
  trust front = trust::for_front_end(munge.socket(), "/nowhere").value();
  CHECK(front.proof() == "munge:" + munge.socket());
  trust agent = trust::for_agent(front.proof()).value();
  test::channel both{front, agent};
  both.connect_and_greet();
  const auto come = both.next_above();
  REQUIRE(come.has_value());
  CHECK(come->is_new);
}

TEST_CASE("channel: a credential that is forged, stolen, of another run or used before is no proof") {
  const test::private_munge munge;
  if (!munge.why_not().empty()) MPIACQ_SKIP(munge.why_not());
  trust front = trust::for_front_end(munge.socket(), "/nowhere").value();
  test::channel both{front, front};
  const curve_key server = both.upper->address().key;
  const curve_key other = make_keys()->open;
  const auto greet_with = [&](const std::string& credential) {
    hello greeting;
    greeting.credential = credential;
    send_first(both, greeting);
    CHECK(both.until_dropped(&dropped_counts::credentials));
    CHECK(both.arrived.empty());
    return both.upper->last_refusal();
  };
  SECTION("forged") {
    CHECK_THAT(greet_with("MUNGE:AwQFAAA="), ContainsSubstring("MUNGE refuses a credential"));
  }
  SECTION("none") {
    CHECK_THAT(greet_with(""), ContainsSubstring("MUNGE refuses a credential"));
  }
  SECTION("stolen from another connection") {
    CHECK_THAT(greet_with(front.credential(other, server).value()), ContainsSubstring("for another key"));
  }
  SECTION("given to another front end") {
    CHECK_THAT(greet_with(front.credential(other, other).value()), ContainsSubstring("or another run"));
  }
  SECTION("used before") {
    const std::string used = front.credential(other, server).value();
    REQUIRE(munge_decode(munge.socket(), used).has_value());
    CHECK_THAT(greet_with(used), ContainsSubstring("replayed") || ContainsSubstring("Replayed"));
  }
}

TEST_CASE("channel: a credential of another user is no proof") {
  if (::geteuid() != 0) MPIACQ_SKIP("only root can run a program as another user");
  const test::private_munge munge;
  if (!munge.why_not().empty()) MPIACQ_SKIP(munge.why_not());
  const curve_key client = make_keys()->open, server = make_keys()->open;
  test::command_options nobody;
  nobody.as_nobody = true;
  const std::string payload = "mpiacq.agent/6\n" + hex(client) + "\n" + hex(server) + "\n";
  const auto made = test::run_command({"munge", "--socket=" + munge.socket(), "--string=" + payload}, nobody);
  if (made.exit_code != 0) MPIACQ_SKIP("munge does not run: " + made.err);
  const trust front = trust::for_front_end(munge.socket(), "/nowhere").value();
  const auto checked = front.check(made.out.substr(0, made.out.find('\n')), client, server);
  REQUIRE_FALSE(checked.has_value());
  CHECK_THAT(checked.error().message, ContainsSubstring("a credential of user 65534, and this is user 0"));
}

TEST_CASE("channel: messages before the greeting are dropped and not answered") {
  const test::private_munge munge;
  if (!munge.why_not().empty()) MPIACQ_SKIP(munge.why_not());
  trust front = trust::for_front_end(munge.socket(), "/nowhere").value();
  test::channel both{front, front};
  send_first(both, heartbeat{1, 1});
  CHECK(both.until_dropped(&dropped_counts::unproven));
  CHECK(both.arrived.empty());
  CHECK_THAT(both.upper->last_refusal(), ContainsSubstring("has not proven its identity"));
}

TEST_CASE("secret: a file that other users can read or have created is refused") {
  const test::scratch_folder folder;
  const auto file = secret_file::create(folder.path("."));
  REQUIRE(file.has_value());
  const std::string& path = file->path_for_agents();
  CHECK(read_secret(path)->open == file->keys().open);
  const auto refused = [](const std::string& where) { return read_secret(where).error().code; };
  struct stat facts {};
  REQUIRE(::stat(path.c_str(), &facts) == 0);
  CHECK((facts.st_mode & 0777U) == 0600U);
  REQUIRE(::symlink(path.c_str(), (folder.path(".") + "/link").c_str()) == 0);
  CHECK(refused(folder.path(".") + "/link") == error_code::permission);
  CHECK(refused(folder.path(".")) == error_code::permission);
  CHECK(refused(folder.path(".") + "/none") == error_code::not_found);
  REQUIRE(::chmod(path.c_str(), 0640) == 0);
  CHECK(refused(path) == error_code::permission);
  REQUIRE(::chmod(path.c_str(), 0600) == 0);
  if (::geteuid() == 0) {
    REQUIRE(::chown(path.c_str(), 65534, 65534) == 0);
    CHECK(refused(path) == error_code::permission);
    REQUIRE(::chown(path.c_str(), 0, 0) == 0);
  }
  REQUIRE(::truncate(path.c_str(), 64) == 0);
  CHECK(refused(path) == error_code::bad_format);
}

TEST_CASE("secret: the file is removed at the end of its run, and not created where other users can write") {
  const test::scratch_folder folder;
  std::string path;
  {
    const auto file = secret_file::create(folder.path("."));
    REQUIRE(file.has_value());
    path = file->path_for_agents();
    CHECK(::access(path.c_str(), F_OK) == 0);
  }
  CHECK(::access(path.c_str(), F_OK) != 0);
  REQUIRE(::chmod(folder.path(".").c_str(), 0777) == 0);
  CHECK(secret_file::create(folder.path(".")).error().code == error_code::permission);
  REQUIRE(::chmod(folder.path(".").c_str(), 0700) == 0);
}

TEST_CASE("secret: a run removes the file of a killed run, and no other file") {
  const test::scratch_folder folder;
  const auto in_folder = [&](const std::string& name) { return folder.path(".") + "/" + name; };
  const auto is_there = [](const std::string& path) { return ::access(path.c_str(), F_OK) == 0; };
  const auto ours = secret_file::create(folder.path("."));
  REQUIRE(ours.has_value());
  const pid_t killed = ::fork();
  if (killed == 0) {
    auto file = secret_file::create(folder.path("."));
    if (file) ::link(file->path_for_agents().c_str(), in_folder("left").c_str());
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  REQUIRE(::waitpid(killed, &status, 0) == killed);
  // The second name of the file stays and shows that the file was there.
  REQUIRE(is_there(in_folder("left")));
  struct stat facts {};
  REQUIRE(::stat(in_folder("left").c_str(), &facts) == 0);
  CHECK(facts.st_nlink == 2);
  // Whether runs of other hosts still run is unknown here: the age of their files decides.
  const std::string young = in_folder(".mpiacq-agents-elsewhere-1-2-3-a"), old = in_folder(".mpiacq-agents-x-1-2-3-b");
  for (const std::string& path : {young, old}) std::ofstream(path) << "x";
  const timespec long_ago[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
  REQUIRE(::utimensat(AT_FDCWD, old.c_str(), long_ago, 0) == 0);
  const auto next = secret_file::create(folder.path("."));
  REQUIRE(next.has_value());
  REQUIRE(::stat(in_folder("left").c_str(), &facts) == 0);
  CHECK(facts.st_nlink == 1);
  CHECK(is_there(ours->path_for_agents()));
  CHECK(is_there(young));
  CHECK_FALSE(is_there(old));
}

TEST_CASE("keys: their text form has only digits and letters") {
  const auto keys = make_keys();
  REQUIRE(keys.has_value());
  CHECK(hex(keys->open).size() == 64);
  CHECK(from_hex(hex(keys->open)) == keys->open);
  CHECK(open_half(keys->secret).value() == keys->open);
  CHECK_FALSE(from_hex(std::string(63, '0')).has_value());
  CHECK_FALSE(from_hex(std::string(64, 'G')).has_value());
}
