// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The process table of a job: host, executable and pid of each entry, and what is wrong in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpiacq/base/address.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/job/rank_names.hpp"
#include "mpiacq/process/symbols.hpp"

namespace mpiacq {

/// The fields of a process descriptor (MPIR 1.1, 9.2).
enum class descriptor_field : std::uint8_t { host_name, executable_name, pid };
/// The name of the field in the document.
[[nodiscard]] std::string_view name(descriptor_field field);

/// What is wrong with a field.
enum class field_fault : std::uint8_t {
  null_pointer,    ///< the string pointer is 0
  unreadable,      ///< the pointer, or a page that the string extends into, cannot be read
  too_long,        ///< no terminator within the limit
  beyond_limit,    ///< the limit for all strings of the table was reached before this one
  implausible_pid  ///< 0, negative, or more than the largest pid of Linux (2^22)
};

/// A fault of one field of one entry. The rest of the entry and of the table are valid.
struct field_problem {
  entry_index entry;
  descriptor_field field = descriptor_field::host_name;
  field_fault fault = field_fault::null_pointer;
  target_address address;     ///< where the field points; for a null pointer and a pid, the address of the field
  target_address stopped_at;  ///< unreadable: the first unreadable byte of the string
  process_id pid;             ///< implausible_pid: as published

  /// For people: "host_name of rank 3: the pointer 0x10 cannot be read".
  [[nodiscard]] std::string sentence(const rank_names& names = {}) const;
};

/// An MPI_COMM_WORLD of an MPI2DD job.
struct job_world {
  std::string id;  ///< the bytes of its comm_world_id
  /// The spawn that created it (MPI2DD_SPAWNDESC).
  struct origin {
    std::string world;  ///< comm_world_id of the parent; empty if it could not be read
    rank_number rank{0};
    std::int32_t sequence = 0;
    friend bool operator==(const origin&, const origin&) = default;
  };
  std::optional<origin> spawned_by;  ///< empty if a starter created it
  friend bool operator==(const job_world&, const job_world&) = default;
};

struct process_table_columns;

/// The process table of a job, in columns. Entry i is rank i in MPI_COMM_WORLD (MPIR 1.1, 9.4). In a table from an
/// MPI2DD graph, entries are in the order of worlds and ranks, and `names` says which rank an entry is. Each distinct
/// string is kept once. An entry takes 12 bytes plus strings (16 if pids have more than 32 bits; 8 more with worlds).
///
/// Thread: one at a time; several threads may make const calls at the same time.
class process_table {
 public:
  process_table();
  ~process_table();
  process_table(process_table&&) noexcept;
  process_table& operator=(process_table&&) noexcept;

  /// The number of entries.
  [[nodiscard]] std::size_t size() const;
  /// Whether there are no entries.
  [[nodiscard]] bool empty() const { return size() == 0; }
  /// The entries in order, for a loop.
  [[nodiscard]] entry_range entries() const { return entry_range{size()}; }

  /// The host of an entry; empty if it could not be read (`problems` says why). The view is valid as long as the table.
  [[nodiscard]] std::optional<std::string_view> host_name(entry_index entry) const;
  /// The executable of an entry; as `host_name`.
  [[nodiscard]] std::optional<std::string_view> executable_name(entry_index entry) const;
  /// The pid of an entry, even if it is implausible (a problem says so). For an entry of this node it is the number
  /// that this program uses, which is 0 if the job's container has no such process any more.
  [[nodiscard]] process_id pid(entry_index entry) const;
  /// The pid of an entry as published. It differs from `pid` if the job runs in a pid namespace of its own, as in a
  /// container (pid_namespaces(7)).
  [[nodiscard]] process_id published_pid(entry_index entry) const;

  /// The world and the rank of each entry.
  [[nodiscard]] const rank_names& names() const;
  /// The worlds, indexed by their numbers in `names`. Empty with MPIR, where a job is one world.
  [[nodiscard]] std::span<const job_world> worlds() const;

  /// The number of a string that does not exist. Entries with equal numbers have the same string.
  static constexpr std::uint32_t no_string = UINT32_MAX;
  /// The number of the host of each entry.
  [[nodiscard]] std::span<const std::uint32_t> host_numbers() const;
  /// The number of the executable of each entry.
  [[nodiscard]] std::span<const std::uint32_t> executable_numbers() const;
  /// The string with a number. The view is valid as long as the table.
  [[nodiscard]] std::string_view string(std::uint32_t number) const;
  /// The number of distinct strings.
  [[nodiscard]] std::size_t string_count() const;

