// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// Writes the core file of a stopped process, which goes on afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "mpiacq/base/address.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/base/memory.hpp"
#include "mpiacq/base/time_limit.hpp"

namespace mpiacq {

/// One thread of the process, as a core file describes it.
struct core_thread {
  thread_id thread;  ///< the thread
  /// The general registers as PTRACE_GETREGSET gives them for NT_PRSTATUS: 216 bytes on x86-64, 68 bytes for a 32-bit
  /// program on x86-64, 272 bytes on aarch64.
  std::vector<std::byte> registers;
  std::vector<std::byte> floating_point;  ///< the same for NT_PRFPREG; empty: the core has none of this thread
};

/// The process and the state of its threads.
struct core_process {
  process_id process;  ///< a process of this node
  /// The signal that a debugger shows as the reason of the core; 0: none. As in the kernel's core files, each thread
  /// has it.
  int signal = 0;
  int code = 0;                      ///< the reason of the signal: `si_code` (sigaction(2))
  target_address fault;              ///< `si_addr` of SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGTRAP
  std::vector<core_thread> threads;  ///< at least one; debuggers show the first one
};

/// Which memory goes into a core file. The members are the bits of /proc/PID/coredump_filter (core(5)), with the
/// kernel's defaults. Memory that the process has excluded (MADV_DONTDUMP) and memory of devices never goes in; the
/// vDSO always does.
struct core_contents {
  bool private_anonymous = true;   ///< memory of the process alone, and the mappings of files that it has changed
  bool shared_anonymous = true;    ///< shared memory without a file, or whose file has been deleted
  bool private_files = false;      ///< all other private mappings of files, such as code and constants
  bool shared_files = false;       ///< shared mappings of files
  bool elf_headers = true;         ///< the first page of each ELF file, which has its build id
  bool private_huge_pages = true;  ///< private huge pages (hugetlbfs)
  bool shared_huge_pages = false;  ///< shared huge pages
};

/// How a core file is written.
struct core_write_options {
  core_contents contents;  ///< the memory that goes into it
  /// The largest number of bytes that may be stored, holes not counted. Memory beyond it is left out. Empty: no limit.
  std::optional<std::uint64_t> most_bytes;
  /// How long the memory may take. What is not written by then is left out.
  time_limit until;
  /// Called between pieces of at most 4 MiB, if it is set. Call `tracer::keep_held` here. An error ends the writing,
  /// and is what `write_core` returns.
  std::function<result<void>()> between_pieces;
};

/// What is in a core file, and what is not.
struct written_core {
  std::uint64_t length = 0;      ///< the length of the file in bytes, with its holes
  std::uint64_t stored = 0;      ///< the number of bytes that were written; pages of zeros are holes
  std::uint64_t unreadable = 0;  ///< the bytes of memory that could not be read: they are zeros in the core
  /// The bytes of memory that were left out because of a limit. For a reader this memory is not in the core; it does
  /// not read as zeros.
  std::uint64_t left_out = 0;
  std::size_t mappings = 0;     ///< the number of mappings that the core lists
  std::vector<error> problems;  ///< a sentence for each limit that was reached, and for missing parts
};

/// Writes a core file (ELF, ET_CORE) of a process whose threads are all stopped. It has the form of the kernel's: gdb,
/// eu-stack and `core_file` read it. The process is not changed. A software breakpoint that is inserted is in the core,
/// because it is in the memory.
///
/// Memory is read through `memory`, in pieces. The mappings come from /proc/PID/smaps, or from /proc/PID/maps if the
/// kernel has no smaps; then MADV_DONTDUMP is not known. Pages that the process has never used are not read, because
/// reading would allocate them. As in the kernel's core files, a private mapping without a written page has no
/// contents, except that writable mappings of files have theirs. The stacks of the threads come first, so that they are
/// in the core if a limit ends it. The core has no times, no sets of signals and no nice value (they are 0).
///
/// `descriptor` belongs to the caller. It is a new, empty regular file, open for writing without O_APPEND. Nothing is
/// synchronised with the disk: a file system that reports errors late (NFS) reports them to fsync(2) or close(2). After
/// an error the file is no core file, because its header is written last; delete it.
///
/// The call uses some ten megabytes, and more for a process with very many mappings and threads (at most some 200 MB).
/// Thread: any; `memory` and the descriptor must not be used by another thread meanwhile.
///
/// Errors: invalid_argument (no thread; registers of another size than the machine's; the descriptor), unsupported (the
/// machine is not x86-64, i386 or aarch64), process_gone, permission, limit (more than 1,048,576 mappings, or 65,536
/// threads), timed_out (before the memory was begun), system (the file cannot be written: the message has the number of
/// bytes and the reason, such as a full file system), and the errors of `between_pieces`.
[[nodiscard]] result<written_core> write_core(const core_process& process, memory_reader& memory, int descriptor,
                                              const core_write_options& options = {});

}  // namespace mpiacq
