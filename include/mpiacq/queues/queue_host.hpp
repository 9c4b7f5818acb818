// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs the queue library of an MPI for a stopped process, in an isolated process.
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

/// A process whose queues are to be read. It must be stopped, or a core file: lists that change while they are read
/// make no sense. It owns nothing.
struct queue_subject {
  target& process;  ///< only memory, abi and symbols are used
  type_source& types;
  std::uint32_t identity = 0;  ///< its number in the job: its rank in the world
  std::string image;           ///< its program, for messages of the library
};

/// Where the library runs.
enum class queue_isolation : std::uint8_t {
  separate,   ///< in a separate process that can only ask questions
  in_process  ///< in this program, which a crash of the library ends too; for measurements
};

/// How a queue library is run.
struct queue_host_options {
  queue_isolation isolation = queue_isolation::separate;
  queue_limits limits;
  /// Load the library even if other users could have written its file.
  bool trust_library = false;
  /// The user of the job: if this program runs as root, the separate process becomes this user before it loads
  /// anything. Empty: the user that runs this program.
  std::optional<std::uint32_t> owner;
  /// The folder below which the path of the library and the links on it are followed: /proc/PID/root for a process in a
  /// container. Empty: the root of this program.
  std::string root;
  std::string helper;  ///< the path of the separate process's program; empty: the one installed with the library
  /// A descriptor of the caller: once it is readable, the separate process is ended, and `read` returns what the
  /// library has reported so far, with timed_out as a problem. -1: none.
  int stop = -1;
};

/// Runs a queue library (mqs_*; Message Queue Dumping 1.06 with its MPI-2 extension) for one process after another.
/// Each process gets a fresh library.
///
/// Thread: one at a time; several hosts may work at the same time, except in_process, because a library has global
/// variables.
class queue_host {
 public:
  /// Checks the file of the library (`queue_library_trust`). `read` loads the library. Errors: not_found, permission
  /// (other users may write the file or a folder above it; the message says which and who), bad_format (another machine
  /// or width).
  [[nodiscard]] static result<std::unique_ptr<queue_host>> create(const std::string& library_path,
                                                                  const queue_host_options& options = {});
  ~queue_host();
  queue_host(const queue_host&) = delete;
  queue_host& operator=(const queue_host&) = delete;

  /// Has the library read one process. It is an error if the library reports nothing: it cannot be loaded, lacks an
  /// entry point, has another version, says that the process has no queues (in its own words in the message), or
  /// crashes, hangs or exits before its first answer. If it fails later, the report has what came before, and a
  /// problem. If it needs types that are not known, the report has no communicators and names the types (`missing`).
  [[nodiscard]] result<queue_report> read(const queue_subject& subject);

 private:
  struct state;
  explicit queue_host(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

/// Whether a library may be loaded whose path comes from another process: its file and all folders above it, with links
/// followed, belong to root or to `user`, and no other user can write them. Errors: permission (which file or folder,
/// its owner, and why).
[[nodiscard]] result<void> queue_library_trust(const std::string& path, std::uint32_t user);

}  // namespace mpiacq
