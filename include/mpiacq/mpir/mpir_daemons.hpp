// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/error.hpp"

/// The tool daemon launch extension (MPIR 1.1, 7.1, 7.2, 9.15 to 9.17): the starter runs a program of the tool's on
/// each node of the job.
namespace mpiacq::mpir {

/// What the starter is asked to launch on each node.
struct daemon_request {
  std::string path;  ///< of the daemon's executable, on the target nodes
  std::vector<std::string>
      arguments;  ///< without the program's own name; no empty one, the encoding has no room for it
  /// Also sets MPIR_forward_output, where the starter has it (Open MPI): asks for the daemons' output to come out with
  /// the job's. To a starter that is attached to, Open MPI 4.1 does so unasked.
  bool forward_output = false;
  /// That the starter cannot be asked is no problem to be told of: `job_facts::daemons` says so.
  bool only_if_possible = false;
};

/// How far the request has come.
enum class daemon_launch : std::uint8_t {
  not_asked,
  refused,     ///< nothing was written; a report_problem said why
  at_spawn,    ///< launch mode: the starter finds the request when it spawns the job
  by_fifo,     ///< attach mode: a byte in MPIR_attach_fifo makes the starter look (7.2)
  by_polling,  ///< attach mode: there is no FIFO, and the starter is to look at MPIR_being_debugged by itself (7.1)
  done         ///< the starter has raised the event that follows the launch (7.1, step 5)
};
[[nodiscard]] std::string_view name(daemon_launch how);  ///< "not-asked", "refused", "at-spawn", "by-fifo" ...

/// The bytes for MPIR_executable_path, an array of `capacity` bytes: the path and a null. Errors: invalid_argument (an
/// empty path, one with a null in it), limit (with the bytes needed and those that are there).
[[nodiscard]] result<std::vector<std::byte>> encode_executable_path(std::string_view path, std::size_t capacity);

/// The bytes for MPIR_server_arguments, an array of `capacity` bytes: each argument and a null, then a null (9.16); a
/// single null where there are none. Errors as above: an empty argument would end the list, and is refused.
[[nodiscard]] result<std::vector<std::byte>> encode_server_arguments(std::span<const std::string> arguments,
                                                                     std::size_t capacity);

}  // namespace mpiacq::mpir
