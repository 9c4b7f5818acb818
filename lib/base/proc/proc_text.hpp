// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Parsers of the texts that the kernel writes into /proc/PID. A process chooses parts of these texts itself (its name,
// its arguments, its environment): every parser accepts any bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/ids.hpp"

namespace mpiacq {

/// Whether a process runs. A zombie is gone: only its exit status is left. `unknown`: /proc cannot be read, for example
/// because this program has no file descriptor left.
enum class run_state : unsigned char { running, stopped, traced, gone, unknown };

/// More bytes than /proc/PID/stat ever has: 52 fields.
inline constexpr std::size_t most_of_stat = 4096;

/// The fields of /proc/PID/stat that mpiacq uses (proc_pid_stat(5)). A number that the kernel does not show is 0.
struct process_stat {
  std::string name;  ///< at most 15 bytes, chosen by the process
  char state = 0;    ///< field 3: 'R', 'S', 'D', 'T', 't', 'Z', ...
  process_id parent;
  std::uint64_t group = 0;                     ///< field 5: its process group
  std::uint64_t session = 0;                   ///< field 6
  std::uint64_t flags = 0;                     ///< field 9: PF_* of include/linux/sched.h
  std::uint64_t faults_of_ended_children = 0;  ///< field 11: minor page faults of the children that were waited for
  std::uint64_t start_time = 0;                ///< field 22: clock ticks after the start of the machine
  std::uint64_t memory_size = 0;               ///< field 23: bytes
  std::uint64_t code_begin = 0;                ///< field 26
  std::uint64_t code_end = 0;                  ///< field 27
  std::uint64_t stack_begin = 0;               ///< field 28: the stack pointer at the process's first instruction
  /// Fields 48 to 51: where the arguments and the environment begin and end.
  std::array<std::uint64_t, 4> words{};

  [[nodiscard]] run_state run() const;
  [[nodiscard]] bool has_ended() const { return run() == run_state::gone; }
  friend bool operator==(const process_stat&, const process_stat&) = default;
};
/// Empty if the text has no state, no parent or no start time.
[[nodiscard]] std::optional<process_stat> parse_process_stat(std::string_view stat);

/// The nanoseconds for which a thread has used a processor, from /proc/PID/schedstat; empty if the text has no number.
[[nodiscard]] std::optional<std::uint64_t> parse_schedstat(std::string_view schedstat);

/// The rest of the line "NAME:" of /proc/PID/status, without the blanks before it; empty if there is no such line. A
/// process cannot forge a line: the first line is its name, in which the kernel escapes newlines.
[[nodiscard]] std::optional<std::string_view> status_line(std::string_view status, std::string_view name);

/// Takes a number, and the blanks before it, from the front of a text.
[[nodiscard]] std::optional<std::int64_t> take_number(std::string_view& text);

/// The line "NSpid:" of /proc/PID/status: the process's number in each pid namespace, from the reader's to its own.
[[nodiscard]] std::vector<process_id> parse_namespace_pids(std::string_view status);

/// The number in "pid:[4026531836]", as the links of /proc/PID/ns have it.
[[nodiscard]] std::optional<std::uint64_t> parse_namespace_link(std::string_view link);

/// Calls `with` for each of the strings of an environment or a command line until `with` returns true. Each string ends
/// with a null byte; the last one may lack it.
template <class With>
bool any_of_strings(std::string_view all, With with) {
  while (!all.empty()) {
    const std::string_view one = all.substr(0, all.find('\0'));
    if (with(one)) return true;
    all.remove_prefix(std::min(one.size() + 1, all.size()));
  }
  return false;
}
[[nodiscard]] std::vector<std::string> split_strings(std::string_view all);

/// The value of the first variable of this name, as getenv(3) finds it.
[[nodiscard]] std::optional<std::string_view> variable_in(std::string_view environment, std::string_view name);

}  // namespace mpiacq
