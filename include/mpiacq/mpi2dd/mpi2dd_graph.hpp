// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
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

/// All of an MPI-2 job, as its metadirectories and directories tell of it: one graph over the info blocks and tables of
/// many processes (MPI2DD). What is wrong with one process or table is part of the graph, never a failure of the whole.
namespace mpiacq::mpi2dd {

// Numbers of a graph's own, from 0 without gaps. They stay what they are when the graph is refreshed.
enum class process_number : std::uint32_t {};
enum class world_number : std::uint32_t {};
enum class spawn_number : std::uint32_t {};
template <class Number>
[[nodiscard]] constexpr std::uint32_t index(Number number) {
  return static_cast<std::uint32_t>(number);
}

enum class table_kind : std::uint8_t { processes, directories, metadirectories };
[[nodiscard]] std::string_view name(table_kind kind);  ///< "proctable", "directory_table", "metadirectory_table"

/// One table of a process that was opened, as it was last read.
struct listing {
  table_kind kind = table_kind::processes;
  target_address address;
  std::int32_t claimed = 0;             ///< the size that the info block says
  std::vector<process_number> entries;  ///< in the table's order; also those whose host or pid could not be had
  std::vector<entry_problem> problems;  ///< see table_facts
  std::size_t problem_count = 0;
  std::optional<error> failure;        ///< it could not be read
  std::optional<error> shortfall;      ///< only the first entries are here
  std::optional<entry_stride> stride;  ///< directories and metadirectories that have entries
  bool lists_itself = false;           ///< a directory or metadirectory names itself: not followed
};

/// One process that the walk has opened or wanted to: a starter, directory, metadirectory, or where it began.
struct visit {
  process_number process{};
  visit_state state = visit_state::waiting;
  std::optional<error> failure;      ///< why it is not `read`; with `read`: it died, or could not be read on, meanwhile
  std::optional<process_info> info;  ///< `read`
  std::optional<process_number> meta;  ///< the metadirectory that its info block names; not itself
  listing processes{table_kind::processes, {}, 0, {}, {}, 0, {}, {}, {}, false};
  listing directories{table_kind::directories, {}, 0, {}, {}, 0, {}, {}, {}, false};
  listing metadirectories{table_kind::metadirectories, {}, 0, {}, {}, 0, {}, {}, {}, false};
  unsigned depth = 0;      ///< steps from where the walk began
  unsigned rereads = 0;    ///< how often a table had changed while it was read
  bool unsettled = false;  ///< it still changed when `walk_limits::max_rereads` was met: the last reading stands
  /// What it is called by its flags and what its tables make of it are not the same, and such.
  std::vector<error> warnings;

  /// "Any process with entries in its proctable is, by definition, a directory."
  [[nodiscard]] bool is_directory() const { return !processes.entries.empty() || has(mpi_flag::i_am_dir); }
  [[nodiscard]] bool is_metadirectory() const {
    return !directories.entries.empty() || !metadirectories.entries.empty() || has(mpi_flag::i_am_metadir);
  }
  [[nodiscard]] bool is_starter() const { return has(mpi_flag::i_am_starter); }
  [[nodiscard]] bool has(mpi_flag flag) const { return info.has_value() && info->block.mpi_flags.has(flag); }
};

/// An MPI_COMM_WORLD, known by the bytes of its comm_world_id.
struct world {
  std::string_view id;                ///< lives as long as the graph
  std::size_t processes = 0;          ///< that are known
  std::optional<spawn_number> spawn;  ///< that made it; empty: a starter did
};

/// A spawn, known by (parent world, parent rank, sequence).
struct spawn {
  std::optional<world_number> parent_world;  ///< empty: what names it could not be had
  std::int32_t parent_rank = 0;
  std::int32_t sequence = 0;
  std::optional<process_number> parent;  ///< the process of that world and rank, where it is known
};

/// One table says of a process what another has said otherwise. What was said first stands.
struct disagreement {
  process_number process{};
  process_number table_of{};  ///< whose table says otherwise
  table_kind kind = table_kind::processes;
  std::uint32_t entry = 0;
  table_field field = table_field::rank;
  std::string stands;
  std::string said;
};

/// Processes, worlds and spawns of a job. A process stands in columns: 33 bytes for each beside its strings, 4 for each
/// entry of a table, and its place in the index by (host, pid).
///
/// Thread: one at a time; const calls from any at once.
class graph {
 public:
  graph();
  ~graph();
  graph(graph&&) noexcept;
  graph& operator=(graph&&) noexcept;

