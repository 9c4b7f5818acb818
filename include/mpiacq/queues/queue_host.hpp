// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "mpiacq/base/error.hpp"
#include "mpiacq/process/symbols.hpp"
#include "mpiacq/process/type_source.hpp"
#include "mpiacq/queues/message_queues.hpp"

namespace mpiacq {

/// A process whose queues are wanted. Stopped, or a core: a library that reads lists while they change sees nonsense.
/// Owns nothing.
struct queue_subject {
  target& process;  ///< only memory, abi and symbols are used: a queue library reads
  type_source& types;
  std::uint32_t identity = 0;  ///< its number in the job: its rank in the world
  std::string image;           ///< its program, for the library's messages
};

enum class queue_isolation : std::uint8_t {
  separate,   ///< a process of its own that can do nothing but ask us
  in_process  ///< in this program: a library that crashes takes it along. For measurements, and for who insists
};

struct queue_host_options {
  queue_isolation isolation = queue_isolation::separate;
  queue_limits limits;
  /// Load the library although its file could have been written by somebody else.
  bool trust_library = false;
  /// Whose job it is: where this program is root, the separate process becomes that user before it loads anything.
  /// Empty: the user who runs this program.
  std::optional<std::uint32_t> owner;
  std::string helper;  ///< the program of the separate process; empty: the one installed beside the library
  /// A descriptor of the caller's: once it can be read, a library in a process of its own is ended and `read` gives
  /// what it had said so far, with timed_out as a problem. -1: none.
  int stop = -1;
};

/// Runs a message-queue library (mqs_*; Message Queue Dumping 1.06 with its MPI-2 extension) for one process after the
/// other. Nothing of one process is left when the next is asked for: it is set up afresh each time.
///
/// Thread: one at a time; several hosts may work side by side (not in_process: libraries have variables of their own).
class queue_host {
 public:
  /// Checks the library's file (queue_library_trust below) and gets ready; the library itself is loaded by the first
  /// `read`. Errors: not_found, permission (nobody should load that file; says which folder or file and who may write
  /// it), bad_format (of another machine or width).
  [[nodiscard]] static result<std::unique_ptr<queue_host>> create(std::string library_path,
                                                                  const queue_host_options& options = {});
  ~queue_host();
  queue_host(const queue_host&) = delete;
  queue_host& operator=(const queue_host&) = delete;

  /// What the library says of one process. An error where it gives nothing at all: it cannot be loaded, lacks an entry
  /// point, is of another version, says that the process has no queues (its own words in the message), or crashed,
  /// hung or ended before its first answer. A library that fails later leaves what it had said, and a problem; one that
  /// asked for types that nobody could give leaves a report without communicators that names them (`missing`).
  [[nodiscard]] result<queue_report> read(const queue_subject& subject);

 private:
  struct state;
  explicit queue_host(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

/// Whether a library whose path comes out of another process may be loaded: its file and all folders above it, links
/// followed, are owned by root or by `user`, and nobody else can write them. permission: which one, whose, and why.
[[nodiscard]] result<void> queue_library_trust(const std::string& path, std::uint32_t user);

}  // namespace mpiacq
