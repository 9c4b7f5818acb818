// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Numbers of processes in other pid namespaces. The kernel translates the credentials that a process sends over a
// socket (SCM_CREDENTIALS) into the receiver's numbers: that is the oracle.
#include "proc/pid_namespace.hpp"

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catch.hpp"
#include "descriptors/unique_fd.hpp"

using namespace mpiacq;

namespace {

/// A process in a chain of pid namespaces, one for each level.
struct inner_process {
  process_id here;    ///< as this test's namespace numbers it
  process_id inside;  ///< as it numbers itself
};

/// Sends its own number over the socket, and waits for the socket's end.
[[noreturn]] void speak_and_wait(int socket) {
  const std::int64_t inside = ::getpid();
  (void)!::write(socket, &inside, sizeof inside);
  char end = 0;
  (void)!::read(socket, &end, 1);
  ::_exit(0);
}

class inner_processes {
 public:
  /// Makes `levels` namespaces, each in the one before, and one process in the last.
  explicit inner_processes(int levels) {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0);
    ours_ = base::unique_fd{ends[0]};
    base::unique_fd theirs{ends[1]};
    const int on = 1;
    REQUIRE(::setsockopt(ours_.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0);
    child_ = ::fork();
    if (child_ != 0) return;
    ours_ = base::unique_fd{};
    for (int level = 0; level < levels; ++level) {
      if (::unshare(CLONE_NEWPID) != 0) ::_exit(1);
      if (const pid_t next = ::fork(); next != 0) {
        int status = 0;
        theirs = base::unique_fd{};
        (void)::waitpid(next, &status, 0);
        ::_exit(WEXITSTATUS(status));
      }
    }
    // A process with another number than 1.
    if (::fork() == 0) ::_exit(0);
    if (const pid_t last = ::fork(); last != 0) {
      int status = 0;
      theirs = base::unique_fd{};
      (void)::waitpid(last, &status, 0);
      ::_exit(0);
    }
    speak_and_wait(theirs.get());
  }
  ~inner_processes() {
    ours_ = base::unique_fd{};
    int status = 0;
    (void)::waitpid(child_, &status, 0);
  }
  inner_processes(const inner_processes&) = delete;
  inner_processes& operator=(const inner_processes&) = delete;

  /// Empty if no namespace could be made.
  [[nodiscard]] std::optional<inner_process> arrived() const {
    std::int64_t inside = 0;
    iovec data{&inside, sizeof inside};
    alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(ucred))> control{};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    if (::recvmsg(ours_.get(), &message, 0) != sizeof inside) return std::nullopt;
    const cmsghdr* head = CMSG_FIRSTHDR(&message);
    REQUIRE(head != nullptr);
    ucred who{};
    std::memcpy(&who, CMSG_DATA(head), sizeof who);
    return inner_process{process_id{who.pid}, process_id{inside}};
  }

 private:
  base::unique_fd ours_;
  pid_t child_ = -1;
};

constexpr const char* no_namespaces = "this user cannot make a pid namespace here";

}  // namespace

TEST_CASE("pid namespace: this program is in no inner one of its own") {
  const auto own = process_facts::open(process_id{::getpid()}).value();
  CHECK_FALSE(inner_namespace_of(own).has_value());
}

TEST_CASE("pid namespace: a process in it is found by its number there, and its number there by the process") {
  for (const int levels : {1, 2}) {
    const inner_processes family(levels);
    const auto one = family.arrived();
    if (!one) MPIACQ_SKIP(no_namespaces);
    CAPTURE(levels);
    CHECK(one->here != one->inside);
    const auto facts = process_facts::open(one->here).value();
    const auto space = inner_namespace_of(facts);
    REQUIRE(space.has_value());
    CHECK(space->depth == static_cast<std::size_t>(levels));
    CHECK(pid_in(*space, facts) == one->inside);
    const pid_translation numbers(*space);
    CHECK(numbers.here(one->inside) == one->here);
    CHECK_FALSE(numbers.here(process_id{1U << 22U}).has_value());
    CHECK_FALSE(pid_in(*space, process_facts::open(process_id{::getpid()}).value()).has_value());
  }
}

TEST_CASE("pid namespace: equal numbers in two namespaces are two processes") {
  const inner_processes first(1);
  const auto one = first.arrived();
  if (!one) MPIACQ_SKIP(no_namespaces);
  // ThreadSanitizer's own thread may take a number in one namespace, and come too late for it in the other.
  constexpr int most_tries = 20;
  std::unique_ptr<inner_processes> second;
  std::optional<inner_process> other;
  for (int i = 0; i < most_tries && (!other || other->inside != one->inside); ++i) {
    second = std::make_unique<inner_processes>(1);
    other = second->arrived();
  }
  REQUIRE(other.has_value());
  REQUIRE(one->inside == other->inside);
  const auto space = inner_namespace_of(process_facts::open(one->here).value());
  const auto other_space = inner_namespace_of(process_facts::open(other->here).value());
  REQUIRE((space && other_space));
  CHECK(pid_translation(*space).here(one->inside) == one->here);
  CHECK(pid_translation(*other_space).here(one->inside) == other->here);
  CHECK_FALSE(pid_in(*space, process_facts::open(other->here).value()).has_value());
}

TEST_CASE("pid namespace: a process of a namespace inside of it has a number in both") {
  const inner_processes family(2);
  const auto one = family.arrived();
  if (!one) MPIACQ_SKIP(no_namespaces);
  const auto facts = process_facts::open(one->here).value();
  // Its parent's parent is the first process of the outer namespace's second level.
  const auto parent = process_facts::open(facts.parent()).value();
  const auto outer = inner_namespace_of(process_facts::open(parent.parent()).value());
  REQUIRE(outer.has_value());
  CHECK(outer->depth == 1);
  const auto there = pid_in(*outer, facts);
  REQUIRE(there.has_value());
  CHECK(pid_translation(*outer).here(*there) == one->here);
}
