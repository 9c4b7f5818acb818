// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// What was seen of a job, before any judgement. It is plain data: a member that could not be seen is empty.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mpiacq/base/abi.hpp"
#include "mpiacq/job/job_graph.hpp"
#include "mpiacq/job/process_table.hpp"
#include "mpiacq/mpi2dd/mpi2dd_info.hpp"
#include "mpiacq/mpir/mpir_acquisition.hpp"
#include "mpiacq/process/symbols.hpp"
#include "mpiacq/process/tracer.hpp"

namespace mpiacq::check {

/// How the starter was acquired (MPIR 1.1, 6.1).
enum class mode : std::uint8_t { launch, attach };

/// One symbol of the interface in a process.
struct seen_symbol {
  std::string name;    ///< in the spelling of the program
  std::string module;  ///< the executable or library that defines it
  std::uint64_t size = 0;
  symbol_kind kind = symbol_kind::other;
  std::optional<variable_type> type;  ///< its declared type; empty without debug information
};

/// The definitions in the starter, once they were complete, or the last time before its end.
struct definitions_seen {
  std::array<std::optional<seen_symbol>, mpir::known_count> symbols;
  target_abi abi;
  /// The module that defines MPIR_Breakpoint, or else another symbol of the interface, or else the executable.
  std::string home;
  std::string home_build_id;
  bool home_has_symbol_table = true;
  std::optional<structure_layout> descriptor;       ///< MPIR_PROCDESC, from debug information
  std::string descriptor_problem;                   ///< why there is none, if it is known
  std::optional<std::vector<std::uint8_t>> mpi2dd;  ///< the first seven bytes of MPI2DD_info, if it is defined

  /// A symbol; empty if the starter does not define it.
  [[nodiscard]] const std::optional<seen_symbol>& operator[](mpir::known k) const {
    return symbols[static_cast<std::size_t>(k)];
  }
  /// Whether the starter defines a symbol.
  [[nodiscard]] bool has(mpir::known k) const { return (*this)[k].has_value(); }
  /// Whether one of the four required symbols is defined.
  [[nodiscard]] bool any_required() const;
};

/// Variables before the starter had run, or at the attach.
struct values_seen {
  std::optional<std::int64_t> debug_state;
  std::optional<std::int64_t> proctable_size;
};

/// How many strings the entries of a table point to.
struct sharing_seen {
  std::size_t addresses = 0;  ///< different addresses
  std::size_t texts = 0;      ///< different texts
};

/// The variables of the interface at a call of MPIR_Breakpoint, or at the attach.
struct stop_seen {
  std::optional<std::int64_t> debug_state;
  std::optional<std::int64_t> being_debugged;
  std::optional<std::int64_t> proctable_size;
  std::optional<target_address> proctable;
  std::optional<std::string> abort_string;     ///< at an abort; empty if the pointer is null
  std::string abort_problem;                   ///< why it cannot be read
  std::shared_ptr<const process_table> table;  ///< at a spawn
  std::string table_problem;                   ///< why it cannot be read
  sharing_seen hosts;
  sharing_seen executables;
};

/// A host name of the table, and whether this system knows an address for it.
struct host_seen {
  /// How the name was resolved.
  enum class how : std::uint8_t { address, this_host, resolved, node_number, unknown, no_answer };
  std::string name;
  how found = how::no_answer;
};

/// Where a process of the table was at the spawn event.
enum class place : std::uint8_t {
  unknown,      ///< it could not be read, or did not come to rest
  before_main,  ///< it has not entered main
  in_mpi_init,  ///< MPI_Init or MPI_Init_thread is on its stack
  before_init,  ///< in main, and it reached MPI_Init later
  past_init,    ///< in main, and neither then nor later in MPI_Init
  no_mpi,       ///< its program has no MPI_Init
};

/// One process of the table that is on this node.
struct rank_seen {
  std::size_t rank = 0;
  process_id pid;
  bool is_starter = false;
  bool alive = false;
  bool stopped = false;  ///< state T in /proc

  std::string executable;                   ///< by /proc; empty if that may not be read
  std::optional<bool> runs_what_it_should;  ///< whether executable_name names that file; empty if it is not known
  place at_spawn = place::unknown;

