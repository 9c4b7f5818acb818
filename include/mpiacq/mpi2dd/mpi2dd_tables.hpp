// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/address.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/job/process_table.hpp"
#include "mpiacq/process/symbols.hpp"

/// The tables of MPI2DD: process descriptors with their spawn descriptors, and directory entries. Each is read in large
/// pieces into columns; each distinct string is kept once. What is wrong with a field stays with that field.
namespace mpiacq::mpi2dd {

/// The fields of MPI2DD_PROCDESC, MPI2DD_SPAWNDESC and MPI2DD_DIRECTORYENTRY.
enum class table_field : std::uint8_t {
  host_name,
  executable_name,
  spawn_desc,
  comm_world_id,
  pid,
  rank,
  parent_comm_world_id,
  parent_rank,
  sequence,
};
[[nodiscard]] std::string_view name(table_field field);

enum class entry_fault : std::uint8_t {
  null_pointer,      ///< comm_world_id, parent_comm_world_id: nothing says which world (a null host is the table's own)
  empty,             ///< the same, as a string of no bytes
  unreadable,        ///< the pointer, or a page that the string runs into, cannot be read
  too_long,          ///< no terminator within the limit
  beyond_limit,      ///< all strings of the table together passed their limit before this one
  impossible_number  ///< a pid that is not positive; a rank or sequence below 0
};

/// What is wrong with one field of one entry. The rest of the entry and of the table stand.
struct entry_problem {
  std::uint32_t entry = 0;
  table_field field = table_field::host_name;
  entry_fault fault = entry_fault::null_pointer;
  target_address address;     ///< what the field points to; of a number or a null pointer the structure's own
  target_address stopped_at;  ///< unreadable: the first byte that is not there
  std::int32_t value = 0;     ///< impossible_number: as published

  /// "comm_world_id of entry 3: the pointer 0x10 cannot be read"
  [[nodiscard]] std::string sentence() const;
};

/// Strings by number: fields with equal numbers share the string. Numbers from `unreadable_string` on name none.
inline constexpr std::uint32_t no_string = UINT32_MAX;              ///< the pointer is null
inline constexpr std::uint32_t unreadable_string = UINT32_MAX - 1;  ///< a problem says why
inline constexpr std::uint32_t no_spawn = UINT32_MAX;               ///< made by a starter
inline constexpr std::uint32_t unreadable_spawn = UINT32_MAX - 1;

/// What every table has beside its entries.
struct table_facts {
  target_address address;
  std::int64_t claimed = 0;  ///< how many entries the info block claims
  /// In order of entries. At most `table_limits::max_problems`; `problem_count` counts all.
  std::vector<entry_problem> problems;
  std::size_t problem_count = 0;
  /// It claims more entries than memory holds, or than the limit: those that are there were read.
  std::optional<error> shortfall;
};

/// How the group that a process belongs to was spawned (MPI2DD_SPAWNDESC).
struct spawn_description {
  std::uint32_t parent_world = no_string;  ///< a string's number
  std::int32_t parent_rank = 0;
  std::int32_t sequence = 0;
};

/// A directory's process table. 24 bytes an entry beside the strings. Spans and views live as long as the table.
class process_entries {
 public:
  process_entries();
  ~process_entries();
  process_entries(process_entries&&) noexcept;
  process_entries& operator=(process_entries&&) noexcept;

  [[nodiscard]] std::size_t size() const { return pids().size(); }
  [[nodiscard]] std::span<const std::uint32_t> hosts() const;        ///< string numbers
  [[nodiscard]] std::span<const std::uint32_t> executables() const;  ///< string numbers
  [[nodiscard]] std::span<const std::uint32_t> worlds() const;       ///< string numbers of comm_world_id
  [[nodiscard]] std::span<const std::uint32_t> spawns() const;       ///< numbers in `spawn_descriptions`
  [[nodiscard]] std::span<const std::int32_t> pids() const;          ///< as published
  [[nodiscard]] std::span<const std::int32_t> ranks() const;         ///< as published
  /// One for each distinct address: they may be equal.
  [[nodiscard]] std::span<const spawn_description> spawn_descriptions() const;
  [[nodiscard]] std::size_t string_count() const;
  [[nodiscard]] std::string_view string(std::uint32_t number) const;
  [[nodiscard]] const table_facts& facts() const;

