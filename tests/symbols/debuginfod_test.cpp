// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Debug files from a debuginfod server: the real one on this machine, and faulty servers.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sanitizers.hpp"
#ifdef MPIACQ_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif

#include "catch.hpp"
#include "description.hpp"
#include "live_process.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "run_command.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

const std::string id_of_fixture = "abcdef0123456789abcdef0123456789abcdef01";  // of split_by_id
const std::string debug_file_of_fixture = "debug/.build-id/ab/cdef0123456789abcdef0123456789abcdef01.debug";

class environment_variable {
 public:
  environment_variable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  ~environment_variable() { ::unsetenv(name_); }
  environment_variable(const environment_variable&) = delete;
  environment_variable& operator=(const environment_variable&) = delete;

 private:
  const char* name_;
};

/// The environment of a separate client: the user's cache is neither read nor changed.
struct client_environment {
  explicit client_environment(const std::string& url) : servers("DEBUGINFOD_URLS", url) {}
  own_folder folder;
  environment_variable servers;
  environment_variable cache{"DEBUGINFOD_CACHE_PATH", folder / "cache"};
  environment_variable timeout{"DEBUGINFOD_TIMEOUT", "2"};
  environment_variable no_proxy{"no_proxy", "127.0.0.1"};
};

bool client_is_installed() {
  return ::dlopen("libdebuginfod.so.1", RTLD_NOW) != nullptr;
}
constexpr const char* no_client = "libdebuginfod is not installed";

class local_socket {
 public:
  local_socket() : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  explicit local_socket(int descriptor) : descriptor_(descriptor) {}
  ~local_socket() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  local_socket(const local_socket&) = delete;
  local_socket& operator=(const local_socket&) = delete;
  [[nodiscard]] int descriptor() const { return descriptor_; }

  /// Binds a free port of the loopback interface.
  [[nodiscard]] int take_port() const {
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    if (::bind(descriptor_, reinterpret_cast<sockaddr*>(&address), size) != 0) return 0;
    if (::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
    return ntohs(address.sin_port);
  }
  static sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }

 private:
  int descriptor_;
};

std::string url_of(int port) {
  return "http://127.0.0.1:" + std::to_string(port);
}

