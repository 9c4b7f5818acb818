// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A file whose beginning can be read and whose rest never answers, in a file system of the test (FUSE).
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <linux/fuse.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catch.hpp"

namespace mpiacq::test {

/// The file exists while this object lives. It is in no folder, because its file system is mounted nowhere. When the
/// object is destroyed, a process that waits for the file gets an error.
class silent_file {
 public:
  /// What the file system's server does with a request to read beyond the beginning.
  enum class server : unsigned char {
    keeps_requests,  ///< it takes the request: the kernel does not let a reader end, not even by SIGKILL
    takes_nothing    ///< it has been stopped and takes no request: SIGKILL ends a reader
  };

  silent_file(std::uint64_t answered, std::uint64_t size) {
    const int device = ::open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (device < 0) {
      note("/dev/fuse cannot be opened");
      return;
    }
    const int mounted = mount(device);
    if (mounted >= 0) {
      server_ = ::fork();
      if (server_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::close(mounted);
        serve(device, answered, size);
      }
      file_ = ::openat(mounted, "silent", O_RDWR | O_CLOEXEC);
      if (file_ < 0) note("the file cannot be opened");
      // At the first close of a descriptor, the kernel asks whether the server wants to handle closes, and never again.
      ::close(::dup(file_));
      ::close(mounted);
    }
    ::close(device);
  }
  ~silent_file() {
    if (file_ >= 0) ::close(file_);
    end();
  }
  silent_file(const silent_file&) = delete;
  silent_file& operator=(const silent_file&) = delete;

  /// Why there is no such file; empty if there is one.
  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  [[nodiscard]] int descriptor() const { return file_; }
  /// Sets whether programs that are started from now on inherit the descriptor.
  void inherit(bool wanted) const { REQUIRE(::fcntl(file_, F_SETFD, wanted ? 0 : FD_CLOEXEC) == 0); }
  void behave(server how) const {
    if (how != server::takes_nothing) return;
    REQUIRE(::kill(server_, SIGSTOP) == 0);
    siginfo_t stopped{};
    REQUIRE(::waitid(P_PID, static_cast<id_t>(server_), &stopped, WSTOPPED | WNOWAIT) == 0);
  }
  /// Ends the server. All processes that wait for the file get an error.
  void end() {
    if (server_ <= 0) return;
    ::kill(server_, SIGKILL);
    ::waitpid(std::exchange(server_, -1), nullptr, 0);
  }

 private:
  static constexpr std::uint64_t file_node = 2;

  void note(const std::string& what) { why_not_ = what + ": " + std::strerror(errno); }

  int mount(int device) {
    const int made = ::fsopen("fuse", FSOPEN_CLOEXEC);
    const auto set = [&](const char* key, const std::string& value) {
      return ::fsconfig(made, FSCONFIG_SET_STRING, key, value.c_str(), 0) == 0;
    };
    int mounted = -1;
    if (made >= 0 && set("fd", std::to_string(device)) && set("rootmode", "40000") && set("user_id", "0") &&
        set("group_id", "0") && ::fsconfig(made, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) == 0) {
      mounted = ::fsmount(made, FSMOUNT_CLOEXEC, 0);
    }
    if (mounted < 0) note("a FUSE file system cannot be mounted");
    if (made >= 0) ::close(made);
    return mounted;
  }

  static fuse_attr attributes_of(std::uint64_t node, std::uint64_t size) {
    fuse_attr attributes{};
    attributes.ino = node;
    attributes.size = node == file_node ? size : 0;
    attributes.mode = node == file_node ? S_IFREG | 0666U : S_IFDIR | 0755U;
    attributes.nlink = 1;
    attributes.blksize = 4096;
    return attributes;
  }

  static void answer(int device, std::uint64_t to, int error, const void* what = nullptr, std::size_t bytes = 0) {
    fuse_out_header header{static_cast<std::uint32_t>(sizeof header + bytes), error, to};
    const std::array<iovec, 2> parts{{{&header, sizeof header}, {const_cast<void*>(what), bytes}}};
    (void)!::writev(device, parts.data(), parts.size());
  }

  /// The protocol is in include/uapi/linux/fuse.h.
  [[noreturn]] static void serve(int device, std::uint64_t answered, std::uint64_t size) {
    constexpr std::uint32_t most_written = 4096;
    constexpr std::uint64_t for_an_hour = 3600;
    const std::vector<char> zeros(2 * static_cast<std::size_t>(FUSE_MIN_READ_BUFFER));
    alignas(8) std::array<char, 2 * FUSE_MIN_READ_BUFFER> request{};
    while (::read(device, request.data(), request.size()) >= static_cast<ssize_t>(sizeof(fuse_in_header))) {
      fuse_in_header asked{};
      std::memcpy(&asked, request.data(), sizeof asked);
      if (asked.opcode == FUSE_INIT) {
        fuse_init_out begin{};
        begin.major = FUSE_KERNEL_VERSION;
        begin.minor = FUSE_KERNEL_MINOR_VERSION;
        begin.max_readahead = 0;  // the kernel requests no page before a program reads it
        begin.max_write = most_written;
        answer(device, asked.unique, 0, &begin, sizeof begin);
      } else if (asked.opcode == FUSE_LOOKUP) {
        fuse_entry_out found{};
        found.nodeid = file_node;
        found.entry_valid = found.attr_valid = for_an_hour;
        found.attr = attributes_of(file_node, size);
        answer(device, asked.unique, 0, &found, sizeof found);
      } else if (asked.opcode == FUSE_GETATTR) {
        fuse_attr_out known{};
        known.attr_valid = for_an_hour;
        known.attr = attributes_of(asked.nodeid, size);
        answer(device, asked.unique, 0, &known, sizeof known);
      } else if (asked.opcode == FUSE_OPEN) {
        const fuse_open_out opened{};
        answer(device, asked.unique, 0, &opened, sizeof opened);
      } else if (asked.opcode == FUSE_READ) {
        fuse_read_in wanted{};
        std::memcpy(&wanted, request.data() + sizeof asked, sizeof wanted);
        const std::size_t bytes = std::min<std::size_t>(wanted.size, zeros.size());
        if (wanted.offset < answered) answer(device, asked.unique, 0, zeros.data(), bytes);
      } else if (asked.opcode != FUSE_FORGET && asked.opcode != FUSE_BATCH_FORGET && asked.opcode != FUSE_INTERRUPT) {
        answer(device, asked.unique, -ENOSYS);
      }
    }
    ::_exit(0);
  }

  pid_t server_ = -1;
  int file_ = -1;
  std::string why_not_;
};

}  // namespace mpiacq::test
