// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The tables of MPI2DD: process descriptors with their spawn descriptors, and directory entries. Tables are read in
/// large pieces into columns, and each distinct string is kept once. A fault of a field stays with that field.
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
/// The name of the field in the draft.
[[nodiscard]] std::string_view name(table_field field);

/// What is wrong with a field.
enum class entry_fault : std::uint8_t {
  null_pointer,      ///< comm_world_id, parent_comm_world_id: the world is not known (a null host is the table's own)
  empty,             ///< as null_pointer, with an empty string
  unreadable,        ///< the pointer, or a page that the string extends into, cannot be read
  too_long,          ///< no terminator within the limit
  beyond_limit,      ///< the limit for all strings of the table was reached before this one
  impossible_number  ///< a pid that is not positive, or a negative rank or sequence
};

/// A fault of one field of one entry. The rest of the entry and of the table are valid.
struct entry_problem {
  std::uint32_t entry = 0;
  table_field field = table_field::host_name;
  entry_fault fault = entry_fault::null_pointer;
  target_address address;     ///< where the field points; for a number or a null pointer, the address of the structure
  target_address stopped_at;  ///< unreadable: the first unreadable byte
  std::int32_t value = 0;     ///< impossible_number: as published

  /// For people: "comm_world_id of entry 3: the pointer 0x10 cannot be read".
  [[nodiscard]] std::string sentence() const;
};

/// Strings have numbers: fields with equal numbers have the same string. These numbers mean that there is no string or
/// spawn.
inline constexpr std::uint32_t no_string = UINT32_MAX;              ///< the pointer is null
inline constexpr std::uint32_t unreadable_string = UINT32_MAX - 1;  ///< a problem says why
inline constexpr std::uint32_t no_spawn = UINT32_MAX;               ///< created by a starter
inline constexpr std::uint32_t unreadable_spawn = UINT32_MAX - 1;

/// What every table has in addition to its entries.
struct table_facts {
  target_address address;
  std::int64_t claimed = 0;  ///< the number of entries by the info block
  /// In the order of entries, at most `table_limits::max_problems`.
  std::vector<entry_problem> problems;
  std::size_t problem_count = 0;  ///< of all problems
  /// The table claims more entries than memory holds or the limit allows: why only the first were read.
  std::optional<error> shortfall;
};

/// How the group that a process belongs to was spawned (MPI2DD_SPAWNDESC).
struct spawn_description {
  std::uint32_t parent_world = no_string;  ///< the number of a string
  std::int32_t parent_rank = 0;
  std::int32_t sequence = 0;
};

struct process_columns;
struct directory_columns;

/// The process table of a directory. An entry takes 24 bytes plus strings. Spans and views are valid as long as the
/// table.
class process_entries {
 public:
  process_entries();
  ~process_entries();
  process_entries(process_entries&&) noexcept;
  process_entries& operator=(process_entries&&) noexcept;

  /// The number of entries. Each column has so many elements.
  [[nodiscard]] std::size_t size() const { return pids().size(); }
  [[nodiscard]] std::span<const std::uint32_t> hosts() const;        ///< string numbers
  [[nodiscard]] std::span<const std::uint32_t> executables() const;  ///< string numbers
  [[nodiscard]] std::span<const std::uint32_t> worlds() const;       ///< string numbers of comm_world_id
  [[nodiscard]] std::span<const std::uint32_t> spawns() const;       ///< numbers in `spawn_descriptions`
  [[nodiscard]] std::span<const std::int32_t> pids() const;          ///< as published
  [[nodiscard]] std::span<const std::int32_t> ranks() const;         ///< as published
  /// One for each distinct address; two may be equal.
  [[nodiscard]] std::span<const spawn_description> spawn_descriptions() const;
  /// The number of strings.
  [[nodiscard]] std::size_t string_count() const;
  /// The string with this number.
  [[nodiscard]] std::string_view string(std::uint32_t number) const;
  /// The facts of the table.
  [[nodiscard]] const table_facts& facts() const;

