// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "helper/helper_begin.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "helper/less_rights.hpp"
#include "helper/standard_streams.hpp"

namespace mpiacq::base {

namespace {

bool stand_alone(pid_t tool, int first_free) {
  // Only after the change of the user: the kernel clears the signal on that change.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || ::getppid() != tool) return false;
  if (::syscall(SYS_close_range, first_free, ~0U, 0) != 0) {
    for (int fd = first_free; fd < 65536; ++fd) ::close(fd);
  }
  for (int fd = helper_socket; fd < first_free; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  ::setsid();
  // Output is written line by line, so that a crash does not lose what was printed before.
  ::setvbuf(stdout, nullptr, _IOLBF, 0);
  return ::chdir("/") == 0;
}

}  // namespace

int begin_helper(int argc, char** argv, int first_free, std::string_view purpose) {
  if (!open_missing_streams()) return 1;
  const bool other_user = argc == 5;
  const long tool = (argc == 3 || other_user) && std::string_view{argv[1]} == "for" ? std::atol(argv[2]) : 0;
  if (tool <= 0 || ::fcntl(helper_socket, F_GETFD) < 0) {
    std::fputs(fmt::format("The mpiacq library starts this program to {}.\n", purpose).c_str(), stderr);
    return 2;
  }
  if (other_user) {
    const auto user = static_cast<uid_t>(std::strtoul(argv[3], nullptr, 10));
    const auto group = static_cast<gid_t>(std::strtoul(argv[4], nullptr, 10));
    if (become(user, group) != 0) return 1;
  }
  return stand_alone(static_cast<pid_t>(tool), first_free) ? 0 : 1;
}

}  // namespace mpiacq::base
