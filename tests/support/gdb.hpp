// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace mpiacq::test {

inline constexpr const char* gdb_not_installed = "gdb is not installed";

/// The words that start gdb as an oracle, followed by those that say what it does. It reads no files of its user and
/// asks no server. It looks for separate debug information in the given folder only: if it found libc's, reading that
/// would take longer than what a test asks.
inline std::vector<std::string> gdb_command(const std::vector<std::string>& what,
                                            const std::string& debug_folder = "/nonexistent") {
  std::vector<std::string> words = {"gdb",  "-q",
                                    "-nx",  "-batch",
                                    "-iex", "set debuginfod enabled off",
                                    "-iex", "set debug-file-directory " + debug_folder};
  words.insert(words.end(), what.begin(), what.end());
  return words;
}

}  // namespace mpiacq::test
