// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A reader as the older libraries for this have it: a word at a time by PTRACE_PEEKDATA, strings to their end.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include <sys/ptrace.h>

#include "../floor/bare_hold.hpp"

namespace mpiacq::bench {

inline std::uint64_t peek_word(pid_t process, std::uint64_t address) {
  errno = 0;
  const long word = ::ptrace(PTRACE_PEEKDATA, process, address, nullptr);
  must_be(errno == 0, "PTRACE_PEEKDATA");
  return static_cast<std::uint64_t>(word);
}

inline std::string peek_string(pid_t process, std::uint64_t address) {
  std::string text;
  for (;; address += sizeof(std::uint64_t)) {
    const std::uint64_t word = peek_word(process, address);
    char bytes[sizeof word];
    std::memcpy(bytes, &word, sizeof word);
    const std::size_t length = ::strnlen(bytes, sizeof bytes);
    text.append(bytes, length);
    if (length < sizeof bytes) return text;
  }
}

}  // namespace mpiacq::bench