  /// The rank that the launcher told the process, in a variable of its environment that is not merely inherited.
  std::optional<std::int64_t> own_rank;
  std::optional<std::int64_t> own_world_size;
  std::string own_rank_variable;

  std::optional<seen_symbol> gate;         ///< MPIR_debug_gate
  std::optional<std::int64_t> gate_value;  ///< at the spawn event
  bool gate_opened = false;                ///< by the checker, because the process did not go on without
  std::optional<bool> defines_i_am_starter;
  std::optional<seen_symbol> queue_library;  ///< MPIR_dll_name
  std::optional<std::string> queue_library_name;

  /// When the process went on.
  enum class progress : std::uint8_t { none, with_starter, with_gate };
  progress went_on =
      progress::none;  ///< it left MPI_Init or ended after the starter went on, or after its gate was opened
};

/// The FIFO that MPIR_attach_fifo named at the spawn event.
struct fifo_seen {
  std::string path;
  bool exists = false;
  bool is_fifo = false;
  bool owned_by_starters_owner = false;
  bool writable_by_owner = false;
  std::optional<bool> waited_on;    ///< the starter has it open, or waits to open it
  std::optional<bool> left_behind;  ///< it still existed after the end of the starter
};

/// A tool daemon that the starter was asked to launch (MPIR 1.1, 7.1).
struct daemon_seen {
  std::string path;
  std::vector<std::string> arguments;
  std::size_t running = 0;         ///< processes of this node that ran the file until the spawn event
  std::size_t with_arguments = 0;  ///< those among them with exactly these arguments
};

/// A call of MPI2DD_breakpoint in the starter.
struct mpi2dd_event_seen {
  mpi2dd::debug_state state = mpi2dd::debug_state::none;
  std::optional<std::string> abort_string;  ///< at an abort; empty if the pointer is null
  std::string abort_problem;                ///< why it cannot be read
};

/// A rank of this node by its own MPI2DD_info.
struct mpi2dd_rank_seen {
  std::string name;  ///< "world:rank"
  process_id pid;
  bool alive = false;
  std::optional<mpi2dd::process_info> info;
  std::string problem;  ///< why there is none
};

/// What was seen of MPI2DD. The checker writes neither flags nor gates.
struct mpi2dd_seen {
  std::optional<seen_symbol> info;
  std::optional<seen_symbol> breakpoint;
  std::optional<mpi2dd::info_block> initially;  ///< of a launched starter, before it had run
  std::vector<mpi2dd_event_seen> events;
  /// The graph at the last event (or a little later, if it had grown by then), or at the attach; null if there was
  /// none.
  std::shared_ptr<const job_graph> job;
  std::string job_problem;              ///< why there is none
  std::vector<mpi2dd_rank_seen> ranks;  ///< of this node, including later ones, up to a limit
};

/// Everything that was seen of one job.
struct observations {
  mode how = mode::launch;
  process_id starter;
  std::string executable;
  bool looked = false;  ///< the starter reached its entry point, or was attached to
  definitions_seen defined;
  values_seen initially;
  std::optional<stop_seen> at_attach;  ///< its being_debugged was read after 1 had been written, at the detach
  std::vector<stop_seen> stops;        ///< one for each call of MPIR_Breakpoint
  /// MPIR_debug_state was 1 for a while without a call of MPIR_Breakpoint.
  bool spawned_without_stop = false;

  std::vector<rank_seen> ranks;   ///< at the last spawn event, of this node, up to `run_options::max_ranks`
  std::size_t ranks_on_node = 0;  ///< the number of all entries of this node
  bool starter_in_table = false;  ///< the starter is an entry
  bool starter_is_entry_0 = false;
  std::vector<host_seen> hosts;
  std::optional<fifo_seen> fifo;  ///< empty if no name was published
  std::optional<daemon_seen> daemon;
  mpi2dd_seen mpi2dd;

  std::optional<exit_status> ended;  ///< empty if it still ran at the last look
  bool end_known = true;

  /// The last spawn event with a table, or the attach if that found one; null if there was none.
  [[nodiscard]] const stop_seen* spawn() const;
};

}  // namespace mpiacq::check
