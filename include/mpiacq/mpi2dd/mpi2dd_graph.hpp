// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The graph of an MPI2DD job: all processes, worlds and spawns that its metadirectories and directories name. A fault
/// of one process or table is part of the graph, never a failure of the whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/mpi2dd/mpi2dd_info.hpp"
#include "mpiacq/mpi2dd/mpi2dd_reading.hpp"
#include "mpiacq/mpi2dd/mpi2dd_tables.hpp"
#include "mpiacq/process/symbols.hpp"

namespace mpiacq::mpi2dd {

/// A process of a graph, by its number in the graph: from 0 without gaps. A refresh does not change numbers.
enum class process_number : std::uint32_t {};
/// A world of a graph, by its number.
enum class world_number : std::uint32_t {};
/// A spawn of a graph, by its number.
enum class spawn_number : std::uint32_t {};
/// A number as an index.
template <class Number>
[[nodiscard]] constexpr std::uint32_t index(Number number) {
  return static_cast<std::uint32_t>(number);
}

/// The three kinds of tables.
enum class table_kind : std::uint8_t { processes, directories, metadirectories };
/// "proctable", "directory_table", "metadirectory_table"
[[nodiscard]] std::string_view name(table_kind kind);

/// One table of an opened process, as read last.
struct listing {
  table_kind kind = table_kind::processes;
  target_address address;
  std::int32_t claimed = 0;  ///< its size by the info block
  std::vector<process_number>
      entries;  ///< in the order of the table, including entries whose host or pid could not be read
  std::vector<entry_problem> problems;  ///< see table_facts
  std::size_t problem_count = 0;
  std::optional<error> failure;        ///< why the table could not be read
  std::optional<error> shortfall;      ///< why only the first entries are here
  std::optional<entry_stride> stride;  ///< of directories and metadirectories with entries
  bool lists_itself = false;           ///< a directory or metadirectory lists itself; this entry is not followed
};

/// A process that the walk has opened or tried to open: a starter, directory, metadirectory, or the start of the walk.
struct visit {
  process_number process{};
  visit_state state = visit_state::waiting;
  std::optional<error> failure;        ///< why the state is not `read`; with `read`: why reading ended early
  std::optional<process_info> info;    ///< `read`
  std::optional<process_number> meta;  ///< the metadirectory that its info block names, unless that is itself
  listing processes{table_kind::processes, {}, 0, {}, {}, 0, {}, {}, {}, false};
  listing directories{table_kind::directories, {}, 0, {}, {}, 0, {}, {}, {}, false};
  listing metadirectories{table_kind::metadirectories, {}, 0, {}, {}, 0, {}, {}, {}, false};
  unsigned depth = 0;      ///< steps from the start of the walk
  unsigned rereads = 0;    ///< how often a table was read again because it had changed
  bool unsettled = false;  ///< it still changed at `walk_limits::max_rereads`; the last reading is kept
  /// Contradictions, such as flags and tables that disagree.
  std::vector<error> warnings;

  /// Whether it is a directory. "Any process with entries in its proctable is, by definition, a directory."
  [[nodiscard]] bool is_directory() const { return !processes.entries.empty() || has(mpi_flag::i_am_dir); }
  /// Whether it is a metadirectory, by its tables or its flag.
  [[nodiscard]] bool is_metadirectory() const {
    return !directories.entries.empty() || !metadirectories.entries.empty() || has(mpi_flag::i_am_metadir);
  }
  /// Whether it is a starter, by its flag.
  [[nodiscard]] bool is_starter() const { return has(mpi_flag::i_am_starter); }
  /// Whether its info block was read and has a flag.
  [[nodiscard]] bool has(mpi_flag flag) const { return info.has_value() && info->block.mpi_flags.has(flag); }
};

/// An MPI_COMM_WORLD, identified by the bytes of its comm_world_id.
struct world {
  std::string_view id;                ///< valid as long as the graph
  std::size_t processes = 0;          ///< the number of known processes
  std::optional<spawn_number> spawn;  ///< the spawn that created it; empty if a starter did
};

/// A spawn, identified by parent world, parent rank and sequence.
struct spawn {
  std::optional<world_number> parent_world;  ///< empty if its name could not be read
  std::int32_t parent_rank = 0;
  std::int32_t sequence = 0;
  std::optional<process_number> parent;  ///< the process of that world and rank, if it is known
};

/// A contradiction: two tables differ about one process. The graph keeps the first value.
struct disagreement {
  process_number process{};
  process_number table_of{};  ///< the process with the differing table
  table_kind kind = table_kind::processes;
  std::uint32_t entry = 0;
  table_field field = table_field::rank;
  std::string stands;  ///< the value that the graph keeps
  std::string said;    ///< the differing value
};

struct graph_state;

/// Processes, worlds and spawns of a job. A process takes 33 bytes in columns, 4 bytes for each entry of a table, its
/// strings, and its place in the index by host and pid.
///
/// Thread: one at a time; several threads may make const calls at the same time.
class graph {
 public:
  graph();
  ~graph();
  graph(graph&&) noexcept;
  graph& operator=(graph&&) noexcept;

