// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "watch/listed_hosts.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mpiacq/base/host_names.hpp"

namespace mpiacq::check {

namespace {

using how = host_seen::how;

bool is_address(const std::string& host) {
  const std::string without_zone = host.substr(0, host.find('%'));
  std::array<std::byte, sizeof(in6_addr)> bytes{};
  return ::inet_pton(AF_INET, without_zone.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, without_zone.c_str(), bytes.data()) == 1;
}

bool is_own_name(const std::string& host) {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 && host == name.data();
}

/// BProc's node numbers (9.2).
bool is_number(const std::string& host) {
  return !host.empty() && std::all_of(host.begin(), host.end(), [](char c) { return c >= '0' && c <= '9'; });
}

how look_up(const std::string& host) {
  addrinfo* found = nullptr;
  const int problem = ::getaddrinfo(host.c_str(), nullptr, nullptr, &found);
  if (problem == 0) ::freeaddrinfo(found);
  if (problem == 0) return how::resolved;
  return problem == EAI_AGAIN || problem == EAI_MEMORY || problem == EAI_SYSTEM ? how::no_answer : how::unknown;
}

/// The state that the look-up thread and its caller share. The last of the two frees it.
struct questions {
  std::mutex lock;
  std::condition_variable changed;
  std::vector<std::string> names;
  std::vector<how> answers;
  std::size_t answered = 0;
};

void ask(const std::shared_ptr<questions>& shared) {
  for (std::size_t i = 0; i < shared->names.size(); ++i) {
    const how answer = look_up(shared->names[i]);
    const std::lock_guard guard(shared->lock);
    shared->answers[i] = answer;
    shared->answered = i + 1;
    shared->changed.notify_one();
  }
}

}  // namespace

std::vector<host_seen> translate(const std::vector<std::string>& names, std::chrono::milliseconds limit) {
  std::vector<host_seen> hosts;
  auto shared = std::make_shared<questions>();
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < names.size(); ++i) {
    host_seen host{names[i], how::no_answer};
    if (is_address(names[i])) {
      host.found = how::address;
    } else if (is_number(names[i])) {
      host.found = how::node_number;
    } else if (!is_host_name(names[i])) {
      host.found = how::unknown;
    } else {
      asked.push_back(i);
      shared->names.push_back(names[i]);
    }
    hosts.push_back(std::move(host));
  }
  if (asked.empty()) return hosts;

  shared->answers.resize(shared->names.size(), how::no_answer);
  try {
    std::thread(ask, shared).detach();  // it cannot be called off; it ends when the last look-up does
  } catch (const std::system_error&) {
    return hosts;
  }
  std::unique_lock guard(shared->lock);
  (void)shared->changed.wait_for(guard, limit, [&] { return shared->answered == shared->names.size(); });
  for (std::size_t i = 0; i < asked.size(); ++i) {
    host_seen& host = hosts[asked[i]];
    host.found = shared->answers[i];
    // The node's own name need not be in any directory on a machine that stands alone.
    if (host.found != how::resolved && is_own_name(host.name)) host.found = how::this_host;
  }
  return hosts;
}

}  // namespace mpiacq::check
