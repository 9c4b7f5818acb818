// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "trust/port_guard.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include "errors/try.hpp"
#include "helper/all_signals_blocked.hpp"
#include "trust/guarded_sockets.hpp"

namespace mpiacq::agents {

namespace {

/// A peer that has sent nothing for this time loses its place first: a peer of this protocol sends at once.
constexpr std::chrono::milliseconds silent_until{200};
/// An unproven peer can lose its place this long after it connected: a handshake takes milliseconds.
constexpr std::chrono::seconds unproven_until{5};
/// An address with no more connections than this loses only silent ones.
constexpr std::size_t fair_share = 8;
constexpr std::chrono::milliseconds until_next_accept{100};
/// The memory that a connection takes in libzmq, beside its bytes.
constexpr std::size_t bytes_of_connection = 4096;
/// Time for the last bytes that libzmq sends.
constexpr std::chrono::milliseconds last_bytes{300};

constexpr std::uint64_t listening_mark = 0, wake_mark = 1;

std::size_t descriptor_limit() {
  rlimit now{};
  return ::getrlimit(RLIMIT_NOFILE, &now) == 0 ? static_cast<std::size_t>(now.rlim_cur) : 1024;
}

/// The bound for unproven peers. A connection needs three descriptors, so that they use less than half of all.
std::size_t most_unproven() {
  return std::clamp<std::size_t>(descriptor_limit() / 8, 8, 1024);
}

/// The rest of this process needs a quarter of the descriptors, 256 at most.
bool is_short_of_descriptors(int any) {
  const base::unique_fd lowest{::fcntl(any, F_DUPFD_CLOEXEC, 0)};
  const std::size_t limit = descriptor_limit();
  return !lowest || static_cast<std::size_t>(lowest.get()) + std::min<std::size_t>(limit / 4, 256) >= limit;
}

}  // namespace

result<std::unique_ptr<port_guard>> port_guard::open(bool loopback_only) {
  std::unique_ptr<port_guard> made(new port_guard);
  TRY(made->listen(loopback_only));
  return made;
}

result<void> port_guard::listen(bool loopback_only) {
  const auto failed = [](const char* doing) {
    return fail(error{errno == EMFILE ? error_code::limit : error_code::system, doing}.with_errno(errno));
  };
  listening_ = listening_socket(loopback_only);
  if (!listening_) return failed("opening a port for agents");
  port_ = port_of(listening_.get());
  inner_name_ = fresh_inner_name();
  events_ = base::unique_fd{::epoll_create1(EPOLL_CLOEXEC)};
  wake_ = base::unique_fd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  if (!events_ || !wake_) return failed("making an event for the port of agents");
  return {};
}

result<void> port_guard::start() {
  if (!watch(listening_.get(), listening_mark) || !watch(wake_.get(), wake_mark))
    return fail(error{error_code::system, "watching the port of agents"}.with_errno(errno));
  const base::all_signals_blocked blocked;
  thread_ = std::thread([this] { run(); });
  return {};
}

port_guard::~port_guard() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ::eventfd_write(wake_.get(), 1);
  thread_.join();
}

void port_guard::lift_bound(int descriptor_of_libzmq) {
  std::string name = name_of_peer(descriptor_of_libzmq);
  if (name.empty()) return;
  const std::lock_guard lock(mutex_);
  proven_.push_back(std::move(name));
  ::eventfd_write(wake_.get(), 1);
}

std::string port_guard::newest() const {
  const std::lock_guard lock(mutex_);
  return newest_;
}

/// The kernel reports each event once (EPOLLET): `serve` must pass on everything that has arrived.
bool port_guard::watch(int descriptor, std::uint64_t mark) const {
  epoll_event wanted{};
  wanted.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  wanted.data.u64 = mark;
  return ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, descriptor, &wanted) == 0;
}

