// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
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

/// MPI2DD, "an interface between a debugger and an MPI implementation", the draft of January 2007: the info block of
/// one process. docs/mpi2dd.md says how what the draft leaves open is read here.
namespace mpiacq::mpi2dd {

/// The symbols of the interface: the info block, and the function that is called at points of interest.
inline constexpr std::string_view info_symbol = "MPI2DD_info";
inline constexpr std::string_view breakpoint_symbol = "MPI2DD_breakpoint";

inline constexpr std::array<std::uint8_t, 5> magic = {'M', 'P', 'I', '2', 0x7f};
inline constexpr std::uint8_t known_version = 1;
inline constexpr std::uint8_t known_variant = 1;

/// Why MPI2DD_breakpoint was called (MPI2DD_DEBUG_...). A byte of the target: it may be none of these.
enum class debug_state : std::uint8_t {
  none = 0,  ///< not the draft's: the byte before the first call
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
  gate = 0x01,                      ///< the process has been acquired: it may leave MPI_Init
  being_debugged = 0x02,            ///< a debugger is attached to the starter
  request_directory_events = 0x04,  ///< call the breakpoint for changes of directories and metadirectories
};

/// Bits that the MPI implementation writes, in `mpi_flags` (MPI2DD_MPIFLAG_...).
enum class mpi_flag : std::uint32_t {
  i_am_metadir = 0x01,
  i_am_dir = 0x02,
  i_am_starter = 0x04,
  force_to_main = 0x08,      ///< acquired before main: show main
  ignore_queue = 0x10,       ///< no message queue debugging
  acquired_pre_main = 0x20,  ///< the ranks are attached before main
  partial_attach_ok = 0x40,  ///< continuing the initial process starts the job
};

/// One row of the tables that names are made from: the draft's own spelling.
template <class Value>
struct named {
  Value value;
  std::string_view name;
};
[[nodiscard]] std::span<const named<debug_state>> debug_states();
[[nodiscard]] std::span<const named<debugger_flag>> debugger_flags();
[[nodiscard]] std::span<const named<mpi_flag>> mpi_flags();

/// "MPI2DD_DEBUG_SPAWN"; empty for a byte that the draft does not define.
[[nodiscard]] std::string_view name(debug_state state);
[[nodiscard]] std::string_view name(debugger_flag flag);
[[nodiscard]] std::string_view name(mpi_flag flag);

/// A word of flags: known ones by name, and whatever other bits stand beside them, which are kept.
template <class Flag>
class flag_set {
 public:
  constexpr flag_set() = default;
  constexpr explicit flag_set(std::uint32_t bits) : bits_(bits) {}
  [[nodiscard]] constexpr std::uint32_t bits() const { return bits_; }
  [[nodiscard]] constexpr bool has(Flag flag) const { return (bits_ & static_cast<std::uint32_t>(flag)) != 0; }
  [[nodiscard]] constexpr flag_set with(Flag flag) const { return flag_set{bits_ | static_cast<std::uint32_t>(flag)}; }
  [[nodiscard]] constexpr flag_set without(Flag flag) const {
    return flag_set{bits_ & ~static_cast<std::uint32_t>(flag)};
  }
  friend constexpr bool operator==(flag_set, flag_set) = default;

 private:
  std::uint32_t bits_ = 0;
};
/// The bits that the draft does not define.
[[nodiscard]] std::uint32_t unknown_bits(flag_set<debugger_flag> flags);
[[nodiscard]] std::uint32_t unknown_bits(flag_set<mpi_flag> flags);
/// The draft's names, with " | " between them; other bits as one hexadecimal number; "0" for none.
[[nodiscard]] std::string text(flag_set<debugger_flag> flags);
[[nodiscard]] std::string text(flag_set<mpi_flag> flags);

/// Where the fields of MPI2DD_INFO stand, in bytes from its beginning: laid down by the draft, the same for both byte
/// orders; an address has the target's width.
struct info_layout {
  std::size_t size = 128;
  std::size_t debug_state = 7;
  std::size_t debugger_flags = 8;
  std::size_t mpi_flags = 12;
  std::size_t addresses = 16;  ///< the eight of them
  std::size_t counts = 80;     ///< proctable_size and the three integers behind it
  std::size_t padding = 96;
};
/// `pointer_size` is 4 or 8: 96 bytes or 128.
[[nodiscard]] constexpr info_layout layout_of_info(std::size_t pointer_size) {
  const std::size_t counts = 16 + 8 * pointer_size;
  return {counts + 16 + 32, 7, 8, 12, 16, counts, counts + 16};
}

/// MPI2DD_INFO, decoded. Nothing in it has been judged but magic and version.
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
  std::array<std::byte, 32> padding{};  ///< reserved, and the vendor's

  friend bool operator==(const info_block&, const info_block&) = default;
};

/// Bytes of one string of the info block (a path, a host name, an abort message).
inline constexpr std::size_t max_info_string = 32768;

/// The info block of a process, with its strings.
struct process_info {
  target_address address;  ///< of MPI2DD_info
  info_block block;
  // Empty where the pointer is null, or could not be followed (a warning says so).
  std::optional<std::string> queue_library_32;  ///< the message queue DLL for debuggers of 32 bits
  std::optional<std::string> queue_library_64;
  std::optional<std::string> meta_host;
  std::optional<std::string> meta_executable;
  std::optional<std::string> abort_reason;
  /// What is not as the draft has it, and did not keep the block from being read: another variant, a string that cannot
  /// be read, a symbol of another size.
  std::vector<error> warnings;

  [[nodiscard]] bool has_metadirectory() const { return meta_host.has_value() && block.meta_pid > 0; }
};

/// Where MPI2DD_info is; empty where the target has no such symbol: it does not speak this interface.
[[nodiscard]] result<std::optional<symbol>> find_info(const target& process);

/// Only the block, in one read. Errors: unreadable_memory; bad_format (the magic is another); unsupported (a version
/// that is not known here, whose fields may stand elsewhere); process_gone, permission.
[[nodiscard]] result<info_block> read_info_block(const target& process, target_address address);

/// The block and its strings, in a handful of reads. Errors as `read_info_block`.
[[nodiscard]] result<process_info> read_info(const target& process, const symbol& info);

/// `find_info` and `read_info`.
[[nodiscard]] result<std::optional<process_info>> read_info(const target& process);

}  // namespace mpiacq::mpi2dd
