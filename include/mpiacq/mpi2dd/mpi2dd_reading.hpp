// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
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

/// What single processes of an MPI-2 job say of themselves, their info blocks and tables, before anybody puts it
/// together. It is made of values, so that it can come from another node.
namespace mpiacq::mpi2dd {

/// Which tables of a process.
struct table_selection {
  bool processes = true;
  bool directories = true;
  bool metadirectories = true;
};

enum class visit_state : std::uint8_t {
  waiting,       ///< not opened yet
  read,          ///< its info block was read; each table says for itself what became of it
  unreachable,   ///< it could not be opened: it is gone, or its host cannot be reached
  no_interface,  ///< it has no MPI2DD_info: the end of the way there
  unreadable,    ///< it has one that cannot be read, or is of another version, or it died before
  beyond_limit   ///< not opened: it is further away than `walk_limits::max_depth`
};
[[nodiscard]] std::string_view name(visit_state state);

/// A process that a caller has opened, for as long as it is looked at.
class opened_process {
 public:
  virtual ~opened_process() = default;
  [[nodiscard]] virtual target as_target() = 0;
};

/// Opens a process. `executable` is what a table says, empty where none does. `host` is as in the tables, or what
/// `walk_options::canonical_host` made of it. Called from several threads at once, once for each process, on the walk's
/// own threads (all signals blocked there) and on the caller's; each opened process is used and destroyed by the thread
/// that opened it. An error becomes the process's `visit::failure`: process_gone or not_found where it is no more.
using opener = std::function<result<std::unique_ptr<opened_process>>(std::string_view host, process_id pid,
                                                                     std::string_view executable)>;

/// Bounds on what a job may cost.
struct walk_limits {
  table_limits table;                ///< of each table
  std::size_t max_opened = 1 << 16;  ///< processes
  unsigned max_depth = 256;          ///< a chain of metadirectories that never ends does end here
  unsigned max_rereads = 4;          ///< of the changed tables of one process
  std::uint64_t max_processes = std::uint64_t{1} << 26;
  std::size_t max_disagreements = 65536;  ///< kept one by one; all are counted
};

/// A process that is asked what it says.
struct process_request {
  std::string host;
  process_id pid;
  std::string executable;  ///< as a table has it; may be empty
  table_selection tables;
};

template <class Entries>
struct table_reading {
  std::optional<Entries> entries;
  std::optional<error> failure;  ///< it could not be read
};

/// What one process said.
struct process_account {
  visit_state state = visit_state::unreachable;  ///< unreachable, no_interface, unreadable, or read
  std::optional<error> failure;                  ///< as `visit::failure`
  std::optional<process_info> info;              ///< `read`
  table_reading<process_entries> processes;
  table_reading<directory_entries> directories;
  table_reading<directory_entries> metadirectories;
  unsigned rereads = 0;
  bool unsettled = false;
  /// Names that mean the process's own host, among those that its tables and its info block have: for a graph on
  /// another node, where "localhost" is another host. `walk_options::canonical_host` is not asked for them.
  std::vector<std::string> own_names;
};

/// Reads processes of other hosts: an account of each, in their order.
using elsewhere_reader = std::function<std::vector<process_account>(std::vector<process_request> asked)>;

/// Opens these processes, each once, and reads them with so many threads, the caller's among them; tables that change
/// meanwhile again. What became of each, in their order.
[[nodiscard]] std::vector<process_account> read_processes(std::vector<process_request> asked, const opener& open,
                                                          const walk_limits& limits = {}, unsigned threads = 8);

}  // namespace mpiacq::mpi2dd