  /// Whether both tables have the same processes with the same names in the same worlds, wherever in the starter they
  /// were.
  [[nodiscard]] bool same_processes(const process_table& other) const;

  /// The faults of fields in the order of entries, at most `table_limits::max_problems`.
  [[nodiscard]] std::span<const field_problem> problems() const;
  /// The number of all faults of fields.
  [[nodiscard]] std::size_t problem_count() const;
  /// The faults of one entry.
  [[nodiscard]] std::vector<field_problem> problems_of(entry_index entry) const;

  /// Why the table has fewer entries than claimed: memory holds fewer, or the limit allows fewer. Empty if it is
  /// complete.
  [[nodiscard]] const std::optional<error>& shortfall() const;
  /// The number of entries by MPIR_proctable_size.
  [[nodiscard]] std::uint64_t claimed_size() const;

  /// The layout with which the table was read.
  [[nodiscard]] const structure_layout& layout() const;

  /// The user of the starter (`target::user`). A process of another user is no rank of this job (process_user.hpp),
  /// whatever the table says. Empty for a table that was not read from a running process.
  [[nodiscard]] std::optional<user_id> user() const;
  /// Sets the user of the starter.
  void belongs_to(std::optional<user_id> starters);

  /// This table with other numbers: `pids` has one for each entry. The new table shares the memory of this one.
  [[nodiscard]] process_table with_pids(std::vector<process_id> pids) const;
  /// Whether the table has pids other than the published ones.
  [[nodiscard]] bool has_other_pids() const { return pids_ != nullptr; }
  /// The names of this node that only the job's container knows. `hosts_on_this_node` takes them for this node, too.
  [[nodiscard]] const std::vector<std::string>& names_of_this_node() const { return names_of_this_node_; }
  /// Sets those names.
  void calls_this_node(std::vector<std::string> names) { names_of_this_node_ = std::move(names); }

 private:
  friend class process_table_access;
  explicit process_table(std::unique_ptr<process_table_columns> c);
  std::shared_ptr<process_table_columns> columns_;
  std::shared_ptr<const std::vector<process_id>> pids_;  ///< null: those in the columns
  std::vector<std::string> names_of_this_node_;
};

/// Limits for a table from a foreign process.
struct table_limits {
  std::uint64_t max_entries = std::uint64_t{1} << 26;
  std::size_t max_string_bytes = 32768;                            ///< for one string
  std::uint64_t max_string_bytes_in_all = std::uint64_t{1} << 30;  ///< for the strings at all distinct addresses
  std::size_t max_problems = 65536;                                ///< so many faults are kept; all are counted
};

/// An entry of a table that is made and not read.
struct table_row {
  std::optional<std::string_view> host;
  std::optional<std::string_view> executable;
  process_id pid;
  std::uint32_t world = 0;  ///< a number in `worlds`, or rank_names::no_world
  rank_number rank{0};
};
/// A table of these rows in their order. A missing value is a fault of its entry, as in a table that was read.
[[nodiscard]] process_table make_process_table(std::span<const table_row> rows, std::vector<job_world> worlds,
                                               structure_layout layout);

/// Reads `entries` process descriptors at `base`: the table in large pieces into columns, then every distinct string
/// once, many in a call (MPIR 1.1, chapter 8, steps 10 to 14). With 0 entries, memory is not read. Errors:
/// unreadable_memory (not even the first entry can be read), bad_format (`layout` lacks a field, a field is outside of
/// it or is no pointer or integer, or the size is 0 or more than 64 KiB), process_gone, permission.
[[nodiscard]] result<process_table> read_process_table(memory_reader& memory, const target_abi& abi,
                                                       const structure_layout& layout, target_address base,
                                                       std::uint64_t entries, const table_limits& limits = {});

/// The layout that a C compiler of this ABI gives to {char *host_name; char *executable_name; int pid;} (MPIR 1.1,
/// 9.2), for starters without debug information.
[[nodiscard]] structure_layout inferred_descriptor_layout(const target_abi& abi);

/// Checks a layout against the data at `base`, by the first entries (up to 64) and the last one. An entry confirms the
/// layout with a plausible pid and strings that are readable, terminated and printable, or null. It contradicts the
/// layout with an impossible pid or two impossible strings. One bad string does neither, because starters leave such
/// strings. Errors: bad_format (half of these entries contradict the layout, or none confirms it; the message names an
/// entry), unreadable_memory, process_gone, permission.
[[nodiscard]] result<void> check_layout_against_data(memory_reader& memory, const target_abi& abi,
                                                     const structure_layout& layout, target_address base,
                                                     std::uint64_t entries);

}  // namespace mpiacq