/// The first line of a server's answer; empty if there is no server.
std::string status_of(int port, const std::string& path) {
  const local_socket to_server;
  const sockaddr_in address = local_socket::loopback(port);
  if (::connect(to_server.descriptor(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {};
  const std::string request = "GET " + path + " HTTP/1.0\r\n\r\n";
  if (::send(to_server.descriptor(), request.data(), request.size(), MSG_NOSIGNAL) < 0) return {};
  std::string line;
  for (char c = 0; ::recv(to_server.descriptor(), &c, 1, 0) == 1 && c != '\r';) line += c;
  return line;
}

/// Debian's debuginfod over a folder, ready when it has this build id.
class debuginfod_server {
 public:
  debuginfod_server(const std::string& folder, const std::string& build_id) {
    const environment_variable home{"HOME", scratch_ / ""};
    port_ = local_socket{}.take_port();
    // Its scanner stops after the first pass (-t 0), and its database is in memory. `exec` makes it our child.
    process_ = std::make_unique<live_process>(
        std::vector<std::string>{"sh", "-c", "exec debuginfod -F -t 0 -g 0 -d :memory: -p \"$1\" \"$2\" >\"$3\" 2>&1",
                                 "sh", std::to_string(port_), folder, scratch_ / "log"});
    is_ready_ = comes_true(
        [&] { return status_of(port_, "/buildid/" + build_id + "/debuginfo").find(" 200 ") != std::string::npos; });
  }
  [[nodiscard]] bool is_ready() const { return is_ready_; }
  [[nodiscard]] std::string url() const { return url_of(port_); }
  [[nodiscard]] std::string log() const { return file_contents(scratch_ / "log"); }

 private:
  own_folder scratch_;
  int port_ = 0;
  std::unique_ptr<live_process> process_;
  bool is_ready_ = false;
};

/// A server that answers every request with the same bytes or, without bytes, accepts it and stays silent. An `endless`
/// server repeats the last of these bytes until the client disconnects.
class odd_server {
 public:
  explicit odd_server(std::string answer, bool endless = false) : answer_(std::move(answer)), endless_(endless) {
    port_ = socket_.take_port();
    (void)::listen(socket_.descriptor(), 8);
    thread_ = std::thread([this] { serve(); });
  }
  ~odd_server() {
    ends_ = true;
    (void)::shutdown(socket_.descriptor(), SHUT_RDWR);
    thread_.join();
  }
  odd_server(const odd_server&) = delete;
  odd_server& operator=(const odd_server&) = delete;
  [[nodiscard]] std::string url() const { return url_of(port_); }
  [[nodiscard]] int asked() const { return asked_; }
  [[nodiscard]] long sent() const { return sent_; }  ///< bytes of an endless answer

 private:
  void serve() {
    std::vector<std::unique_ptr<local_socket>> kept;  // a closed connection would count as an answer
    while (!ends_) {
      const int client = ::accept(socket_.descriptor(), nullptr, nullptr);
      if (client < 0) continue;
      kept.push_back(std::make_unique<local_socket>(client));
      ++asked_;
      if (answer_.empty()) continue;
      std::string request;
      for (char c = 0; request.find("\r\n\r\n") == std::string::npos && ::recv(client, &c, 1, 0) == 1;) request += c;
      (void)::send(client, answer_.data(), answer_.size(), MSG_NOSIGNAL);
      const std::string more(1U << 16U, answer_.back());
      for (ssize_t sent = 0; endless_ && sent >= 0 && !ends_;) {
        sent = ::send(client, more.data(), more.size(), MSG_NOSIGNAL);
        if (sent > 0) sent_ += sent;
      }
      (void)::shutdown(client, SHUT_WR);
    }
  }

  std::string answer_;
  bool endless_;
  std::atomic<long> sent_ = 0;
  local_socket socket_;
  int port_ = 0;
  std::atomic<bool> ends_ = false;
  std::atomic<int> asked_ = 0;
  std::thread thread_;
};

std::string ok_with(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

struct answer {
  bool has_symbol = false;
  std::string problems;
  std::vector<error> errors;
  std::chrono::steady_clock::duration took{};
};

/// Looks up a symbol that only the debug file has.
answer ask_for_symbol(const client_environment& client) {
  std::filesystem::copy_file(fixture("split_by_id"), client.folder / "split_by_id",
                             std::filesystem::copy_options::skip_existing);
  auto symbols = file_symbols::open(client.folder / "split_by_id", {{}, true});
  REQUIRE(symbols.has_value());
  const auto before = std::chrono::steady_clock::now();
  const auto found = (*symbols)->find_symbol("MPIR_proctable");
  answer a;
  a.took = std::chrono::steady_clock::now() - before;
  REQUIRE(found.has_value());
  a.has_symbol = found->has_value();
  a.errors.assign((*symbols)->problems().begin(), (*symbols)->problems().end());
  for (const error& e : a.errors) a.problems += e.message + "\n";
  return a;
}

}  // namespace

TEST_CASE("debuginfod: the server's file has symbols and types, and the server is asked only on request") {
  if (!client_is_installed()) MPIACQ_SKIP(no_client);
  if (!is_installed("debuginfod")) MPIACQ_SKIP("debuginfod is not installed");
  own_folder served;
  std::filesystem::copy_file(fixture(debug_file_of_fixture), served / "any-name.debug");
  const debuginfod_server server{served / "", id_of_fixture};
  INFO(server.log());
  REQUIRE(server.is_ready());
  const client_environment client{server.url()};

  std::filesystem::copy_file(fixture("split_by_id"), client.folder / "split_by_id");
  auto without = file_symbols::open(client.folder / "split_by_id", {{}, false});
  REQUIRE(without.has_value());
  CHECK_FALSE((*without)->find_symbol("MPIR_proctable").value().has_value());
  CHECK_FALSE(std::filesystem::exists(client.folder / "cache"));

  live_process process{{client.folder / "split_by_id"}};
  const description told{process.lines_until_ready()};
  live_memory memory{process.pid()};
  auto with = process_symbols::open(process.pid(), memory, {{}, true});
  REQUIRE(with.has_value());
  check_symbols(**with, told.symbols);
  check_symbols(**with, told.local_symbols);
  const auto layout = layout_of_table(**with);
  REQUIRE(layout.has_value());
  check_layout(*layout, told.layout);
  CHECK(layout->source == layout_source::debuginfod);
  CHECK_THAT(layout->debug_file, ContainsSubstring(client.folder / "cache"));
  CHECK((*with)->problems().empty());
}

TEST_CASE("debuginfod: the shared file of dwz comes from the server, too") {
#ifdef MPIACQ_HAVE_DWZ_FIXTURE
  if (!client_is_installed()) MPIACQ_SKIP(no_client);
  if (!is_installed("debuginfod")) MPIACQ_SKIP("debuginfod is not installed");
  const auto notes = run_command({"readelf", "-n", fixture("dwz_common.debug")}).out;
  const auto at = notes.find("Build ID: ");
  REQUIRE(at != std::string::npos);
  const std::string id = notes.substr(at + 10, notes.find('\n', at) - at - 10);
  own_folder served;
  std::filesystem::copy_file(fixture("dwz_common.debug"), served / "common.debug");
  const debuginfod_server server{served / "", id};
  INFO(server.log());
  REQUIRE(server.is_ready());
  const client_environment client{server.url()};
  std::filesystem::copy_file(fixture("dwz_built"), client.folder / "program");
  auto symbols = file_symbols::open(client.folder / "program", {{}, true});
  REQUIRE(symbols.has_value());
  const auto layout = layout_of_table(**symbols);
  REQUIRE(layout.has_value());
  CHECK(layout->size == 24);
#else
  MPIACQ_SKIP("dwz is not installed");
#endif
}

TEST_CASE("debuginfod: a server without the file causes no problem") {
  if (!client_is_installed()) MPIACQ_SKIP(no_client);
  const odd_server server{"HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"};
  const client_environment client{server.url()};
  const answer a = ask_for_symbol(client);
  CHECK(server.asked() >= 1);
  CHECK_FALSE(a.has_symbol);
  CHECK(a.problems.empty());
}

TEST_CASE("debuginfod: a problem names a server that is down") {
  if (!client_is_installed()) MPIACQ_SKIP(no_client);
  const local_socket bound;  // bound, without a listener
  const int port = bound.take_port();
  const client_environment client{url_of(port)};
  const answer a = ask_for_symbol(client);
  CHECK_FALSE(a.has_symbol);
  CHECK_THAT(a.problems, ContainsSubstring(url_of(port)));
  CHECK_THAT(a.problems, ContainsSubstring(id_of_fixture));
  CHECK_THAT(a.problems, ContainsSubstring("DEBUGINFOD_URLS"));
  CHECK(a.took < std::chrono::seconds(10));
}

TEST_CASE("debuginfod: the wait for a silent server ends after DEBUGINFOD_TIMEOUT") {
  if (!client_is_installed()) MPIACQ_SKIP(no_client);
  const odd_server server{""};
  const client_environment client{server.url()};
  const answer a = ask_for_symbol(client);
  CHECK(server.asked() >= 1);
  CHECK_FALSE(a.has_symbol);
  CHECK_THAT(a.problems, ContainsSubstring("DEBUGINFOD_TIMEOUT"));
  REQUIRE(a.errors.size() == 1);
  CHECK(a.errors[0].code == error_code::timed_out);
  CHECK(a.took >= std::chrono::seconds(1));
  CHECK(a.took < std::chrono::seconds(20));
}

TEST_CASE("debuginfod: the download of an endless file stops at the limit") {
  if (!client_is_installed()) MPIACQ_SKIP(no_client);
  const odd_server server{
      "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n\x7f"
      "ELF",
      true};
  const client_environment client{server.url()};
  const environment_variable size{"DEBUGINFOD_MAXSIZE", "1000000"};
#ifdef MPIACQ_ADDRESS_SANITIZER
  // The client of elfutils 0.188 does not free the buffer of a stream when a download is stopped.
  const __lsan::ScopedDisabler not_ours;
#endif
  const answer a = ask_for_symbol(client);
  CHECK(server.asked() >= 1);
  CHECK_FALSE(a.has_symbol);
  REQUIRE(a.errors.size() == 1);
  CHECK(a.errors[0].code == error_code::limit);
  CHECK_THAT(a.problems, ContainsSubstring("DEBUGINFOD_MAXSIZE"));
  // The limit, plus the contents of sockets and buffers. Nothing of the file stays in the cache.
  constexpr long in_between = 64L << 20;
  CHECK(server.sent() < 1000000 + in_between);
  std::uintmax_t kept = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(client.folder / "cache")) {
    if (file.is_regular_file()) kept += file.file_size();
  }
  CHECK(kept < 1000000);
}

TEST_CASE("debuginfod: a file from a server is checked") {
  if (!client_is_installed()) MPIACQ_SKIP(no_client);
  const bool is_elf = GENERATE(true, false);
  const odd_server server{ok_with(is_elf ? file_contents(fixture("pie")) : "<html>log in first</html>")};
  const client_environment client{server.url()};
  const answer a = ask_for_symbol(client);
  CHECK(server.asked() >= 1);
  CHECK_FALSE(a.has_symbol);
  REQUIRE(a.errors.size() == 1);
  CHECK(a.errors[0].code == error_code::bad_format);
  CHECK_THAT(a.problems, ContainsSubstring(is_elf ? "with another build id" : "is not an ELF file"));
}