  struct columns;  // the room's own view
  explicit process_entries(std::unique_ptr<columns> c);

 private:
  std::unique_ptr<columns> columns_;
};

/// The distance of directory entries. The draft packs them; its C declaration, compiled plainly for 64 bits, does not.
struct entry_stride {
  std::size_t bytes = 0;
  layout_source source = layout_source::fixed;  ///< fixed: there is no choice; inferred: by the entries themselves
  std::string why;                              ///< a sentence without a full stop
};

/// A table of directories or metadirectories. 12 bytes an entry beside the strings.
class directory_entries {
 public:
  directory_entries();
  ~directory_entries();
  directory_entries(directory_entries&&) noexcept;
  directory_entries& operator=(directory_entries&&) noexcept;

  [[nodiscard]] std::size_t size() const { return pids().size(); }
  [[nodiscard]] std::span<const std::uint32_t> hosts() const;
  [[nodiscard]] std::span<const std::uint32_t> executables() const;
  [[nodiscard]] std::span<const std::int32_t> pids() const;
  [[nodiscard]] std::size_t string_count() const;
  [[nodiscard]] std::string_view string(std::uint32_t number) const;
  [[nodiscard]] const table_facts& facts() const;
  [[nodiscard]] const entry_stride& stride() const;

  struct columns;
  explicit directory_entries(std::unique_ptr<columns> c);

 private:
  std::unique_ptr<columns> columns_;
};

/// Reads a process table of `claimed` entries at `base`. None make an empty table, whatever the address. Errors:
/// unreadable_memory (not even the first entry can be read), bad_format (fewer than none), process_gone, permission.
[[nodiscard]] result<process_entries> read_process_entries(memory_reader& memory, const target_abi& abi,
                                                           target_address base, std::int32_t claimed,
                                                           const table_limits& limits = {});

/// Reads a table of directory entries. The stride is that of the type MPI2DD_DIRECTORYENTRY in the debug information of
/// the module of `info` (MPI2DD_info), where there is some; else the one with which every entry has strings that can be
/// read and a pid that can be one; packed where both have. Where neither has, the one with more such entries.
/// Errors as `read_process_entries`.
[[nodiscard]] result<directory_entries> read_directory_entries(const target& process, const symbol& info,
                                                               target_address base, std::int32_t claimed,
                                                               const table_limits& limits = {});

/// The same with a stride that is known: from an earlier table of this program.
[[nodiscard]] result<directory_entries> read_directory_entries(memory_reader& memory, const target_abi& abi,
                                                               const entry_stride& stride, target_address base,
                                                               std::int32_t claimed, const table_limits& limits = {});

/// A process table as plain values, in the words of `process_entries`.
struct process_rows {
  std::vector<std::uint32_t> hosts, executables, worlds, spawns;
  std::vector<std::int32_t> pids, ranks;
  std::vector<spawn_description> spawn_descriptions;
  std::vector<std::string> strings;
  table_facts facts;
};
/// A table that was read elsewhere. Errors: bad_format (columns of different lengths, a number of a string or a spawn
/// that is not there, a string that is there twice, a problem of no entry).
[[nodiscard]] result<process_entries> make_process_entries(process_rows rows);

/// The same of directories or metadirectories.
struct directory_rows {
  std::vector<std::uint32_t> hosts, executables;
  std::vector<std::int32_t> pids;
  std::vector<std::string> strings;
  table_facts facts;
  entry_stride stride;
};
[[nodiscard]] result<directory_entries> make_directory_entries(directory_rows rows);

}  // namespace mpiacq::mpi2dd
