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
#include "mpiacq/base/ids.hpp"
#include "mpiacq/job/rank_names.hpp"
#include "mpiacq/process/symbols.hpp"

namespace mpiacq {

/// The fields of a process descriptor (MPIR 1.1, 9.2).
enum class descriptor_field : std::uint8_t { host_name, executable_name, pid };
[[nodiscard]] std::string_view name(descriptor_field field);

enum class field_fault : std::uint8_t {
  null_pointer,    ///< the string pointer is 0
  unreadable,      ///< the pointer, or a page that the string runs into, cannot be read
  too_long,        ///< no terminator within the limit
  beyond_limit,    ///< all strings of the table together passed their limit before this one
  implausible_pid  ///< 0, negative, or more than any Linux kernel gives out (2^22)
};

/// What is wrong with one field of one entry. The rest of the entry and of the table stand.
struct field_problem {
  std::uint32_t entry = 0;
  descriptor_field field = descriptor_field::host_name;
  field_fault fault = field_fault::null_pointer;
  target_address address;     ///< what the field points to; for a null pointer and a pid the field's own
  target_address stopped_at;  ///< unreadable: the first byte of the string that is not there
  process_id pid;             ///< implausible_pid: as published

  /// "host_name of rank 3: the pointer 0x10 cannot be read"
  [[nodiscard]] std::string sentence(const rank_names& names = {}) const;
};

/// An MPI_COMM_WORLD of an MPI2DD job.
struct job_world {
  std::string id;  ///< the bytes of its comm_world_id
  /// What spawned it (MPI2DD_SPAWNDESC).
  struct origin {
    std::string world;  ///< comm_world_id of the parent; empty where that could not be read
    std::int32_t rank = 0;
    std::int32_t sequence = 0;
    friend bool operator==(const origin&, const origin&) = default;
  };
  std::optional<origin> spawned_by;  ///< empty: a starter made it
  friend bool operator==(const job_world&, const job_world&) = default;
};

/// A job's process table in columns: entry i is rank i in MPI_COMM_WORLD (MPIR 1.1, 9.4), or, in a table that was made
/// of an MPI2DD graph, the rank that `names` says; there entries are in order of worlds and ranks. Each distinct string
/// is kept once. 12 bytes an entry beside the strings (16 where pids have more than 32 bits; 8 more with worlds).
class process_table {
 public:
  process_table();
  ~process_table();
  process_table(process_table&&) noexcept;
  process_table& operator=(process_table&&) noexcept;

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool empty() const { return size() == 0; }

  /// Empty where that field could not be read: `problems()` says why. Views live as long as the table.
  [[nodiscard]] std::optional<std::string_view> host_name(std::size_t entry) const;
  [[nodiscard]] std::optional<std::string_view> executable_name(std::size_t entry) const;
  /// As published, also where it is implausible (a problem says so).
  [[nodiscard]] process_id pid(std::size_t entry) const;

  /// Which rank an entry is, and of which world.
  [[nodiscard]] const rank_names& names() const;
  /// The worlds by their numbers in `names`; none with MPIR, whose job is one.
  [[nodiscard]] std::span<const job_world> worlds() const;

  /// Strings by number: entries with equal numbers share the string. `no_string` where there is none.
  static constexpr std::uint32_t no_string = UINT32_MAX;
  [[nodiscard]] std::span<const std::uint32_t> host_numbers() const;
  [[nodiscard]] std::span<const std::uint32_t> executable_numbers() const;
  [[nodiscard]] std::string_view string(std::uint32_t number) const;
  [[nodiscard]] std::size_t string_count() const;

  /// The same processes by the same names and of the same worlds, wherever in the starter either table stood.
  [[nodiscard]] bool same_processes(const process_table& other) const;

  /// In order of entries. At most `table_limits::max_problems`; `problem_count()` counts all.
  [[nodiscard]] std::span<const field_problem> problems() const;
  [[nodiscard]] std::size_t problem_count() const;
  [[nodiscard]] std::vector<field_problem> problems_of(std::size_t entry) const;

  /// What is wrong with the table as a whole: it claims more entries than memory holds (those that are there were
  /// read), or than the limit. Empty where nothing is.
  [[nodiscard]] const std::optional<error>& shortfall() const;
  /// How many entries MPIR_proctable_size claimed.
  [[nodiscard]] std::uint64_t claimed_size() const;

  /// The layout it was read by.
  [[nodiscard]] const structure_layout& layout() const;

  /// The user of the starter whose table this is (`target::user`). A process of another user is none of its ranks
  /// (process_user.hpp), whatever the table says. Empty for a table that was read from no running process.
  [[nodiscard]] std::optional<user_id> user() const;
  void belongs_to(std::optional<user_id> starters);

  struct columns;  // the room's own view
  explicit process_table(std::unique_ptr<columns> c);

 private:
  std::unique_ptr<columns> columns_;
};

/// Bounds on what a table out of a foreign process may cost.
struct table_limits {
  std::uint64_t max_entries = std::uint64_t{1} << 26;
  std::size_t max_string_bytes = 32768;                            ///< of one string
  std::uint64_t max_string_bytes_in_all = std::uint64_t{1} << 30;  ///< of the strings at all distinct addresses
  std::size_t max_problems = 65536;                                ///< kept one by one; all are counted
};

/// A process for a table that is made and not read.
struct table_row {
  std::optional<std::string_view> host;
  std::optional<std::string_view> executable;
  process_id pid;
  std::uint32_t world = 0;  ///< a number in `worlds`, or rank_names::no_world
  std::int32_t rank = 0;
};
/// A table of these, in this order; what a row lacks is a problem of that entry, as in one that was read.
[[nodiscard]] process_table make_process_table(std::span<const table_row> rows, std::vector<job_world> worlds,
                                               structure_layout layout);

/// Reads `entries` process descriptors at `base`: the table in large pieces into columns, then every distinct string
/// once, many in a call (MPIR 1.1, chapter 8, steps 10 to 14).
/// No entries make an empty table, without a look at memory. Errors: unreadable_memory (not even the first entry can be
/// read), bad_format (`layout` lacks a field, a field does not lie within it or is no pointer or integer, or its size
/// is 0 or over 64 KiB), process_gone, permission.
[[nodiscard]] result<process_table> read_process_table(memory_reader& memory, const target_abi& abi,
                                                       const structure_layout& layout, target_address base,
                                                       std::uint64_t entries, const table_limits& limits = {});

/// The layout that a C compiler of this ABI gives to {char *host_name; char *executable_name; int pid;}
/// (MPIR 1.1, 9.2): what is left where there is no debug information.
[[nodiscard]] structure_layout inferred_descriptor_layout(const target_abi& abi);

/// Checks that a layout fits what is at `base`, by the first entries (up to 64) and the last. An entry speaks for it
/// with a plausible pid and strings that are readable, terminated and printable, or null; against it with an impossible
/// pid or two strings that cannot be; one bad string does neither, because starters leave such behind. The layout is
/// refused (bad_format) where half of the entries looked at speak against it or none speaks for it: the error says
/// which entry and how. Other errors: unreadable_memory, process_gone, permission.
[[nodiscard]] result<void> check_layout_against_data(memory_reader& memory, const target_abi& abi,
                                                     const structure_layout& layout, target_address base,
                                                     std::uint64_t entries);

}  // namespace mpiacq
