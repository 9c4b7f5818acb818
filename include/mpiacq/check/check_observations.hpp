// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
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

/// What was seen of a job, before any judgement. Plain data: each member that could not be seen is empty, and nothing
/// here knows how it was come by.
namespace mpiacq::check {

/// How the starter came to be watched (MPIR 1.1, 6.1).
enum class mode : std::uint8_t { launch, attach };

/// One symbol of the interface in a process.
struct seen_symbol {
  std::string name;    ///< as it is spelt there
  std::string module;  ///< the executable or library that defines it
  std::uint64_t size = 0;
  symbol_kind kind = symbol_kind::other;
  std::optional<variable_type> type;  ///< its declaration; empty where no debug information tells it
};

/// The starter's definitions, looked at once they were all there, or the last time before its end.
struct definitions_seen {
  std::array<std::optional<seen_symbol>, mpir::known_count> symbols;
  target_abi abi;
  /// The module that defines MPIR_Breakpoint, or the first of the others; the executable where there is none.
  std::string home;
  std::string home_build_id;
  bool home_has_symbol_table = true;
  std::optional<structure_layout> descriptor;       ///< MPIR_PROCDESC by debug information
  std::string descriptor_problem;                   ///< why there is none, where that could be told
  std::optional<std::vector<std::uint8_t>> mpi2dd;  ///< the first seven bytes of MPI2DD_info, where that is defined

  [[nodiscard]] const std::optional<seen_symbol>& operator[](mpir::known k) const {
    return symbols[static_cast<std::size_t>(k)];
  }
  [[nodiscard]] bool has(mpir::known k) const { return (*this)[k].has_value(); }
  /// One of the four without which nothing can be acquired is there.
  [[nodiscard]] bool any_required() const;
};

/// Variables as they were before the starter had run, or when we came.
struct values_seen {
  std::optional<std::int64_t> debug_state;
  std::optional<std::int64_t> proctable_size;
};

/// How many strings a table's entries point to, and how many different ones there are.
struct sharing_seen {
  std::size_t addresses = 0;
  std::size_t texts = 0;
};

/// The interface's variables, when the starter called MPIR_Breakpoint or when we attached.
struct stop_seen {
  std::optional<std::int64_t> debug_state;
  std::optional<std::int64_t> being_debugged;
  std::optional<std::int64_t> proctable_size;
  std::optional<target_address> proctable;
  std::optional<std::string> abort_string;     ///< at an abort; empty where the pointer is null
  std::string abort_problem;                   ///< it cannot be read
  std::shared_ptr<const process_table> table;  ///< at a spawn
  std::string table_problem;                   ///< it cannot be read
  sharing_seen hosts;
  sharing_seen executables;
};

/// A host name of the table, and whether this system finds an address for it.
struct host_seen {
  enum class how : std::uint8_t { address, this_host, resolved, node_number, unknown, no_answer };
  std::string name;
  how found = how::no_answer;
};

/// Where a process of the table was when the starter stood at the spawn event.
enum class place : std::uint8_t {
  unknown,      ///< it could not be looked at, or did not come to rest
  before_main,  ///< its program's main has not been entered
  in_mpi_init,  ///< MPI_Init or MPI_Init_thread is on its stack
  before_init,  ///< in main, and it came to MPI_Init only later
  past_init,    ///< in main, and neither then nor later in MPI_Init
  no_mpi,       ///< its program has no MPI_Init
};

/// One process of the table that is on this node.
struct rank_seen {
  std::size_t rank = 0;
  process_id pid;
  bool is_starter = false;
  bool alive = false;
  bool stopped = false;  ///< by somebody: state T of /proc

  std::string executable;                   ///< /proc's word for it; empty where that may not be read
  std::optional<bool> runs_what_it_should;  ///< whether executable_name names that file; empty: cannot be told
  place at_spawn = place::unknown;

