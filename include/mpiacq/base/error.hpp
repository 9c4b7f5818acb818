// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// Errors as values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

#include "mpiacq/base/address.hpp"

namespace mpiacq {

/// The kind of an error, by which a program decides. The sentence in `error::message` is for people.
enum class error_code : std::uint8_t {
  invalid_argument,   ///< an argument of the caller is invalid
  not_found,          ///< a named file, program or process does not exist
  permission,         ///< the system refuses; the message names the setting that refuses
  process_gone,       ///< the process ended, or another one has its pid, before or during the call
  busy,               ///< another tool holds the process (it has another tracer)
  exec_failed,        ///< a program was found, but could not be run
  bad_format,         ///< foreign bytes (ELF, DWARF, a table, a link map) contradict themselves
  unreadable_memory,  ///< target memory at `error::address` cannot be read or written
  limit,              ///< a limit of this library was reached; the message names it
  timed_out,          ///< the deadline passed
  wrong_thread,       ///< a thread other than the owner has used an object
  unsupported,        ///< the library does not support this kernel, machine or kind of file
  system,             ///< another system call failed; see `error::system_errno`
};

/// The name of the code as in the source, for logs and JSON.
[[nodiscard]] std::string_view name(error_code code);

/// A failure as a value: what a program needs to decide, and a sentence that a person can act on.
struct error {
  error_code code = error_code::system;
  int system_errno = 0;                   ///< errno of the failed call, 0 if no system call failed
  std::optional<target_address> address;  ///< the address in the target, if there is one
  std::string path;                       ///< the file, empty if there is none
  std::string message;                    ///< what was tried, on what, why it failed, what to do; no full stop

  error() = default;
  /// An error without errno, address and path.
  error(error_code c, std::string sentence) : code(c), message(std::move(sentence)) {}

  /// Sets `system_errno`, and appends ": " and the system's text for it to the message.
  [[nodiscard]] error&& with_errno(int errno_value) &&;
  /// Sets the address.
  [[nodiscard]] error&& at(target_address where) &&;
  /// Sets the path.
  [[nodiscard]] error&& on(std::string file) &&;
  /// Puts the current task in front of the message: "reading the process table: " + message.
  [[nodiscard]] error&& while_doing(std::string_view what) &&;
};

/// A value, or the reason why there is none. Normal absence ("this program has no such symbol") is no error: then the
/// value is an empty optional.
template <class T>
using result = tl::expected<T, error>;

/// Returns an error from a function that returns a result: `return fail(error{...});`.
[[nodiscard]] inline tl::unexpected<error> fail(error e) {
  return tl::unexpected<error>(std::move(e));
}
/// Returns an error with this code and sentence.
[[nodiscard]] inline tl::unexpected<error> fail(error_code code, std::string sentence) {
  return tl::unexpected<error>(error{code, std::move(sentence)});
}

}  // namespace mpiacq
