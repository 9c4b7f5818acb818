// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Programs that a test runs as another user.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <system_error>

#include <sys/wait.h>
#include <unistd.h>

#include "catch.hpp"

namespace mpiacq::test {

/// A user without a name, whose processes a test makes.
inline constexpr uid_t somebody = 12345;

/// Runs a check without root's rights in a child; false if a condition is false. Catch2 does not work in the child.
inline bool holds_as_nobody(const std::function<bool()>& check) {
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr unsigned nobody = 65534;
    if (::setgid(nobody) != 0 || ::setuid(nobody) != 0) ::_exit(2);
    bool held = false;
    try {
      held = check();
    } catch (...) {  // the child must not run the rest of the tests
      held = false;
    }
    ::_exit(held ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Why another user cannot run what this build has made; empty if that is possible.
inline std::string why_no_other_user() {
  if (::geteuid() != 0) return "only root can run a program as another user";
  std::error_code ignored;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", ignored).string();
  const bool may_run = holds_as_nobody([&] { return ::access(self.c_str(), X_OK) == 0; });
  return may_run ? "" : "other users may not enter the build folder";
}

#define MPIACQ_NEEDS_ANOTHER_USER() \
  if (const auto why_none = mpiacq::test::why_no_other_user(); !why_none.empty()) MPIACQ_SKIP(why_none)

}  // namespace mpiacq::test