  /// What the process itself was told of its rank, in a variable of its environment that is not just inherited.
  std::optional<std::int64_t> own_rank;
  std::optional<std::int64_t> own_world_size;
  std::string own_rank_variable;

  std::optional<seen_symbol> gate;         ///< MPIR_debug_gate
  std::optional<std::int64_t> gate_value;  ///< at the spawn event
  bool gate_opened = false;                ///< by us, because it did not go on without
  std::optional<bool> defines_i_am_starter;
  std::optional<seen_symbol> queue_library;  ///< MPIR_dll_name
  std::optional<std::string> queue_library_name;

  enum class progress : std::uint8_t { none, with_starter, with_gate };
  progress went_on = progress::none;  ///< left MPI_Init, or ended: when the starter went on, or when its gate opened
};

/// What MPIR_attach_fifo named at the spawn event.
struct fifo_seen {
  std::string path;
  bool exists = false;
  bool is_fifo = false;
  bool owned_by_starters_owner = false;
  bool writable_by_owner = false;
  std::optional<bool> waited_on;    ///< the starter has it open, or waits to
  std::optional<bool> left_behind;  ///< it was still there after the starter's end
};

/// A tool daemon that the starter was asked to launch (MPIR 1.1, 7.1).
struct daemon_seen {
  std::string path;
  std::vector<std::string> arguments;
  std::size_t running = 0;         ///< processes of this node that ran that file, until the spawn event
  std::size_t with_arguments = 0;  ///< those of them that were given just these arguments
};

/// A call of MPI2DD_breakpoint in the starter.
struct mpi2dd_event_seen {
  mpi2dd::debug_state state = mpi2dd::debug_state::none;
  std::optional<std::string> abort_string;  ///< at an abort; empty where the pointer is null
  std::string abort_problem;                ///< it cannot be read
};

/// A rank of this node as its own MPI2DD_info shows it.
struct mpi2dd_rank_seen {
  std::string name;  ///< "world:rank"
  process_id pid;
  bool alive = false;
  std::optional<mpi2dd::process_info> info;
  std::string problem;  ///< why there is none
};

/// What there is of MPI2DD. Nothing is written for it: neither flags nor gates.
struct mpi2dd_seen {
  std::optional<seen_symbol> info;
  std::optional<seen_symbol> breakpoint;
  std::optional<mpi2dd::info_block> initially;  ///< of a starter that was launched, before it had run
  std::vector<mpi2dd_event_seen> events;
  /// At the last event, or a little later where it had grown by then, or at the attach; null where there was none.
  std::shared_ptr<const job_graph> job;
  std::string job_problem;              ///< why there is none
  std::vector<mpi2dd_rank_seen> ranks;  ///< of this node, also those that came later; up to a bound
};

struct observations {
  mode how = mode::launch;
  process_id starter;
  std::string executable;
  bool looked = false;  ///< the starter's entry point was reached, or it was attached to
  definitions_seen defined;
  values_seen initially;
  std::optional<stop_seen> at_attach;  ///< its being_debugged: after 1 had been written, when we let go
  std::vector<stop_seen> stops;        ///< calls of MPIR_Breakpoint
  /// MPIR_debug_state was 1 for a while and MPIR_Breakpoint was not called.
  bool spawned_without_stop = false;

  std::vector<rank_seen> ranks;   ///< at the last spawn event; those of this node, up to the run's limit
  std::size_t ranks_on_node = 0;  ///< all of this node
  bool starter_in_table = false;  ///< at any index
  bool starter_is_entry_0 = false;
  std::vector<host_seen> hosts;
  std::optional<fifo_seen> fifo;  ///< empty: no name was published
  std::optional<daemon_seen> daemon;
  mpi2dd_seen mpi2dd;

  std::optional<exit_status> ended;  ///< empty: it still ran when it was last looked at
  bool end_known = true;

  /// The last spawn event with a table, or the attach where that found one; null where there was none.
  [[nodiscard]] const stop_seen* spawn() const;
};

}  // namespace mpiacq::check
