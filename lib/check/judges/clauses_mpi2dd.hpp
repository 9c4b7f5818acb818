// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The clauses of the MPI2DD draft. It has headings and no numbers: each sentence begins with its heading.
#pragma once

#include <array>

#include "judges/clause_words.hpp"
#include "judges/judges.hpp"
#include "mpiacq/check/check.hpp"

namespace mpiacq::check {

namespace headings {
inline constexpr auto process_info = "Process Info";
inline constexpr auto breakpoint = "Breakpoint address symbol";
inline constexpr auto proctable = "Proctable";
inline constexpr auto directories = "Directory and MetaDirectory Tables";
}  // namespace headings

inline constexpr std::array mpi2dd_clauses = {
    clause{"MPI2DD.breakpoint", headings::breakpoint, "MPI2DD_breakpoint is a function",
           "[Breakpoint address symbol:] void MPI2DD_breakpoint() { } This function provides an address where the "
           "debugger can set a breakpoint.",
           must, both, judges::mpi2dd_breakpoint},
    clause{"MPI2DD.initial-flags", headings::process_info, "the debugger's flags begin as zero",
           "[Process Info, GATE and BEING_DEBUGGED:] This bit is initialized to zero by the MPI implementation and set "
           "to one by the debugger.",
           must, launch, judges::mpi2dd_initial_flags},
    clause{"MPI2DD.states", headings::process_info, "each call says why",
           "[Process Info, debug_state:] This byte contains an indication of why a MPI2DD_Breakpoint was triggered and "
           "is written by the MPI implementation before the breakpoint function is called.",
           must, both, judges::mpi2dd_states},
    clause{"MPI2DD.start", headings::breakpoint, "the start of the job is announced",
           "[Breakpoint address symbol:] It will be a routine that MPI calls at points of interest. (The first of them "
           "is MPI2DD_DEBUG_START.)",
           must, launch, judges::mpi2dd_start},
    clause{"MPI2DD.starter", headings::process_info, "a starter says that it is one",
           "[Process Info, I_AM_STARTER:] Set if this is a starter process.", must, both, judges::mpi2dd_starter_flag},
    clause{"MPI2DD.directory", headings::process_info, "a directory says that it is one",
           "[Process Info, I_AM_DIR:] Set if process is a directory. [Proctable:] Any process with a entries in its "
           "proctable is, by definition, a directory process.",
           must, both, judges::mpi2dd_directory_flag},
    clause{"MPI2DD.metadirectory", headings::process_info, "a metadirectory says that it is one",
           "[Process Info, I_AM_METADIR:] Set if process is a metadirectory. [directory_table, metadirectory_table:] "
           "This field is null except in metadirectory processes.",
           must, both, judges::mpi2dd_metadirectory_flag},
    clause{"MPI2DD.abort", headings::process_info, "an abort has its reason",
           "[Process Info, abort_string:] The address of an ascii null-terminated string that holds an abort message "
           "that is shown to the user [...] MPI implementations are not required to implement this feature.",
           should, both, judges::mpi2dd_abort_string},
    clause{"MPI2DD.rank-info", headings::process_info, "each rank has MPI2DD_info",
           "[Process Info:] This structure is defined in each rank process and starter.", must, both,
           judges::mpi2dd_rank_info},
    clause{"MPI2DD.way-up", headings::process_info, "each rank knows a metadirectory",
           "[Process Info, meta_host_name:] The debugger needs meta_pid and this field to locate a metadirectory from "
           "an arbitrarily selected rank process.",
           must, both, judges::mpi2dd_way_up},
    clause{"MPI2DD.sizes", headings::process_info, "sizes are those of the tables",
           "[Process Info, proctable_size:] If this is a directory process, this field contains a count of the entries "
           "in the proctable, otherwise it is zero. [directory_size, metadirectory_size:] The number of entries in the "
           "array.",
           must, both, judges::mpi2dd_sizes},
    clause{"MPI2DD.packed", headings::proctable, "entries are packed",
           "[Proctable:] These structures are packed with no intervening padding bytes allowed.", must, both,
           judges::mpi2dd_packed},
    clause{"MPI2DD.hosts", headings::proctable, "host_name can be read",
           "[Proctable, host_name:] The address of an ascii null-terminated string containing the address or name of "
           "the network node where this process is running.",
           must, both, judges::mpi2dd_hosts},
    clause{"MPI2DD.executables", headings::proctable, "executable_name can be read",
           "[Proctable, executable_name:] The address of an ascii null-terminated string containing the path name of "
           "the executable.",
           must, both, judges::mpi2dd_executables},
    clause{"MPI2DD.worlds", headings::proctable, "comm_world_id names a world",
           "[Proctable, comm_world_id:] This field is the address of a ascii null-terminated string that identifies "
           "the MPI_COMM_WORLD associated with this rank process.",
           must, both, judges::mpi2dd_worlds},
    clause{"MPI2DD.pids", headings::proctable, "pid is the process",
           "[Proctable, pid:] The process id or task id of the rank process on the node given by the hostname field. "
           "On UNIX this will be a pid.",
           must, both, judges::mpi2dd_pids},
    clause{"MPI2DD.ranks", headings::proctable, "rank is the rank in its world",
           "[Proctable, rank:] The rank of the process in the MPI_COMM_WORLD.", must, both, judges::mpi2dd_ranks},
    clause{"MPI2DD.spawns", headings::proctable, "a spawn has its parent",
           "[Proctable, parent_comm_world_id:] a ascii null-terminated string that identifies the MPI_COMM_WORLD "
           "associated with the parent_rank process. [parent_rank:] Rank of the parent process.",
           must, both, judges::mpi2dd_spawns},
    clause{"MPI2DD.sequences", headings::proctable, "spawns are counted from zero",
           "[Proctable, sequence:] The sequence of this spawn command among those rooted on the parent process. This "
           "should start at zero and increment by one for each spawn that is rooted at the parent_rank process.",
           should, both, judges::mpi2dd_sequences},
    clause{"MPI2DD.agreement", headings::proctable, "tables agree about a process",
           "[Proctable:] Each instance of a struct MPI2DD_PROCDESC has attributes to locate one rank process. [rank:] "
           "processes may appear in more than one proctable.",
           must, both, judges::mpi2dd_agreement},
    clause{"MPI2DD.not-itself", headings::directories, "no process lists itself",
           "[Directory and MetaDirectory Tables:] A process should not be in its own metadirectory or directory "
           "tables.",
           should, both, judges::mpi2dd_not_itself},
};

}  // namespace mpiacq::check