int port_guard::wait_ms() const {
  deadline until = std::min(accepts_again_, stops_at_);
  if (!again_.empty()) until = unread_ < unread_bytes ? clock::now() : clock::now() + until_next_accept;
  if (until == no_deadline) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

void port_guard::run() {
  std::array<epoll_event, 256> happened{};
  for (;;) {
    const int count = ::epoll_wait(events_.get(), happened.data(), static_cast<int>(happened.size()), wait_ms());
    std::set<connection_number> ready = std::exchange(again_, {});
    for (int i = 0; i < count; ++i) {
      const std::uint64_t mark = happened[static_cast<std::size_t>(i)].data.u64;
      if (mark == listening_mark) accepts_again_ = clock::now();
      if (mark > wake_mark) ready.insert(mark);
    }
    take_requests();
    for (const connection_number number : ready) serve(number);
    if (stops_at_ != no_deadline) {
      if (connections_.empty() || clock::now() >= stops_at_) return;
    } else if (clock::now() >= accepts_again_) {
      accept_some();
    }
  }
}

void port_guard::take_requests() {
  eventfd_t ignored = 0;
  static_cast<void>(::eventfd_read(wake_.get(), &ignored));
  std::vector<std::string> proven;
  {
    const std::lock_guard lock(mutex_);
    proven = std::exchange(proven_, {});
    if (stopping_ && stops_at_ == no_deadline) stops_at_ = clock::now() + last_bytes;
  }
  for (const std::string& name : proven) {
    const auto known = by_inner_.find(name);
    if (known == by_inner_.end()) continue;
    unproven_.erase(known->second);
    connections_.at(known->second).bytes.lift_bound();
    serve(known->second);
  }
  if (stops_at_ == no_deadline) return;
  listening_.reset();
  std::vector<connection_number> all;
  for (const auto& [number, one] : connections_) all.push_back(number);
  for (const connection_number number : all) serve(number);
}

void port_guard::accept_some() {
  accepts_again_ = no_deadline;
  for (;;) {
    const bool has_room = unproven_.size() < most_unproven() || make_room();
    if (!has_room || is_short_of_descriptors(wake_.get())) break;
    std::string address;
    base::unique_fd outer = accepted(listening_.get(), address);
    if (outer) {
      add(std::move(outer), std::move(address));
    } else if (errno == EAGAIN) {
      return;
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
      break;
    }
    // All other errors concern one connection.
  }
  accepts_again_ = clock::now() + until_next_accept;
}

/// Ends the oldest silent connection, or the oldest one of the address with the most connections. False if all must be
/// kept.
bool port_guard::make_room() {
  const deadline now = clock::now();
  std::map<std::string, std::size_t> by_address;
  for (const connection_number number : unproven_) {
    const relay& one = connections_.at(number).bytes;
    if (!one.is_continued() && now - one.since() >= silent_until) {
      drop(number);
      return true;
    }
    ++by_address[one.address()];
  }
  const auto most = std::max_element(by_address.begin(), by_address.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == by_address.end() || most->second <= fair_share) return false;
  const auto oldest = std::find_if(unproven_.begin(), unproven_.end(), [&](connection_number number) {
    return connections_.at(number).bytes.address() == most->first;
  });
  if (now - connections_.at(*oldest).bytes.since() < unproven_until) return false;
  drop(*oldest);
  return true;
}

void port_guard::add(base::unique_fd outer, std::string address) {
  const connection_number number = ++last_;
  {
    const std::lock_guard lock(mutex_);
    newest_ = address;
  }
  const int descriptor = outer.get();
  connections_.emplace(number, connection{relay(std::move(outer), std::move(address), bytes_before_proof), {}});
  unproven_.insert(number);
  // The kernel also reports what has arrived before.
  if (!watch(descriptor, number)) drop(number);
}

bool port_guard::continue_inside(connection_number number, connection& one) {
  base::unique_fd inner = connected_inside(inner_name_, one.inner);
  if (!inner || !watch(inner.get(), number)) return false;
  by_inner_[one.inner] = number;
  unread_ += bytes_of_connection;
  one.bytes.continue_to(std::move(inner));
  return true;
}

void port_guard::serve(connection_number number) {
  const auto known = connections_.find(number);
  if (known == connections_.end()) return;
  connection& one = known->second;
  const bool is_proven = one.bytes.is_proven();
  if (!is_proven && unread_ >= unread_bytes && stops_at_ == no_deadline) {
    again_.insert(number);
    return;
  }
  if (!one.bytes.is_continued()) {
    if (stops_at_ != no_deadline) return drop(number);
    if (!one.bytes.has_spoken()) return;
    if (!continue_inside(number, one)) return drop(number);
  }
  std::size_t passed = 0;
  const relay::state now = one.bytes.pass(scratch_, passed);
  if (!is_proven) unread_ += passed;
  if (now == relay::state::ended) return drop(number);
  if (now == relay::state::busy) again_.insert(number);
}

void port_guard::drop(connection_number number) {
  const auto known = connections_.find(number);
  if (known == connections_.end()) return;
  by_inner_.erase(known->second.inner);
  unproven_.erase(number);
  again_.erase(number);
  connections_.erase(known);
}

}  // namespace mpiacq::agents