  [[nodiscard]] std::size_t process_count() const;
  /// The process where the walk began.
  [[nodiscard]] process_number start() const { return process_number{0}; }
  [[nodiscard]] std::optional<process_number> find(std::string_view host, process_id pid) const;
  /// Empty where no table says it, or what says it cannot be read. Views live as long as the graph.
  [[nodiscard]] std::optional<std::string_view> host(process_number p) const;
  [[nodiscard]] std::optional<std::string_view> executable(process_number p) const;
  /// As published.
  [[nodiscard]] process_id pid(process_number p) const;
  /// Its host is known and its pid can be one. What is not identified is no other entry's process, and never opened.
  [[nodiscard]] bool is_identified(process_number p) const;
  /// It stands in a process table: then it has a rank, and a world unless that could not be read.
  [[nodiscard]] bool is_rank(process_number p) const;
  [[nodiscard]] std::optional<std::int32_t> rank(process_number p) const;
  [[nodiscard]] std::optional<world_number> world_of(process_number p) const;
  [[nodiscard]] std::optional<spawn_number> spawn_of(process_number p) const;
  /// How many entries of process tables name it now. 0 for a rank: it has left the tables since.
  [[nodiscard]] std::size_t mentions(process_number p) const;
  /// It stands in somebody's directory_table, or in a metadirectory_table or meta_host_name and meta_pid.
  [[nodiscard]] bool is_listed_as_directory(process_number p) const;
  [[nodiscard]] bool is_listed_as_metadirectory(process_number p) const;

  /// In the order in which they were found; the first is `start()`.
  [[nodiscard]] std::span<const visit> visits() const;
  /// Null for a process that there was no reason to open: a mere rank.
  [[nodiscard]] const visit* visit_of(process_number p) const;

  /// How many entries of directories and metadirectories were not followed because `walk_limits::max_opened` was met.
  [[nodiscard]] std::size_t left_unopened() const;

  [[nodiscard]] std::span<const world> worlds() const;
  [[nodiscard]] std::optional<world_number> find_world(std::string_view id) const;
  /// The processes of a world in order of their ranks. Looks at all processes.
  [[nodiscard]] std::vector<process_number> members(world_number w) const;
  [[nodiscard]] std::span<const spawn> spawns() const;
  /// In the order in which they were met; at most `walk_limits::max_disagreements`. `disagreement_count` counts all.
  [[nodiscard]] std::span<const disagreement> disagreements() const;
  [[nodiscard]] std::size_t disagreement_count() const;

  struct state;  // the room's own view
  explicit graph(std::unique_ptr<state> s);
  [[nodiscard]] state& own() { return *state_; }

 private:
  std::unique_ptr<state> state_;
};

struct walk_options {
  walk_limits limits;
  unsigned threads = 8;  ///< that read at once, the caller's among them; at least 1
  /// Gives one name for all names of a host. Called on the caller's thread, once for each distinct name of a table.
  /// Without it a name is what its bytes are.
  std::function<std::string(std::string_view)> canonical_host;
  /// Whether somebody else reads the processes of this host, and who that is: he gets all that are known when the first
  /// of them is wanted, so once for each step away from the start, and gives an account of each, in their order; of
  /// one that is missing there nobody said anything. Both are called on the caller's thread. Without them `open` is
  /// asked for every process.
  std::function<bool(std::string_view host)> is_elsewhere;
  elsewhere_reader read_elsewhere;
};

/// The process from which a walk begins: any of the job.
struct walk_start {
  std::string host;
  process_id pid;
  std::string executable;  ///< may be empty
};

/// Walks the whole job: up through meta_host_name and meta_pid, across metadirectory tables, down to directories and
/// their tables. Each process is opened at most once, ranks only where a table calls them something else too; the time
/// is linear in the entries of all tables. The graph does not depend on which thread was faster. Of a table whose
/// address or size changed while it was read, the new one is read. The only errors are invalid_argument.
[[nodiscard]] result<graph> walk(const walk_start& start, const opener& open, const walk_options& options = {});

/// Reads these tables of a process again (an event said that they changed), and walks on to directories and
/// metadirectories that they name for the first time. Processes that no table names any more stay, with no mentions.
/// The process is opened once more. Errors: invalid_argument. That it cannot be opened or read any more is noted at its
/// visit; what was read before stands.
[[nodiscard]] result<void> refresh(graph& g, process_number process, const table_selection& tables, const opener& open,
                                   const walk_options& options = {});

}  // namespace mpiacq::mpi2dd
