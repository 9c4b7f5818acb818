// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Part of each program that clang's AddressSanitizer is linked into. The sanitizer keeps tables of ten megabytes among
// the program's variables. It writes all over them while the program starts, and reads them whole when it searches for
// leaks. A test program that runs no test makes 5,240 page faults; with large pages for the tables it makes 3,197. In a
// virtual machine with slow page faults it then takes 118 ms of a processor instead of 163 ms, and the tests start
// thousands of such programs.
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
