// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "proc/local_host.hpp"

#include <array>
#include <memory>
#include <utility>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <unistd.h>

#include "mpiacq/base/host_names.hpp"

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
    // All of 127.0.0.0/8 is this host, whichever address of it the interface has.
    return addresses_.count(address) != 0 || address == "::1" || address.rfind("127.", 0) == 0;
  }
  constexpr std::string_view localhost = "localhost";
  return is_same_host(host, name_) || (host.size() == localhost.size() && is_same_host(host, localhost));
}

}  // namespace mpiacq
