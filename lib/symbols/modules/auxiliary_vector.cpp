// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "modules/auxiliary_vector.hpp"

#include <array>
#include <cerrno>

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace mpiacq::elf {

namespace {

tl::unexpected<error> cannot_read(process_id pid, int why) {
  // ESRCH means that the process has ended between open and read.
  const bool gone = why == ENOENT || why == ESRCH;
  const bool refused = why == EACCES || why == EPERM;
  const auto code = gone ? error_code::process_gone : refused ? error_code::permission : error_code::system;
  error e = error{code, fmt::format("reading the auxiliary vector of process {}", pid.value())}.with_errno(why);
  if (refused) {
    e.message +=
        "; it takes the rights to trace it: its user's or root's, and a kernel.yama.ptrace_scope that allows it";
  }
  return fail(std::move(e));
}

}  // namespace

auxiliary_vector decode_auxiliary_vector(std::span<const std::byte> bytes, const target_abi& abi) {
  const std::size_t word = abi.pointer_size;
  auxiliary_vector v;
  for (; bytes.size() >= 2 * word; bytes = bytes.subspan(2 * word)) {
    const std::uint64_t value = decode_unsigned(bytes.subspan(word, word), abi.order);
    switch (decode_unsigned(bytes.first(word), abi.order)) {
      case AT_NULL:
        return v;
      case AT_PHDR:
        v.program_headers = target_address{value};
        break;
      case AT_PHENT:
        v.program_header_size = value;
        break;
      case AT_PHNUM:
        v.program_header_count = value;
        break;
      case AT_ENTRY:
        v.entry = target_address{value};
        break;
      case AT_BASE:
        v.interpreter = target_address{value};
        break;
      case AT_SYSINFO_EHDR:
        v.vdso = target_address{value};
        break;
      case AT_EXECFN:
        v.path = target_address{value};
        break;
      default:
        break;
    }
  }
  return v;
}

result<auxiliary_vector> read_auxiliary_vector(process_id pid, const target_abi& abi) {
  const std::string path = fmt::format("/proc/{}/auxv", pid.value());
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return cannot_read(pid, errno);
  std::array<std::byte, 4096> bytes{};  // the kernel's own has at most some 40 entries
  std::size_t got = 0;
  ssize_t count = 0;
  do {
    count = ::read(descriptor, bytes.data() + got, bytes.size() - got);
    if (count > 0) got += static_cast<std::size_t>(count);
  } while (count > 0 && got < bytes.size());
  const int why = errno;
  ::close(descriptor);
  if (count < 0) return cannot_read(pid, why);
  if (got == 0) return cannot_read(pid, ESRCH);  // a zombie has no auxiliary vector
  return decode_auxiliary_vector(std::span{bytes}.first(got), abi);
}

}  // namespace mpiacq::elf
