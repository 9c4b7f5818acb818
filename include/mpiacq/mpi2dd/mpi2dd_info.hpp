// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// MPI2DD, "an interface between a debugger and an MPI implementation", draft of January 2007: the info block of one
/// process. docs/mpi2dd.md says how the draft is read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/address.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/process/symbols.hpp"

namespace mpiacq::mpi2dd {

/// The symbols of the interface: the info block, and the function that a process calls to raise an event.
inline constexpr std::string_view info_symbol = "MPI2DD_info";
inline constexpr std::string_view breakpoint_symbol = "MPI2DD_breakpoint";

inline constexpr std::array<std::uint8_t, 5> magic = {'M', 'P', 'I', '2', 0x7f};
inline constexpr std::uint8_t known_version = 1;
inline constexpr std::uint8_t known_variant = 1;

/// Why a process has called MPI2DD_breakpoint (MPI2DD_DEBUG_...). It is a byte of the target, so it may have other
/// values.
enum class debug_state : std::uint8_t {
  none = 0,  ///< not defined by the draft: the value before the first call
  start = 1,
  spawn = 2,
  connect = 3,
  accept = 4,
  join = 5,
  directory_changed = 6,
  metadirectory_changed = 7,
  abort = 8,
};

/// Bits that the debugger writes, in `debugger_flags` (MPI2DD_FLAG_...).
enum class debugger_flag : std::uint32_t {
  gate = 0x01,                      ///< the debugger has acquired the process: it may leave MPI_Init
  being_debugged = 0x02,            ///< a debugger is attached to the starter
  request_directory_events = 0x04,  ///< call the breakpoint for changes of directories and metadirectories
};

/// Bits that the MPI implementation writes, in `mpi_flags` (MPI2DD_MPIFLAG_...).
enum class mpi_flag : std::uint32_t {
  i_am_metadir = 0x01,
  i_am_dir = 0x02,
  i_am_starter = 0x04,
  force_to_main = 0x08,      ///< acquired before main: the tool should show main
  ignore_queue = 0x10,       ///< no message queue debugging
  acquired_pre_main = 0x20,  ///< the ranks are attached before main
  partial_attach_ok = 0x40,  ///< continuing the initial process starts the job
};

/// A value and its name in the draft.
template <class Value>
struct named {
  Value value;
  std::string_view name;
};
/// All states with their names.
[[nodiscard]] std::span<const named<debug_state>> debug_states();
/// All flags of the debugger with their names.
[[nodiscard]] std::span<const named<debugger_flag>> debugger_flags();
/// All flags of the MPI with their names.
[[nodiscard]] std::span<const named<mpi_flag>> mpi_flags();

/// "MPI2DD_DEBUG_SPAWN"; empty for a byte that the draft does not define.
[[nodiscard]] std::string_view name(debug_state state);
/// "MPI2DD_FLAG_GATE"; empty for a bit that the draft does not define.
[[nodiscard]] std::string_view name(debugger_flag flag);
/// "MPI2DD_MPIFLAG_I_AM_DIR"; empty for a bit that the draft does not define.
[[nodiscard]] std::string_view name(mpi_flag flag);

/// A word of flags. It keeps bits that the draft does not define.
template <class Flag>
class flag_set {
 public:
  constexpr flag_set() = default;
  /// The flags of a word.
  constexpr explicit flag_set(std::uint32_t bits) : bits_(bits) {}
  /// The word.
  [[nodiscard]] constexpr std::uint32_t bits() const { return bits_; }
  /// Whether a flag is set.
  [[nodiscard]] constexpr bool has(Flag flag) const { return (bits_ & static_cast<std::uint32_t>(flag)) != 0; }
  /// The same word with a flag set.
  [[nodiscard]] constexpr flag_set with(Flag flag) const { return flag_set{bits_ | static_cast<std::uint32_t>(flag)}; }
  /// The same word with a flag cleared.
  [[nodiscard]] constexpr flag_set without(Flag flag) const {
    return flag_set{bits_ & ~static_cast<std::uint32_t>(flag)};
  }
  friend constexpr bool operator==(flag_set, flag_set) = default;