 private:
  friend class table_access;
  explicit process_entries(std::unique_ptr<process_columns> c);
  std::unique_ptr<process_columns> columns_;
};

/// The distance of directory entries. The draft packs them; its C declaration compiled for 64 bits does not.
struct entry_stride {
  std::size_t bytes = 0;
  layout_source source = layout_source::fixed;  ///< fixed: there is no choice; inferred: from the entries
  std::string why;                              ///< a sentence without a full stop
};

/// A table of directories or metadirectories. An entry takes 12 bytes plus strings. Spans and views are valid as long
/// as the table.
class directory_entries {
 public:
  directory_entries();
  ~directory_entries();
  directory_entries(directory_entries&&) noexcept;
  directory_entries& operator=(directory_entries&&) noexcept;

  /// The number of entries. Each column has so many elements.
  [[nodiscard]] std::size_t size() const { return pids().size(); }
  [[nodiscard]] std::span<const std::uint32_t> hosts() const;        ///< string numbers
  [[nodiscard]] std::span<const std::uint32_t> executables() const;  ///< string numbers
  [[nodiscard]] std::span<const std::int32_t> pids() const;          ///< as published
  /// The number of strings.
  [[nodiscard]] std::size_t string_count() const;
  /// The string with this number.
  [[nodiscard]] std::string_view string(std::uint32_t number) const;
  /// The facts of the table.
  [[nodiscard]] const table_facts& facts() const;
  /// The distance of the entries.
  [[nodiscard]] const entry_stride& stride() const;

 private:
  friend class table_access;
  explicit directory_entries(std::unique_ptr<directory_columns> c);
  std::unique_ptr<directory_columns> columns_;
};

/// Reads a process table of `claimed` entries at `base`. With 0 entries the address does not matter. Errors:
/// unreadable_memory (not even the first entry can be read), bad_format (`claimed` is negative), process_gone,
/// permission.
[[nodiscard]] result<process_entries> read_process_entries(memory_reader& memory, const target_abi& abi,
                                                           target_address base, std::int32_t claimed,
                                                           const table_limits& limits = {});

/// Reads a table of directory entries. The stride is the size of the type MPI2DD_DIRECTORYENTRY in the debug
/// information of the module of `info` (MPI2DD_info). Without debug information it is the stride at which every entry
/// has readable strings and a possible pid; packed if both strides do; the one with more such entries if neither does.
/// Errors as `read_process_entries`.
[[nodiscard]] result<directory_entries> read_directory_entries(const target& process, const symbol& info,
                                                               target_address base, std::int32_t claimed,
                                                               const table_limits& limits = {});

/// The same with a known stride, from an earlier table of this program.
[[nodiscard]] result<directory_entries> read_directory_entries(memory_reader& memory, const target_abi& abi,
                                                               const entry_stride& stride, target_address base,
                                                               std::int32_t claimed, const table_limits& limits = {});

/// A process table as plain values; the columns are those of `process_entries`.
struct process_rows {
  std::vector<std::uint32_t> hosts, executables, worlds, spawns;
  std::vector<std::int32_t> pids, ranks;
  std::vector<spawn_description> spawn_descriptions;
  std::vector<std::string> strings;
  table_facts facts;
};
/// Makes a table from values that were read elsewhere. Errors: bad_format (columns of different lengths, an unknown
/// number of a string or spawn, a string that occurs twice, a problem of no entry).
[[nodiscard]] result<process_entries> make_process_entries(process_rows rows);

/// A table of directories or metadirectories as plain values.
struct directory_rows {
  std::vector<std::uint32_t> hosts, executables;
  std::vector<std::int32_t> pids;
  std::vector<std::string> strings;
  table_facts facts;
  entry_stride stride;
};
/// Makes a table from values that were read elsewhere. Errors as `make_process_entries`.
[[nodiscard]] result<directory_entries> make_directory_entries(directory_rows rows);

}  // namespace mpiacq::mpi2dd
