// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "proc/local_host.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <memory>
#include <optional>
#include <utility>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <unistd.h>

#include "mpiacq/base/host_names.hpp"
#include "mpiacq/job/job.hpp"
#include "mpiacq/process/process_user.hpp"
#include "proc/process_state.hpp"

namespace mpiacq {

namespace {

std::string text_of(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = nullptr;
  if (address->sa_family == AF_INET) {
    bytes = &reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
  } else if (address->sa_family == AF_INET6) {
    bytes = &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  } else {
    return {};
  }
  const char* written = ::inet_ntop(address->sa_family, bytes, text.data(), text.size());
  return written == nullptr ? std::string{} : std::string{written};
}

}  // namespace

local_host local_host::of_this_system() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) name[0] = '\0';
  std::set<std::string> addresses;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) == 0) {
    const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
    for (const ifaddrs* i = list; i != nullptr; i = i->ifa_next) {
      if (i->ifa_addr != nullptr) addresses.insert(text_of(i->ifa_addr));
    }
  }
  return {name.data(), std::move(addresses)};
}

local_host::local_host(std::string_view host_name, std::set<std::string> addresses)
    : name_(host_name.empty() ? "localhost" : host_name), addresses_(std::move(addresses)) {
  addresses_.erase(std::string{});
}

bool local_host::is_called(std::string_view host) const {
  if (host.empty()) return false;
  if (const std::string address = canonical_address(host); !address.empty()) {
    // All of 127.0.0.0/8 is this host, whichever of it the interface carries.
    return addresses_.count(address) != 0 || address == "::1" || address.rfind("127.", 0) == 0;
  }
  constexpr std::string_view localhost = "localhost";
  return is_same_host(host, name_) || (host.size() == localhost.size() && is_same_host(host, localhost));
}

std::vector<bool> local_hosts_of(const process_table& table, const local_host& here) {
  // A few processes of a host are asked, since the first may have ended already.
  constexpr int processes_asked = 4;
  std::vector<int> questions_left(table.string_count(), -1);
  std::vector<bool> local(table.string_count(), false);
  const auto hosts = table.host_numbers();
  const user_id user = table.user().value_or(user_id{::geteuid()});
  for (std::size_t entry = 0; entry < hosts.size(); ++entry) {
    const std::uint32_t host = hosts[entry];
    if (host == process_table::no_string || local[host] || questions_left[host] == 0) continue;
    const std::string_view name = table.string(host);
    if (questions_left[host] < 0) {
      questions_left[host] = processes_asked;
      if (!is_host_name(name)) {
        questions_left[host] = 0;
        continue;
      }
      local[host] = here.is_called(name);
      if (local[host]) continue;
    }
    --questions_left[host];
    // Most processes of a large job are on other nodes, and kill(2) is a tenth of what opening /proc/PID costs.
    if (::kill(static_cast<pid_t>(table.pid(entry).value()), 0) != 0 && errno == ESRCH) continue;
    // Another user's process can say anything.
    if (why_no_rank(table.pid(entry), user)) continue;
    const auto node = environment_of(table.pid(entry), "SLURMD_NODENAME");
    local[host] = node.has_value() && *node == name;
  }
  return local;
}

std::vector<bool> hosts_on_this_node(const process_table& table) {
  return local_hosts_of(table, local_host::of_this_system());
}

}  // namespace mpiacq
