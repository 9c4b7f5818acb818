// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "proc/local_host.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "descriptors/unique_fd.hpp"
#include "helper/all_signals_blocked.hpp"
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

/// A namespace of a process that is not this program's own.
base::unique_fd other_namespace(process_id pid, const char* kind) {
  const std::string theirs = fmt::format("/proc/{}/ns/{}", pid.value(), kind);
  struct stat own {};
  struct stat other {};
  const bool differs = ::stat(theirs.c_str(), &other) == 0 &&
                       ::stat(fmt::format("/proc/self/ns/{}", kind).c_str(), &own) == 0 && own.st_ino != other.st_ino;
  return base::unique_fd{differs ? ::open(theirs.c_str(), O_RDONLY | O_CLOEXEC) : -1};
}

/// Asks in these namespaces, on a thread of its own: a thread that has entered a namespace cannot be trusted to return.
std::optional<local_host> ask_inside(const base::unique_fd& names, const base::unique_fd& network) {
  std::optional<local_host> seen;
  const base::all_signals_blocked blocked;
  std::thread([&] {
    if (names && ::setns(names.get(), CLONE_NEWUTS) != 0) return;
    if (network && ::setns(network.get(), CLONE_NEWNET) != 0) return;
    seen = local_host::of_this_system();
  }).join();
  return seen;
}

/// The first line of /etc/hostname below the root of a process.
std::string name_in_file(process_id pid) {
  constexpr std::size_t longest = 256;
  const base::unique_fd file{
      ::open(fmt::format("/proc/{}/root/etc/hostname", pid.value()).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat about {};
  if (!file || ::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode)) return {};
  const auto text = read_bounded(file, longest).value_or("");
  const std::string name = text.substr(0, text.find('\n'));
  return is_host_name(name) ? name : std::string{};
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

std::optional<local_host> local_host::inside(const process_facts& process) {
  const auto names = other_namespace(process.pid(), "uts");
  const auto network = other_namespace(process.pid(), "net");
  if (!names && !network) return std::nullopt;
  local_host both = of_this_system();
  if (auto inside = ask_inside(names, network)) {
    both.add(std::move(*inside));
  } else if (names) {
    both.other_names_.insert(name_in_file(process.pid()));
  }
  both.other_names_.erase(std::string{});
  return both;
}

void local_host::add(local_host&& other) {
  other_names_.insert(std::move(other.name_));
  addresses_.merge(other.addresses_);
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
  const bool is_other_name = std::any_of(other_names_.begin(), other_names_.end(),
                                         [host](const std::string& name) { return is_same_host(host, name); });
  if (is_other_name) return true;
  constexpr std::string_view localhost = "localhost";
  return is_same_host(host, name_) || (host.size() == localhost.size() && is_same_host(host, localhost));
}

}  // namespace mpiacq
