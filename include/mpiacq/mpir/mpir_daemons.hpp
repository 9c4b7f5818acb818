// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The tool daemon launch extension of MPIR (7.1, 7.2, 9.15 to 9.17): the starter runs a program of the tool on each
/// node of the job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/error.hpp"

namespace mpiacq::mpir {

/// What the starter should launch on each node.
struct daemon_request {
  std::string path;  ///< of the daemon's executable on the nodes
  /// Without the name of the program. No argument may be empty, because the encoding cannot hold an empty one.
  std::vector<std::string> arguments;
  /// Also set MPIR_forward_output if the starter has it (Open MPI): the starter then forwards the output of the daemons
  /// together with the output of the job. After an attach, Open MPI 4.1 always does so.
  bool forward_output = false;
  /// If the starter cannot launch daemons, report no problem: `job_facts::daemons` says so. A PMIx server is not asked.
  bool only_if_possible = false;
};

/// The state of the request.
enum class daemon_launch : std::uint8_t {
  not_asked,
  refused,     ///< nothing was written; a report_problem says why
  at_spawn,    ///< launch mode: the starter finds the request when it spawns the job
  by_fifo,     ///< attach mode: a byte in MPIR_attach_fifo makes the starter look for the request (7.2)
  by_polling,  ///< attach mode: there is no FIFO, and the starter looks at MPIR_being_debugged by itself (7.1)
  done         ///< the starter has raised the event that follows the launch (7.1, step 5)
};
[[nodiscard]] std::string_view name(daemon_launch how);  ///< "not-asked", "refused", "at-spawn", "by-fifo" ...

/// The bytes for MPIR_executable_path, an array of `capacity` bytes: the path and a null. Errors: invalid_argument (the
/// path is empty or contains a null), limit (with the needed and the available bytes).
[[nodiscard]] result<std::vector<std::byte>> encode_executable_path(std::string_view path, std::size_t capacity);

/// The bytes for MPIR_server_arguments, an array of `capacity` bytes: each argument and a null, then a null (9.16); a
/// single null without arguments. Errors as `encode_executable_path`; an empty argument would end the list and is
/// refused.
[[nodiscard]] result<std::vector<std::byte>> encode_server_arguments(std::span<const std::string> arguments,
                                                                     std::size_t capacity);

}  // namespace mpiacq::mpir
