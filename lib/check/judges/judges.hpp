// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// One judge for each clause of the table in clauses.cpp, in its order. Each is pure.
#pragma once

#include "mpiacq/check/check.hpp"

namespace mpiacq::check::judges {

// judge_definitions.cpp: what the starter is made of
finding defines_interface(const observations& o);         // 3.2
finding has_debug_information(const observations& o);     // 4.1a
finding calls_not_optimised(const observations& o);       // 4.1b
finding not_stripped(const observations& o);              // 4.1c
finding tools_variables_volatile(const observations& o);  // 9.1
finding descriptor_type(const observations& o);           // 9.2a
finding descriptor_members(const observations& o);        // 9.2b
finding descriptor_pid_width(const observations& o);      // 9.2c

// judge_table.cpp: the process table
finding host_names_readable(const observations& o);      // 9.2d
finding host_names_translatable(const observations& o);  // 9.2e
finding executables_readable(const observations& o);     // 9.2f
finding executables_full_paths(const observations& o);   // 9.2g
finding executables_true(const observations& o);         // 9.2h
finding pids_alive(const observations& o);               // 9.2i
finding strings_shared(const observations& o);           // 9.2j
finding index_is_rank(const observations& o);            // 9.4b
finding each_process_once(const observations& o);        // 9.4c
finding size_is_true(const observations& o);             // 9.5b

// judge_events.cpp: what happened, in its order
finding spawn_event_raised(const observations& o);     // 6.1a
finding table_there_at_attach(const observations& o);  // 6.1b
finding size_initially_zero(const observations& o);    // 8
finding being_debugged_heeded(const observations& o);  // 9.3b
finding state_initially_null(const observations& o);   // 9.6b
finding states_known(const observations& o);           // 9.6c
finding table_filled_at_spawn(const observations& o);  // 9.6d
finding events_in_order(const observations& o);        // 9.6e
finding abort_string_set(const observations& o);       // 9.7b
finding breakpoint_called(const observations& o);      // 9.9b

// judge_processes.cpp: what the processes do meanwhile
finding held_in_init(const observations& o);              // 6.2a
finding partial_attach_announced(const observations& o);  // 6.2b
finding no_gate_where_unneeded(const observations& o);    // 6.2c
finding gate_is_int(const observations& o);               // 9.8a
finding gate_left_to_tool(const observations& o);         // 9.8b
finding gate_releases(const observations& o);             // 9.8c
finding starter_marked(const observations& o);            // 9.10a
finding rank_starter_unmarked(const observations& o);     // 9.10b
finding ranks_unmarked(const observations& o);            // 9.10c
finding acquired_pre_main(const observations& o);         // 9.11
finding starter_releases_all(const observations& o);      // 9.13
finding queue_library_named(const observations& o);       // mpich-attach

// judge_extensions.cpp: chapter 7, and what has no more to it than its presence
finding daemon_variables_together(const observations& o);  // 7.1a
finding daemons_launched(const observations& o);           // 7.1b
finding fifo_waited_on(const observations& o);             // 7.2a
finding fifo_removed(const observations& o);               // 7.2b
finding force_to_main(const observations& o);              // 9.12
finding ignore_queues(const observations& o);              // 9.14
finding fifo_usable(const observations& o);                // 9.17b
finding mpi2dd(const observations& o);                     // MPI2DD

// judge_mpi2dd.cpp, by the headings of the draft: Process Info, Breakpoint address symbol
finding mpi2dd_breakpoint(const observations& o);
finding mpi2dd_initial_flags(const observations& o);
finding mpi2dd_states(const observations& o);
finding mpi2dd_start(const observations& o);
finding mpi2dd_starter_flag(const observations& o);
finding mpi2dd_directory_flag(const observations& o);
finding mpi2dd_metadirectory_flag(const observations& o);
finding mpi2dd_abort_string(const observations& o);
finding mpi2dd_rank_info(const observations& o);
finding mpi2dd_way_up(const observations& o);
// judge_mpi2dd_tables.cpp: Proctable, Directory and MetaDirectory Tables
finding mpi2dd_sizes(const observations& o);
finding mpi2dd_packed(const observations& o);
finding mpi2dd_not_itself(const observations& o);
finding mpi2dd_hosts(const observations& o);
finding mpi2dd_executables(const observations& o);
finding mpi2dd_worlds(const observations& o);
finding mpi2dd_pids(const observations& o);
finding mpi2dd_ranks(const observations& o);
finding mpi2dd_spawns(const observations& o);
finding mpi2dd_sequences(const observations& o);
finding mpi2dd_agreement(const observations& o);

}  // namespace mpiacq::check::judges