  /// The number of processes.
  [[nodiscard]] std::size_t process_count() const;
  /// The process from which the walk began.
  [[nodiscard]] process_number start() const { return process_number{0}; }
  /// The process with this host and pid; empty if no table names it.
  [[nodiscard]] std::optional<process_number> find(std::string_view host, process_id pid) const;
  /// The host of a process; empty if no table names it or the name cannot be read. The view is valid as long as the
  /// graph.
  [[nodiscard]] std::optional<std::string_view> host(process_number p) const;
  /// The executable of a process; as `host`.
  [[nodiscard]] std::optional<std::string_view> executable(process_number p) const;
  /// The pid of a process, as published.
  [[nodiscard]] process_id pid(process_number p) const;
  /// Whether the host is known and the pid is possible. A process that is not identified is never opened, and no two
  /// entries are taken for the same one.
  [[nodiscard]] bool is_identified(process_number p) const;
  /// Whether a process table lists it. Then it has a rank, and a world unless that could not be read.
  [[nodiscard]] bool is_rank(process_number p) const;
  /// Its rank in its world; empty if it is no rank.
  [[nodiscard]] std::optional<std::int32_t> rank(process_number p) const;
  /// Its world; empty if it is no rank or the world could not be read.
  [[nodiscard]] std::optional<world_number> world_of(process_number p) const;
  /// The spawn that created it; empty if a starter did or it could not be read.
  [[nodiscard]] std::optional<spawn_number> spawn_of(process_number p) const;
  /// The number of entries of process tables that name it now. A rank with 0 has left the tables.
  [[nodiscard]] std::size_t mentions(process_number p) const;
  /// Whether a directory_table lists it.
  [[nodiscard]] bool is_listed_as_directory(process_number p) const;
  /// Whether a metadirectory_table lists it, or meta_host_name and meta_pid name it.
  [[nodiscard]] bool is_listed_as_metadirectory(process_number p) const;

  /// The visited processes in the order in which they were found; the first is `start`.
  [[nodiscard]] std::span<const visit> visits() const;
  /// The visit of a process; null if the walk had no reason to open it (a mere rank).
  [[nodiscard]] const visit* visit_of(process_number p) const;

  /// The number of entries of directories and metadirectories that were not followed because of
  /// `walk_limits::max_opened`.
  [[nodiscard]] std::size_t left_unopened() const;

  /// All worlds.
  [[nodiscard]] std::span<const world> worlds() const;
  /// The world with this comm_world_id.
  [[nodiscard]] std::optional<world_number> find_world(std::string_view id) const;
  /// The processes of a world in the order of their ranks. The time is linear in all processes.
  [[nodiscard]] std::vector<process_number> members(world_number w) const;
  /// All spawns.
  [[nodiscard]] std::span<const spawn> spawns() const;
  /// Contradictions in the order in which they were found, at most `walk_limits::max_disagreements`.
  [[nodiscard]] std::span<const disagreement> disagreements() const;
  /// The number of all contradictions.
  [[nodiscard]] std::size_t disagreement_count() const;

 private:
  friend class graph_access;
  explicit graph(std::unique_ptr<graph_state> s);
  std::unique_ptr<graph_state> state_;
};

/// How a job is walked.
struct walk_options {
  walk_limits limits;
  unsigned threads = 8;  ///< that read at the same time, including the caller's; at least 1
  /// Returns one name for all names of a host. It is called on the caller's thread, once for each distinct name of a
  /// table. Without it, names are compared by their bytes.
  std::function<std::string(std::string_view)> canonical_host;
  /// Whether the processes of a host are read by `read_elsewhere` instead of `open` (agents, for example).
  /// `read_elsewhere` is called once for each step away from the start, with all processes that are known by then, and
  /// returns an account of each in their order. A missing account means that nothing is known of that process. Both
  /// functions are called on the caller's thread. Without them, `open` is called for every process.
  std::function<bool(std::string_view host)> is_elsewhere;
  elsewhere_reader read_elsewhere;
};

/// The process from which a walk begins: any process of the job.
struct walk_start {
  std::string host;
  process_id pid;
  std::string executable;  ///< may be empty
};

/// Walks the whole job: up through meta_host_name and meta_pid, across metadirectory tables, down to directories and
/// their tables. Each process is opened at most once, and a rank only if a table also lists it as something else. The
/// time is linear in the entries of all tables. The graph does not depend on the timing of threads. If the address or
/// size of a table changes while it is read, the new table is read. Errors: invalid_argument.
[[nodiscard]] result<graph> walk(const walk_start& start, const opener& open, const walk_options& options = {});

/// Reads tables of a process again, after an event that they changed, and walks on to directories and metadirectories
/// that they name for the first time. The process is opened once more. Processes that no table names any more stay,
/// with 0 mentions. If the process cannot be opened or read, its visit says so, and the earlier reading stands. Errors:
/// invalid_argument.
[[nodiscard]] result<void> refresh(graph& g, process_number process, const table_selection& tables, const opener& open,
                                   const walk_options& options = {});

}  // namespace mpiacq::mpi2dd
