// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

#include "mpiacq/base/address.hpp"

namespace mpiacq {

/// What kind of thing went wrong: what a program switches on. The sentence in `error::message` is for people.
enum class error_code : std::uint8_t {
  invalid_argument,   ///< the caller asked for something that makes no sense
  not_found,          ///< a file, program or process that was named is not there
  permission,         ///< the system refuses; the message names the setting that does
  process_gone,       ///< the process ended, or was replaced, before or while it was looked at
  busy,               ///< somebody else holds it (another tracer)
  exec_failed,        ///< a program was found but could not be run
  bad_format,         ///< foreign bytes (ELF, DWARF, a table, a link map) contradict themselves
  unreadable_memory,  ///< target memory at `error::address` cannot be read or written
  limit,              ///< a bound of ours was met; the message names it
  timed_out,          ///< the deadline passed
  wrong_thread,       ///< a tracee was touched from a thread that does not own it
  unsupported,        ///< this kernel, machine or file kind cannot be served
  system,             ///< any other failed system call; see `error::system_errno`
};

/// The code's name as it stands above, for logs and JSON.
[[nodiscard]] std::string_view name(error_code code);

/// A failure as a value: what a program needs to decide, and a sentence that a person can act on.
struct error {
  error_code code = error_code::system;
  int system_errno = 0;                   ///< the failing call's errno, 0 where no system call failed
  std::optional<target_address> address;  ///< the target address it happened at, where there is one
  std::string path;                       ///< the file it happened on, empty where there is none
  std::string message;                    ///< what was tried, on what, what was said, what to do; no full stop

  error() = default;
  error(error_code c, std::string sentence) : code(c), message(std::move(sentence)) {}

  /// Adds ": " and the system's own words for `errno_value` to the message.
  [[nodiscard]] error&& with_errno(int errno_value) &&;
  [[nodiscard]] error&& at(target_address where) &&;
  [[nodiscard]] error&& on(std::string file) &&;
  /// Puts what was being done in front: "reading the process table: " + message.
  [[nodiscard]] error&& while_doing(std::string_view what) &&;
};

/// A T, or the reason why there is none. Absence that is normal ("this image has no such symbol") is not an error but
/// an empty optional inside the result.
template <class T>
using result = tl::expected<T, error>;

/// `return fail(error{...});` from any function that gives a result.
[[nodiscard]] inline tl::unexpected<error> fail(error e) {
  return tl::unexpected<error>(std::move(e));
}
[[nodiscard]] inline tl::unexpected<error> fail(error_code code, std::string sentence) {
  return tl::unexpected<error>(error{code, std::move(sentence)});
}

}  // namespace mpiacq
