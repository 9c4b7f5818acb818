// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A command whose input and output are a terminal, as a user sees it.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catch.hpp"

namespace mpiacq::test {

/// The whole output of a command that ends with 0.
inline std::string shown_on_terminal(std::vector<std::string> arguments, bool without_colour = false) {
  std::vector<char*> words;
  for (std::string& word : arguments) words.push_back(word.data());
  words.push_back(nullptr);
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    without_colour ? ::setenv("NO_COLOR", "1", 1) : ::unsetenv("NO_COLOR");
    ::execv(words.front(), words.data());
    ::_exit(99);
  }
  REQUIRE(child > 0);
  std::string shown;
  char piece[4096];
  // When the other side of a terminal is closed, a read fails and does not return the end of file.
  for (ssize_t got = 0; (got = ::read(terminal, piece, sizeof piece)) > 0;)
    shown.append(piece, static_cast<std::size_t>(got));
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  ::close(terminal);
  INFO(shown);
  CHECK(WEXITSTATUS(status) == 0);
  return shown;
}

}  // namespace mpiacq::test
