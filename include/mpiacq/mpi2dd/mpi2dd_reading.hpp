// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// What single processes of an MPI2DD job say of themselves: their info blocks and tables, as values. They can come
/// from another node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/mpi2dd/mpi2dd_info.hpp"
#include "mpiacq/mpi2dd/mpi2dd_tables.hpp"
#include "mpiacq/process/symbols.hpp"

namespace mpiacq::mpi2dd {

/// A choice of tables of a process.
struct table_selection {
  bool processes = true;
  bool directories = true;
  bool metadirectories = true;
};

/// What became of a process that a walk wanted to open.
enum class visit_state : std::uint8_t {
  waiting,       ///< not opened yet
  read,          ///< its info block was read; each table has its own outcome
  unreachable,   ///< it could not be opened: it has ended, or its host cannot be reached
  no_interface,  ///< it has no MPI2DD_info
  unreadable,    ///< its MPI2DD_info cannot be read or has another version, or it has ended meanwhile
  beyond_limit   ///< not opened because of `walk_limits::max_depth`
};
/// The name of the state as in the source, for logs and JSON.
[[nodiscard]] std::string_view name(visit_state state);

/// A process that the caller has opened.
class opened_process {
 public:
  virtual ~opened_process() = default;
  /// The process as a target. It is valid as long as this object.
  [[nodiscard]] virtual target as_target() = 0;
  /// Whether its tables have the numbers of another pid namespace (pid_namespaces(7)), as in a container.
  [[nodiscard]] virtual bool has_other_pids() const { return false; }
  /// The number that this program uses for process `pid` of its tables, on `host` (empty: on its own host); 0: there is
  /// no such process any more.
  [[nodiscard]] virtual std::int32_t pid_here(std::string_view /*host*/, std::int32_t pid) { return pid; }
};

/// Opens a process. `host` is as in the tables, or the result of `walk_options::canonical_host`. `executable` is as in
/// a table, or empty. It is called once for each process, on several threads at the same time: the caller's thread, and
/// threads of the walk with all signals blocked. Each opened process is used and destroyed by the thread that opened
/// it. An error becomes `visit::failure`; use process_gone or not_found if the process does not exist.
using opener = std::function<result<std::unique_ptr<opened_process>>(std::string_view host, process_id pid,
                                                                     std::string_view executable)>;

/// Limits for the walk over a job.
struct walk_limits {
  table_limits table;                ///< for each table
  std::size_t max_opened = 1 << 16;  ///< the number of processes that are opened
  unsigned max_depth = 256;          ///< steps from the start, so that an endless chain of metadirectories ends
  unsigned max_rereads = 4;          ///< how often changed tables of one process are read again
  std::uint64_t max_processes = std::uint64_t{1} << 26;
  std::size_t max_disagreements = 65536;  ///< so many are kept; all are counted
};

/// A process to read.
struct process_request {
  std::string host;
  process_id pid;
  std::string executable;  ///< as in a table; may be empty
  table_selection tables;
};

/// A table that was read, or why it was not. Both are empty if it was not requested or does not exist.
template <class Entries>
struct table_reading {
  std::optional<Entries> entries;
  std::optional<error> failure;  ///< why it could not be read
};

/// What one process says of itself.
struct process_account {
  visit_state state = visit_state::unreachable;  ///< unreachable, no_interface, unreadable, or read
  std::optional<error> failure;                  ///< see `visit::failure`
  std::optional<process_info> info;              ///< `read`
  table_reading<process_entries> processes;
  table_reading<directory_entries> directories;
  table_reading<directory_entries> metadirectories;
  unsigned rereads = 0;
  bool unsettled = false;
  /// The names in its tables and its info block that mean its own host, for a graph on another node, where "localhost"
  /// is another host. `walk_options::canonical_host` is not called for them.
  std::vector<std::string> own_names;
};

/// Reads processes of other hosts. Returns an account of each in their order.
using elsewhere_reader = std::function<std::vector<process_account>(std::vector<process_request> asked)>;

/// Opens these processes, each once, and reads them with so many `threads`, including the caller's. Tables that change
/// meanwhile are read again. Returns an account of each in their order.
[[nodiscard]] std::vector<process_account> read_processes(std::vector<process_request> asked, const opener& open,
                                                          const walk_limits& limits = {}, unsigned threads = 8);

}  // namespace mpiacq::mpi2dd