 private:
  std::uint32_t bits_ = 0;
};
/// The bits that the draft does not define.
[[nodiscard]] std::uint32_t unknown_bits(flag_set<debugger_flag> flags);
/// The bits that the draft does not define.
[[nodiscard]] std::uint32_t unknown_bits(flag_set<mpi_flag> flags);
/// The names of the flags joined by " | ", with other bits as one hexadecimal number; "0" for none.
[[nodiscard]] std::string text(flag_set<debugger_flag> flags);
/// The same for the flags of the MPI.
[[nodiscard]] std::string text(flag_set<mpi_flag> flags);

/// The offsets of the fields of MPI2DD_INFO in bytes. The draft defines them for both byte orders; an address has the
/// width of the target.
struct info_layout {
  std::size_t size = 128;
  std::size_t debug_state = 7;
  std::size_t debugger_flags = 8;
  std::size_t mpi_flags = 12;
  std::size_t addresses = 16;  ///< the first of eight
  std::size_t counts = 80;     ///< proctable_size and the three integers behind it
  std::size_t padding = 96;
};
/// The layout for a `pointer_size` of 4 or 8: 96 or 128 bytes.
[[nodiscard]] constexpr info_layout layout_of_info(std::size_t pointer_size) {
  const std::size_t counts = 16 + 8 * pointer_size;
  return {counts + 16 + 32, 7, 8, 12, 16, counts, counts + 16};
}

/// MPI2DD_INFO, decoded. Only the magic and the version have been checked.
struct info_block {
  std::uint8_t version = 0;
  std::uint8_t variant = 0;
  mpi2dd::debug_state state = debug_state::none;
  flag_set<debugger_flag> debugger_flags;
  flag_set<mpi_flag> mpi_flags;
  target_address dll_name_32;
  target_address dll_name_64;
  target_address meta_host_name;
  target_address meta_executable_name;
  target_address abort_string;
  target_address proctable;
  target_address directory_table;
  target_address metadirectory_table;
  std::int32_t proctable_size = 0;
  std::int32_t directory_size = 0;
  std::int32_t metadirectory_size = 0;
  std::int32_t meta_pid = 0;
  std::array<std::byte, 32> padding{};  ///< reserved, and for the vendor

  friend bool operator==(const info_block&, const info_block&) = default;
};

/// The largest size in bytes of a string of the info block (a path, a host name, an abort message).
inline constexpr std::size_t max_info_string = 32768;

/// The info block of a process, with its strings.
struct process_info {
  target_address address;  ///< the address of MPI2DD_info
  info_block block;
  // A string is empty if its pointer is null or cannot be followed (a warning says so).
  std::optional<std::string> queue_library_32;  ///< the message queue DLL for debuggers of 32 bits
  std::optional<std::string> queue_library_64;
  std::optional<std::string> meta_host;
  std::optional<std::string> meta_executable;
  std::optional<std::string> abort_reason;
  /// In a container: the number that this program uses for the process `block.meta_pid`.
  std::optional<std::int32_t> meta_pid_here;
  /// Faults that did not prevent the reading: another variant, an unreadable string, a symbol of another size.
  std::vector<error> warnings;

  /// The pid of the metadirectory, as this program uses it.
  [[nodiscard]] std::int32_t metadirectory_pid() const { return meta_pid_here.value_or(block.meta_pid); }
  /// Whether it names a metadirectory.
  [[nodiscard]] bool has_metadirectory() const { return meta_host.has_value() && block.meta_pid > 0; }
};

/// The symbol MPI2DD_info; empty if the target does not have this interface. Errors as `symbol_source::look_up`.
[[nodiscard]] result<std::optional<symbol>> find_info(const target& process);

/// Reads only the block, with one read. Errors: unreadable_memory; bad_format (another magic); unsupported (an unknown
/// version, whose fields may be elsewhere); process_gone, permission.
[[nodiscard]] result<info_block> read_info_block(const target& process, target_address address);

/// Reads the block and its strings, with a few reads. Errors as `read_info_block`.
[[nodiscard]] result<process_info> read_info(const target& process, const symbol& info);

/// Finds and reads the block; empty if the target does not have this interface.
[[nodiscard]] result<std::optional<process_info>> read_info(const target& process);

}  // namespace mpiacq::mpi2dd
