// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "embedded_programs.hpp"

#include <cstddef>
#include <span>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

// The assembler includes the files unchanged.
asm(".pushsection .rodata\n"
    ".balign 16\n"
    "mpiacq_tracer_begin: .incbin \"" TRACER
    "\"\n"
    "mpiacq_tracer_end:\n"
    ".balign 16\n"
    "mpiacq_queue_host_begin: .incbin \"" QUEUE_HOST
    "\"\n"
    "mpiacq_queue_host_end: .byte 0\n"
    ".popsection\n");

extern "C" {
extern const std::byte mpiacq_tracer_begin[], mpiacq_tracer_end[];
extern const std::byte mpiacq_queue_host_begin[], mpiacq_queue_host_end[];
}

namespace mpiacq::agent_program {

namespace {

constexpr int first_number = 100;

/// Copies the program into a memory file and returns its path. The descriptor is closed in the executed program, after
/// the kernel has opened the file. It stays open in this process.
std::string in_memory(const char* name, std::span<const std::byte> program) {
  const int made = ::memfd_create(name, MFD_CLOEXEC);
  if (made < 0) return {};
  // Low numbers are reserved for the descriptors that a new program receives.
  const int fd = ::fcntl(made, F_DUPFD_CLOEXEC, first_number);
  ::close(made);
  if (fd < 0) return {};
  while (!program.empty()) {
    const ssize_t written = ::write(fd, program.data(), program.size());
    if (written <= 0) {
      ::close(fd);
      return {};
    }
    program = program.subspan(static_cast<std::size_t>(written));
  }
  return fmt::format("/proc/self/fd/{}", fd);
}

}  // namespace

agent_programs unpack_programs() {
  return {in_memory("tracer", {mpiacq_tracer_begin, mpiacq_tracer_end}),
          in_memory("mqd-host", {mpiacq_queue_host_begin, mpiacq_queue_host_end})};
}

}  // namespace mpiacq::agent_program
