// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Starts a program as a child of a test.
#pragma once

#include <csignal>
#include <map>
#include <string>
#include <vector>

#include <spawn.h>
#include <sys/types.h>
#include <unistd.h>

namespace mpiacq::test {

/// What a child begins with, beside its arguments.
struct child_start {
  int in = -1;  ///< its standard streams; -1: the test's own
  int out = -1;
  int err = -1;
  std::map<std::string, std::string> environment = {};  ///< added to the test's own
  std::string directory = {};                           ///< empty: the test's own
  std::vector<int> default_signals = {};                ///< not ignored, even if the test ignores them
};

/// The status of a child whose program cannot be started, as a shell's.
inline constexpr int cannot_start = 127;

/// The child's number. If the program cannot be started, that is a child that ends with the status above. The test's
/// PATH tells where the program is.
///
/// fork(2) would copy the page tables of the test, and both would copy each page that they write then. With
/// AddressSanitizer, on a busy machine, a child took 124 ms by fork(2) and 11 ms by posix_spawn.
inline pid_t start_child(std::vector<std::string> arguments, const child_start& how) {
  std::vector<std::string> variables;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string variable = *one;
    if (!how.environment.contains(variable.substr(0, variable.find('=')))) variables.push_back(variable);
  }
  for (const auto& [name, value] : how.environment) variables.push_back(name + "=" + value);
  const auto pointers_to = [](std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
  };
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  const int streams[] = {how.in, how.out, how.err};
  for (int number = 0; number < 3; ++number) {
    if (streams[number] >= 0) ::posix_spawn_file_actions_adddup2(&files, streams[number], number);
  }
  if (!how.directory.empty()) ::posix_spawn_file_actions_addchdir_np(&files, how.directory.c_str());
  sigset_t defaults;
  ::sigemptyset(&defaults);
  for (const int signal : how.default_signals) ::sigaddset(&defaults, signal);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t child = -1;
  const int failed = ::posix_spawnp(&child, arguments.front().c_str(), &files, &attributes,
                                    pointers_to(arguments).data(), pointers_to(variables).data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  if (failed != 0 && (child = ::fork()) == 0) ::_exit(cannot_start);
  return child;
}

}  // namespace mpiacq::test
