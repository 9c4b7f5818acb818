// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Part of each program that clang's AddressSanitizer is linked into. The sanitizer keeps tables of ten megabytes among
// the program's variables. It writes all over them while the program starts, and reads them whole when it searches for
// leaks: two thousand of the five thousand page faults of a program that does nothing. With large pages there are five.
// In a virtual machine with slow page faults, a program then starts and ends in 117 ms instead of 163 ms, and the tests
// start thousands.
#include <cstdint>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern "C" {
extern char __bss_start;  // from the linker: where the variables without a first value begin
extern char _end;         // and where they end

// The sanitizer calls it before it has touched its tables. The function runs before the program is ready: it makes one
// system call, and nothing of it is sanitized. A kernel that refuses changes nothing.
__attribute__((no_sanitize("address", "undefined"))) const char* __asan_default_options() {
  constexpr std::uintptr_t page = 4096;
  const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(&__bss_start) + page - 1) & ~(page - 1);
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(&_end) & ~(page - 1);
  syscall(SYS_madvise, begin, end - begin, MADV_HUGEPAGE);
  return "";
}
}
